import { z } from 'zod';
import { idOf } from '../../store/ids.ts';
import { runBase } from '../../store/runs.ts';

/** The welcome of one channel. While its record is kept, nobody who adds the app there once more causes a second one. */
export const welcomeRun = runBase.extend({
  job: z.literal('welcome'),
  channel: z.string(),
  /** `accepted` not stepped yet · `greeting` its message is wanted · `ended` */
  state: z.enum(['accepted', 'greeting', 'ended']),
  /** The app had posted there before, so nobody is greeted. */
  known: z.boolean().optional(),
});
export type WelcomeRun = z.infer<typeof welcomeRun>;

/** Returns the welcome of a channel: the same for a repeat, and when the app is added there again. */
export const newWelcome = ({ teamId, channel }: Pick<WelcomeRun, 'teamId' | 'channel'>): WelcomeRun => ({
  id: idOf('welcome', teamId, channel),
  teamId,
  job: 'welcome',
  rev: 1,
  people: [],
  channel,
  state: 'accepted',
});

export const welcomeActions = { how: 'welcome.how' } as const;

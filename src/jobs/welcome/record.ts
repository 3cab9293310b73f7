import { z } from 'zod';
import { idOf } from '../../store/keys.ts';
import { runBase } from '../../store/runs.ts';

/** The welcome of one channel. While its record exists, adding the app again causes no second one. */
export const welcomeRun = runBase.extend({
  job: z.literal('welcome'),
  channel: z.string(),
  /** `accepted` not stepped yet · `greeting` its message is published · `ended` */
  state: z.enum(['accepted', 'greeting', 'ended']),
  /** The app had posted there before, so there is no greeting. */
  known: z.boolean().optional(),
});
export type WelcomeRun = z.infer<typeof welcomeRun>;

/** Returns the welcome of a channel: the same for a repeat, and if the app is added there again. */
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

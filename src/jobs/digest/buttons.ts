import { z } from 'zod';

export const digestActions = {
  setUp: 'digest.set_up',
  preview: 'digest.preview',
  sendNow: 'digest.send_now',
  change: 'digest.change',
  remove: 'digest.remove',
  pause: 'digest.pause',
  resume: 'digest.resume',
  takeOver: 'digest.take_over',
  askAgent: 'digest.ask_agent',
  openThread: 'digest.open_thread',
} as const;

/** What the buttons of a schedule carry. */
export const scheduleButton = z.object({ v: z.literal(1), schedule: z.string() });
export type ScheduleButton = z.infer<typeof scheduleButton>;

/** What the agent can be asked about: any page of the tables, or the entries of one line. */
export const ASK_ABOUT = ['pages', 'searches', 'thumbs', 'questions'] as const;

/** What [Ask the agent] carries. */
export const askButton = z.object({ v: z.literal(1), digest: z.string(), about: z.enum(ASK_ABOUT) });
export type AskButton = z.infer<typeof askButton>;

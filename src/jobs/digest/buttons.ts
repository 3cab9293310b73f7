import { z } from 'zod';
import type { ButtonParts } from '../../slack/blocks.ts';
import { idOf } from '../../store/keys.ts';

export const digestActions = {
  setUp: 'digest.set_up',
  preview: 'digest.preview',
  sendNow: 'digest.send_now',
  change: 'digest.change',
  remove: 'digest.remove',
  askRemove: 'digest.ask_remove',
  pause: 'digest.pause',
  resume: 'digest.resume',
  takeOver: 'digest.take_over',
  askAgent: 'digest.ask_agent',
  openThread: 'digest.open_thread',
} as const;

/** Subjects for the agent: any page of the tables, or the entries of one line. */
export const ASK_ABOUT = ['pages', 'searches', 'thumbs', 'questions', 'since'] as const;

/** The value of [Ask the agent]: with the id of the entry that the button stands below, or for any page of the tables. */
export const askButton = z.object({
  v: z.literal(1),
  digest: z.string(),
  about: z.enum(ASK_ABOUT),
  entry: z.string().optional(),
});
export type AskButton = z.infer<typeof askButton>;

/** Returns the id of an entry by the name of its subject; it is short for any name. */
export const entryId = (name: string) => idOf('ask', name);

/** The name of the subject of all questions that the assistant left open. */
export const UNANSWERED = 'unanswered questions';

/** Opens the modal that sets up a digest. */
export const setUpButton: ButtonParts = {
  label: 'Set up a digest',
  action: digestActions.setUp,
  value: JSON.stringify({ v: 1 }),
};

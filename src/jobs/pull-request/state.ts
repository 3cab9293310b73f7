import { z } from 'zod';

/** The state of a pull request, as a followed thread shows it. */
export const pullRequestState = z.object({
  /** The run that reads it. */
  run: z.string(),
  /** Missing until the Git host has said it. */
  state: z
    .enum(['open', 'draft', 'checksFailed', 'changesRequested', 'approved', 'merged', 'closed'])
    .optional(),
  /** Who merged it, as the Git host says, and when. */
  by: z.string().optional(),
  atMs: z.number().optional(),
  /** It is no longer read. */
  ended: z.boolean().optional(),
});
export type PullRequestState = z.infer<typeof pullRequestState>;

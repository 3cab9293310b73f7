import { z } from 'zod';

/** What a button of a run carries. It names the attempt it was shown for, so that a late click does nothing. */
export const runButton = z.object({
  v: z.literal(1),
  run: z.string(),
  attempt: z.number().int(),
  resumed: z.number().int(),
  /** For when the record is not found: what was exported, in which project, and the platform's id of the job. */
  domain: z.string(),
  project: z.string().optional(),
  job: z.string().optional(),
  /** It had a label or only some pages: its domain alone would not start the same. */
  special: z.boolean().optional(),
  /** Its link is for the requester alone. */
  privately: z.boolean().optional(),
});
export type RunButton = z.infer<typeof runButton>;

/**
 * What [Use it] and [Start another] carry: the export that is meant, and the request that asked for it. `chosen`: its
 * domain was chosen beside one that looks like it.
 */
export const useDomain = z.object({
  v: z.literal(1),
  domain: z.string(),
  project: z.string().optional(),
  version: z.string().optional(),
  paths: z.array(z.string()).optional(),
  privately: z.boolean(),
  request: z.string(),
  chosen: z.literal(true).optional(),
});
export type UseDomain = z.infer<typeof useDomain>;

export const exportActions = {
  ask: 'export.ask',
  startAgain: 'export.start_again',
  watchIt: 'export.watch_it',
  leave: 'export.leave',
  tryAgain: 'export.try_again',
  checkNow: 'export.check_now',
  newLink: 'export.new_link',
  notify: 'export.notify',
  refresh: 'export.refresh',
  startAnother: 'export.start_another',
  download: 'export.download',
  openThread: 'export.open_thread',
  useDomain: 'export.use_domain',
  useTyped: 'export.use_typed',
  ownLink: 'export.own_link',
  settings: 'export.settings',
} as const;

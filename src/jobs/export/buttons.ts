import { z } from 'zod';

/** The value of a run's button. It names the attempt that it was shown for, so a late click does nothing. */
export const runButton = z.object({
  v: z.literal(1),
  run: z.string(),
  attempt: z.number().int(),
  resumed: z.number().int(),
  /** Used if the record is not found: the site, the project, and the platform's job id. */
  domain: z.string(),
  project: z.string().optional(),
  job: z.string().optional(),
  /** The export had a label or only some pages, so its domain alone would not start the same export. */
  special: z.boolean().optional(),
  /** Only the requester gets its link. */
  privately: z.boolean().optional(),
});
export type RunButton = z.infer<typeof runButton>;

/**
 * The value of [Use it] and [Start another]: the target, and the id of the request. `chosen`: the person picked the
 * domain over a similar one.
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

import { z } from 'zod';

/** The target of an export: `project` is a name in the settings, `domain` a host name. */
export const exportTarget = z.object({
  project: z.string(),
  /** Empty if the export was not started here and only its job is known. */
  domain: z.string(),
  /** Its label and pages. If missing, every page is exported. */
  version: z.string().optional(),
  paths: z.array(z.string()).optional(),
  /** Only the requester gets the link. */
  privately: z.boolean(),
});
export type ExportTarget = z.infer<typeof exportTarget>;

/**
 * The value of [Export …] and [Start another]: the target, and the id of the request. `chosen`: the person picked the
 * domain over a similar one.
 */
export const useDomain = z.object({
  v: z.literal(1),
  ...exportTarget.partial({ project: true }).shape,
  request: z.string(),
  chosen: z.literal(true).optional(),
});
export type UseDomain = z.infer<typeof useDomain>;

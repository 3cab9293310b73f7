import { z } from 'zod';

/**
 * The version of a kind of stored record: `latest` is what this Docket writes. It reads every earlier version as the
 * latest one, so a field that came later is optional or has a default. A later version cannot be read.
 */
export const version = <N extends number>(latest: N) =>
  z
    .number()
    .int()
    .min(1)
    .max(latest)
    .transform((): N => latest);

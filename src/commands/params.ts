import { readTypedJob, type TypedJob } from '../jobs/typed-job.ts';
import { asCode, type Flag, invalid, ok, type Parsed } from './args.ts';

/** A token or a text as it was typed; undefined if it was left out. */
export const optional = <Takes extends 'token' | 'text'>(takes: Takes, usage: string) => ({
  takes,
  usage,
  read: (typed: string | undefined) => ok(typed),
});

/** `--project`; the command looks up the name. */
export const projectFlag = {
  takes: 'value',
  usage: 'p',
  example: 'acme',
  read: (typed) => ok(typed?.trim()),
} satisfies Flag<string | undefined>;

/** A job of the platform. `example` is a command with its id, `whenMissing` the result without one. */
export const jobIdArg = <Missing extends Parsed<undefined>>(
  usage: string,
  example: string,
  whenMissing: Missing,
) => ({
  takes: 'token' as const,
  usage,
  read(typed: string | undefined): Parsed<TypedJob> | Missing {
    if (isBlankId(typed)) return whenMissing;
    const job = readTypedJob(typed);
    if (job !== undefined) return ok(job);
    return invalid(asCode(typed), " isn't a job ID. Copy the whole ID, such as ", { code: example }, '.');
  },
});

/** The usage shows the id in angle brackets, and some people type them. */
export const isBlankId = (typed: string | undefined): typed is '' | undefined =>
  /^[\s<>]*$/u.test(typed ?? '');

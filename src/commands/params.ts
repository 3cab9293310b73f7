import { isSafeId } from '../docs-api/paths.ts';
import { type Flag, ok, type Reading, shown, unclear } from './args.ts';

/** A token or a text as it was typed; nothing when it was left out. */
export const optional = <Takes extends 'token' | 'text'>(takes: Takes, usage: string) => ({
  takes,
  usage,
  read: (typed: string | undefined) => ok(typed),
});

/** `--project`; whoever goes on looks the name up. */
export const projectFlag = {
  takes: 'value',
  usage: 'p',
  example: 'acme',
  read: (typed) => ok(typed?.trim()),
} satisfies Flag<string | undefined>;

/** The whole id of a job of the platform's. `example` is a command with one, `whenMissing` what it is without an id. */
export const jobIdArg = <Missing extends Reading<undefined>>(
  usage: string,
  example: string,
  whenMissing: Missing,
) => ({
  takes: 'token' as const,
  usage,
  read(typed: string | undefined): Reading<string> | Missing {
    const id = typedId(typed);
    if (id === '') return whenMissing;
    if (isJobId(id)) return ok(id);
    const instead = isOneWord(id) ? ' but the short form of one' : '';
    return unclear(
      shown(id),
      ` isn't a job id${instead}. Copy the whole id, such as `,
      { code: example },
      '.',
    );
  },
});

/** The usage shows the id in pointed brackets, and some people type them. */
export const typedId = (typed = '') => typed.trim().replace(/^<([^<>|]*)>$/u, '$1');

const isOneWord = (id: string) => isSafeId(id) && !/\s/u.test(id);

/** Whether a text can be the whole id of a job. */
export const isJobId = (id: string) => isOneWord(id) && !/…|\.{3}/u.test(id);

import { z } from 'zod';
import type { NamedSecret } from '../projects.ts';
import { readKeyFile } from '../runtime/key-file.ts';

/** Environment variables by name. */
export type Env = Record<string, string | undefined>;

export const date = z.iso.date('must be a date such as 2026-12-31.');

export const list = <Item extends z.ZodType>(item: Item) => z.array(item, 'must be a list. Put it in [ ].');

/** Accepts text that matches. */
export const matching = (pattern: RegExp, problem: string) => z.string(problem).regex(pattern, problem);

export const mapProblem = 'must be a map. Below it, write one name: value per line.';

export const isName = /^[a-z0-9_-]{1,40}$/i;
export const NAME_FIX = 'Use 1 to 40 letters from a to z, digits, - or _.';

/** Returns whether a text can be the name of an environment variable; a key in its place cannot. */
const isVariableName = (name: string) => /^[A-Z][A-Z0-9_]{0,99}$/.test(name);

const secretPlace = z
  .strictObject({
    env: z.string().refine(isVariableName).optional(),
    file: z.string().min(1).optional(),
    expires: date.optional(),
  })
  .refine(({ env, file }) => (env === undefined) !== (file === undefined));

export type SecretPlace = Pick<z.output<typeof secretPlace>, 'env' | 'file'>;
/** Returns why a text cannot be the secret, with the fix; undefined if it can. */
export type FlawOf = (text: string) => string | undefined;
type Secret = { secret: string; problem: string | undefined };

/** Accepts the place of a secret, and returns it with the secret. No message may repeat the value: it may be the secret. */
export const secretFrom = (what: string, like: string, readFrom: (place: SecretPlace) => Secret) =>
  z.unknown().transform((value, context) => {
    const place = secretPlace.safeParse(value).data;
    const noPlace = `must name an environment variable in capitals, or a file, and not hold ${what} itself. Write it like ${like}.`;
    const { secret, problem } = place ? readFrom(place) : { secret: '', problem: noPlace };
    if (problem === undefined) return { ...place, secret };
    context.addIssue(problem);
    return z.NEVER;
  });

/** Accepts the place of a secret. Returns it with the name of its variable or file. */
export const secretIn = (env: Env, what: string, variable: string, flawOf: FlawOf) =>
  secretFrom(what, `{ env: ${variable} } or { file: /run/secrets/acme }`, (place) =>
    readSecret(place, env, what, flawOf),
  )
    .refine(({ expires }) => expires === undefined, 'must not have expires, which only API keys have.')
    .transform(
      ({ secret, env: variable, file }): NamedSecret => ({ secret, name: variable ?? file ?? '', file }),
    );

/** Returns the secret at a place, empty if there is a problem with it. */
export function readSecret({ env: name, file = '' }: SecretPlace, env: Env, what: string, flawOf: FlawOf) {
  const failed = (problem: string) => ({ secret: '', problem });
  try {
    const secret = name === undefined ? readKeyFile(file) : env[name];
    if (secret === undefined)
      return failed(`names an environment variable that is not set. Set it to ${what}.`);
    const isEmptyFile = secret === '' && name === undefined;
    const problem = isEmptyFile ? `names a file that is empty. Put ${what} into it.` : flawOf(secret);
    return problem === undefined ? { secret, problem } : failed(problem);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return failed(
      `names a file that cannot be read (${code}). Mend its path, or give Docket's user the right to read it.`,
    );
  }
}

/** Returns why a text cannot be a token, key or secret, with the fix and without the value; undefined if it can. */
export function secretFlaw(secret: string): string | undefined {
  if (/^["'`]|["'`]$/.test(secret))
    return 'has quotes around it. Remove them: docker --env-file keeps them in the value.';
  if (/["'`\s]/.test(secret)) return 'contains a quote, a space or a line break. Copy it again without them.';
  return /^[\x21-\x7e]*$/.test(secret) ? undefined : 'contains a character outside ASCII. Copy it again.';
}

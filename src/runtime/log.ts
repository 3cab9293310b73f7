import { AsyncLocalStorage } from 'node:async_hooks';
import { type DestinationStream, type Logger, pino } from 'pino';
import { hideSecrets } from './secrets.ts';

export type Log = Logger;

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Context of the current request, added to every log line. */
export interface LogScope {
  /** The short reference of the request that caused the work; people quote it. */
  ref?: string;
  /** The id of the present run, or of the request's run. */
  run?: string;
}

const scopes = new AsyncLocalStorage<LogScope>();

/** Runs `work`, and all that follows from it, in a scope. Fields that become known later are set on the object. */
export const inLogScope = <T>(scope: LogScope, work: () => T): T => scopes.run(scope, work);

/** The present scope; undefined outside of any. */
export const logScope = (): LogScope | undefined => scopes.getStore();

/** The text after a scheme. Everything up to the last `@` may be a password: some contain an unescaped slash. */
const address = /:\/\/[^\s"'\\]*/g;
const withoutUser = (found: string) => `://${found.slice(Math.max(found.lastIndexOf('@') + 1, 3))}`;

/** Addresses beyond their host, and quotes of Redis. Each pattern runs in linear time. */
const lineShapes: [RegExp, string][] = [
  // Presigned links and response addresses have their secret in path and query.
  [/((?:https?|rediss?|wss?):\/\/)([^\s"'\\/?#<>|)]+)[/?#][^\s"\\]*/gi, '$1$2/…'],
  [/(https?|wss?)%3A%2F%2F[\w.~%-]+/gi, '$1%3A%2F%2F…'],
  [/(with args beginning with:)(?:[^"\\]|\\[^n])*/g, '$1 …'],
];

/** Returns a line without secrets: anything in the form of one, and the values in `secrets`. */
export function scrub(line: string, secrets: readonly string[]): string {
  let clean = line;
  for (const secret of secrets) clean = clean.replaceAll(secret, '…');
  clean = clean.replace(address, withoutUser);
  for (const [shape, instead] of lineShapes) clean = clean.replace(shape, instead);
  return hideSecrets(clean);
}

/** Returns a line of JSON without the `args` of Redis errors, which contain people's text. */
export function withoutArgs(line: string): string {
  if (!line.includes('"args"')) return line;
  return `${JSON.stringify(JSON.parse(line, (key, value) => (key === 'args' ? undefined : value)))}\n`;
}

/**
 * Returns a JSON log that scrubs all lines before they are written, also those of libraries. `secrets` may grow later.
 */
export function createLog(level: LogLevel, secrets: readonly string[], destination?: DestinationStream): Log {
  // The longest first: one may begin with another.
  const hideable = () =>
    secrets.filter(({ length }) => length >= 6).sort((one, other) => other.length - one.length);
  const options = {
    level,
    base: null,
    // A line's own fields override those of its scope.
    mixin: () => ({ ...logScope() }),
    hooks: { streamWrite: (line: string) => scrub(withoutArgs(line), hideable()) },
  };
  return pino(options, destination ?? standardOutput());
}

/** Maximum bytes of unwritten lines that are kept: a full disk may have room again. */
const MAX_UNWRITTEN_BYTES = 1_000_000;

/** If the output cannot be written (a closed terminal, a full disk), Docket runs and ends without a log. */
function standardOutput(): DestinationStream {
  const output = pino.destination({ fd: 1, sync: true, maxLength: MAX_UNWRITTEN_BYTES });
  output.on('error', () => {});
  // Every line is written at once; flushing would retry unwritable lines for ever.
  output.flushSync = () => {};
  return output;
}

/** How often the log repeats what lasts. */
const REPEAT_MS = 60_000;

/** Logs a warning once a minute per error and text: a full Redis makes BullMQ report thousands of errors a second. */
export function createThrottledWarn(log: Log, now: () => number) {
  const lastAt = new Map<string, number>();
  return (error: Error, text: string) => {
    const name = `${text} ${error.name} ${'code' in error ? error.code : error.message.slice(0, 40)}`;
    if (now() - (lastAt.get(name) ?? Number.NEGATIVE_INFINITY) < REPEAT_MS) return;
    if (lastAt.size > 100) lastAt.clear();
    lastAt.set(name, now());
    log.warn({ err: error }, text);
  };
}

/** A problem as the log has it. `of` is the part with it, if there are several. */
interface LoggedProblem {
  name: string;
  level: 'error' | 'warn';
  text: string;
  of?: string | undefined;
  code?: string | number | undefined;
}

/**
 * Returns a function that is called with all present problems, again and again. It logs each one when it begins and when it
 * is over, and an error once a minute while it lasts.
 */
export function createProblemLog(log: Pick<Log, 'info' | 'warn' | 'error'>, now: () => number) {
  const known = new Map<string, { name: string; of?: string | undefined; atMs: number }>();
  const keyOf = ({ name, of = '' }: Pick<LoggedProblem, 'name' | 'of'>) => `${name} ${of}`;
  return (present: readonly LoggedProblem[]) => {
    for (const { name, level, text, of, code } of present) {
      const atMs = known.get(keyOf({ name, of }))?.atMs;
      if (atMs !== undefined && (level === 'warn' || now() - atMs < REPEAT_MS)) continue;
      known.set(keyOf({ name, of }), { name, of, atMs: now() });
      log[level]({ problem: name, of, code }, text);
    }
    const keys = new Set(present.map(keyOf));
    for (const [key, { name, of }] of known) {
      if (keys.has(key)) continue;
      known.delete(key);
      log.info({ problem: name, of }, 'a problem is over');
    }
  };
}

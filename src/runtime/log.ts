import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Logger;

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** What follows a scheme. Up to the last `@` all may be a password: some hold a slash, though they should not. */
const address = /:\/\/[^\s"'\\]*/g;
const withoutUser = (found: string) => `://${found.slice(Math.max(found.lastIndexOf('@') + 1, 3))}`;

/**
 * Anything that looks like a Slack token, an authorization header, an address that goes beyond its host, or the text
 * that Redis quotes of a command that it does not know. None takes longer than the line is long.
 */
const secretShapes: [RegExp, string][] = [
  // No word boundaries: in a line of JSON, a `\n` stands right before what began a line.
  [/x(?:ox[a-z]|app)-[\w.-]+/g, 'xox…'],
  [/(Bearer|Basic)\s+[\w.~+/=-]+/gi, '$1 …'],
  // Presigned links and response addresses carry their secret in path and query.
  [/((?:https?|rediss?|wss?):\/\/)([^\s"'\\/?#<>|)]+)[/?#][^\s"\\]*/gi, '$1$2/…'],
  [/(https?|wss?)%3A%2F%2F[\w.~%-]+/gi, '$1%3A%2F%2F…'],
  [/([?&](?:X-[A-Za-z]+-)?(?:Signature|Credential|sig|token|ticket)=)[^&\s"\\]+/gi, '$1…'],
  [/(with args beginning with:)(?:[^"\\]|\\[^n])*/g, '$1 …'],
];

/** Removes what must not be read in a log: shapes of secrets, and the very values in `secrets`. */
export function scrub(line: string, secrets: readonly string[]): string {
  let clean = line;
  for (const secret of secrets) clean = clean.replaceAll(secret, '…');
  clean = clean.replace(address, withoutUser);
  for (const [shape, instead] of secretShapes) clean = clean.replace(shape, instead);
  return clean;
}

/** Characters of a line, and of one text in a line that is longer. */
const MAX_LINE_LENGTH = 32_000;
const MAX_TEXT_LENGTH = 4000;

/** A long text up to a space: what is cut through may be a secret that nothing recognizes any more. */
function cutText(text: string): string {
  if (text.length <= MAX_TEXT_LENGTH) return text;
  return `${text.slice(0, Math.max(0, text.lastIndexOf(' ', MAX_TEXT_LENGTH)))}…`;
}

/**
 * A line of JSON without what errors of Redis say of their command: its arguments hold what people wrote. Long texts
 * are cut, and where that is not enough, all is left out that is not always there.
 */
export function shortenLine(line: string): string {
  if (line.length <= MAX_LINE_LENGTH && !line.includes('"args"')) return line;
  const short = `${JSON.stringify(JSON.parse(line, omitArgs))}\n`;
  if (short.length <= MAX_LINE_LENGTH) return short;
  const { level, time, msg } = JSON.parse(short);
  return `${JSON.stringify({ level, time, msg, cut: true })}\n`;
}

function omitArgs(key: string, value: unknown): unknown {
  if (key === 'args') return undefined;
  return typeof value === 'string' ? cutText(value) : value;
}

/** A JSON log whose every line is cut and scrubbed before it is written, whatever a library put into it. */
export function createLog(level: LogLevel, secrets: readonly string[], destination?: DestinationStream): Log {
  // The longest first: one may begin with another.
  const hideable = secrets
    .filter(({ length }) => length >= 6)
    .sort((one, other) => other.length - one.length);
  const options = {
    level,
    base: null,
    hooks: { streamWrite: (line: string) => scrub(shortenLine(line), hideable) },
  };
  return pino(options, destination ?? standardOutput());
}

/** Lines that could not be written are kept up to so many bytes: a full disk may have room again. */
const MAX_UNWRITTEN_BYTES = 1_000_000;

/** Where it cannot be written to (a terminal that was closed, a full disk), Docket goes on, and ends, without it. */
function standardOutput(): DestinationStream {
  const output = pino.destination({ fd: 1, sync: true, maxLength: MAX_UNWRITTEN_BYTES });
  output.on('error', () => {});
  // Every line is written at once; this would try for ever what cannot be written.
  output.flushSync = () => {};
  return output;
}

/** At most one entry per `everyMs` and text: a full Redis makes BullMQ report thousands of errors a second. */
export function createThrottledWarn(
  log: Log,
  now: () => number,
  everyMs = 10_000,
): (error: Error, text: string) => void {
  const lastAt = new Map<string, number>();
  return (error, text) => {
    const name = `${text} ${error.name} ${'code' in error ? error.code : error.message.slice(0, 40)}`;
    if (now() - (lastAt.get(name) ?? Number.NEGATIVE_INFINITY) < everyMs) return;
    if (lastAt.size > 100) lastAt.clear();
    lastAt.set(name, now());
    log.warn({ err: error }, text);
  };
}

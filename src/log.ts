import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Logger;

export const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Anything that looks like a Slack token, an authorization header, or an address that goes beyond its host. */
const secretShapes: [RegExp, string][] = [
  // No word boundaries: in a line of JSON, a `\n` stands right before what began a line.
  [/x(?:ox[a-z]|app)-[\w.-]+/g, 'xox…'],
  [/(Bearer|Basic)\s+[\w.~+/=-]+/gi, '$1 …'],
  [/([a-z][a-z0-9+.-]*:\/\/)[^\s"'\\/]*@/gi, '$1'],
  // Presigned links and response addresses carry their secret in path and query.
  [/((?:https?|rediss?|wss?):\/\/)([^\s"'\\/?#<>|)]+)[/?#][^\s"\\]*/gi, '$1$2/…'],
  [/(https?|wss?)%3A%2F%2F[\w.~%-]+/gi, '$1%3A%2F%2F…'],
  [/([?&](?:X-[A-Za-z]+-)?(?:Signature|Credential|sig|token|ticket)=)[^&\s"\\]+/gi, '$1…'],
];

/** Removes what must not be read in a log: shapes of secrets, and the very values in `secrets`. */
export function scrub(line: string, secrets: readonly string[]): string {
  let clean = line;
  for (const secret of secrets) clean = clean.replaceAll(secret, '…');
  for (const [shape, instead] of secretShapes) clean = clean.replace(shape, instead);
  return clean;
}

/** A JSON log whose every line is scrubbed before it is written, whatever a library put into it. */
export function createLog(level: LogLevel, secrets: readonly string[], destination?: DestinationStream): Log {
  const worthHiding = secrets.filter((secret) => secret.length >= 6);
  const options = {
    level,
    base: null,
    hooks: { streamWrite: (line: string) => scrub(line, worthHiding) },
  };
  return destination ? pino(options, destination) : pino(options);
}

/** At most one entry per `everyMs` and text: a full Redis makes BullMQ report thousands of errors a second. */
export function calmly(log: Log, now: () => number, everyMs = 10_000): (error: Error, text: string) => void {
  const lastAt = new Map<string, number>();
  return (error, text) => {
    const name = `${text} ${error.name} ${'code' in error ? error.code : error.message.slice(0, 40)}`;
    if (now() - (lastAt.get(name) ?? Number.NEGATIVE_INFINITY) < everyMs) return;
    if (lastAt.size > 100) lastAt.clear();
    lastAt.set(name, now());
    log.warn({ err: error }, text);
  };
}

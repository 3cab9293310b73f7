import { createLog, type LogLevel } from '../../../src/runtime/log.ts';

/** Returns a log whose lines are kept; `text` is all of them so far. */
export function keptLog(level: LogLevel = 'trace', secrets: string[] = []) {
  const lines: string[] = [];
  const log = createLog(level, secrets, { write: (line: string) => void lines.push(line) });
  return { log, lines, text: () => lines.join('') };
}

import type { Logger } from '@slack/web-api';
import { LogLevel } from '@slack/web-api';
import type { Log } from '../runtime/log.ts';

/** Lines of the client that quote whole requests and responses, including links. */
const wholeBody = /^http request (body|result|headers)/;

/**
 * Returns our log as the logger of Slack's packages. Their lines below a warning are traced; their errors are logged as
 * warnings, since the caller decides whether it is an error.
 */
export function createSlackLogger(log: Log): Logger {
  const text = (parts: unknown[]) => parts.map(String).join(' ');
  return {
    debug(...parts) {
      const line = text(parts);
      if (!wholeBody.test(line)) log.trace(line);
    },
    info: (...parts) => log.trace(text(parts)),
    warn: (...parts) => log.warn(text(parts)),
    error: (...parts) => log.warn(text(parts)),
    setLevel: () => {},
    getLevel: () => LogLevel.DEBUG,
    setName: () => {},
  };
}

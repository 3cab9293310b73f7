import type { Logger } from '@slack/web-api';
import { LogLevel } from '@slack/web-api';
import type { Log } from '../runtime/log.ts';

/** Lines of the client that quote everything sent or received, links among it. */
const wholeBody = /^http request (body|result|headers)/;

/**
 * Our log in the form that Slack's packages want. What they say below a warning is for tracing only, and none of it is
 * an error of ours to act on: whoever called them decides that.
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

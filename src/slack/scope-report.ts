import type { Log } from '../runtime/log.ts';
import { lacksScope, type SlackApiError } from './errors.ts';

/** Returns a function that logs a missing scope, once per method: it lasts until an operator acts. */
export function createScopeReporter(log: Pick<Log, 'error'>): (error: SlackApiError) => void {
  const reported = new Set<string>();
  return (error) => {
    const { method, needed = 'more than the app has' } = error;
    if (!lacksScope(error) || reported.has(method)) return;
    reported.add(method);
    log.error(
      `Slack refuses ${method}: the app lacks a scope, and needs ${needed}. Replace its manifest by manifest.yml and install it again.`,
    );
  };
}

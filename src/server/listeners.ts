import type { App } from '@slack/bolt';
import type { Log } from '../runtime/log.ts';

/**
 * Runs the listeners of a request until they have finished. Returns their acknowledgement, or undefined if none
 * acknowledged. Rejects if they do.
 */
export async function runListeners(
  app: App,
  body: Record<string, unknown>,
  log: Log,
): Promise<{ payload?: unknown } | undefined> {
  if (body.type === 'app_rate_limited' && body.event === undefined) {
    log.warn('Slack holds events back: there are too many');
    return {};
  }
  let acknowledgement: { payload?: unknown } | undefined;
  await app.processEvent({
    body,
    // Bolt acknowledges events before their listeners have run: this only records it, and the receiver sends it.
    async ack(payload: unknown) {
      acknowledgement ??= { payload };
    },
  });
  return acknowledgement;
}

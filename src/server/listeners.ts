import type { App } from '@slack/bolt';

/**
 * Runs the listeners until they have finished. Returns their acknowledgement, or undefined if none acknowledged.
 * Rejects if they do.
 */
export async function runListeners(
  app: App,
  body: Record<string, unknown>,
): Promise<{ payload?: unknown } | undefined> {
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

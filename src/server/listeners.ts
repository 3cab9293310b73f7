import type { App } from '@slack/bolt';

/**
 * Runs the listeners until they have finished. Returns with what they acknowledged, and `undefined` when none of them did.
 * Rejects as they do.
 */
export async function runListeners(
  app: App,
  body: Record<string, unknown>,
): Promise<{ payload?: unknown } | undefined> {
  let acknowledgement: { payload?: unknown } | undefined;
  await app.processEvent({
    body,
    // Bolt acknowledges events before their listeners have run: it is only recorded here, and sent by the receiver.
    async ack(payload: unknown) {
      acknowledgement ??= { payload };
    },
  });
  return acknowledgement;
}

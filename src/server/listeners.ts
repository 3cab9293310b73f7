import type { App } from '@slack/bolt';

/** How the listeners acknowledged a request; without a payload when they passed none. */
export interface Acknowledgement {
  payload?: unknown;
}

export interface ListenerRequest {
  body: Record<string, unknown>;
  retryNum?: number | undefined;
  retryReason?: string | undefined;
}

/** A request that Bolt could not read: it failed before any listener ran. */
export class UnreadableRequest extends Error {
  override readonly name = 'UnreadableRequest';
}

/** Lets `runListeners` see whether Bolt got to the listeners. Call it once for each app, before they are added. */
export function trackListeners(app: App): void {
  app.use(async ({ context, next }) => {
    context.progress.listeners = true;
    await next();
  });
}

/**
 * Runs the listeners until they have finished. Returns `undefined` when none of them acknowledged. Rejects as they do,
 * or with `UnreadableRequest`.
 */
export async function runListeners(
  app: App,
  { body, retryNum, retryReason }: ListenerRequest,
): Promise<Acknowledgement | undefined> {
  const progress = { listeners: false };
  let acknowledgement: Acknowledgement | undefined;
  try {
    await app.processEvent({
      body,
      ...(retryNum !== undefined && { retryNum }),
      ...(retryReason !== undefined && { retryReason }),
      customProperties: { progress },
      // Bolt acknowledges events before their listeners have run: it is only recorded here, and sent by the receiver.
      async ack(payload: unknown) {
        acknowledgement ??= { payload };
      },
    });
  } catch (error) {
    if (progress.listeners) throw error;
    throw new UnreadableRequest('Bolt cannot read the request', { cause: error });
  }
  return acknowledgement;
}

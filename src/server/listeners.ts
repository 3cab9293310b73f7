import type { App } from '@slack/bolt';
import type { Log } from '../runtime/log.ts';
import { inLogScope } from '../runtime/log-scope.ts';
import { withTimeout } from '../runtime/with-timeout.ts';

/** Slack waits 3 s for the acknowledgement. */
const ACKNOWLEDGE_MS = 2900;

interface ListenerParts {
  /** Returns a reference for all log lines of a request. */
  newRef: () => string;
  log: Log;
}

/** Hands the requests of a receiver to Bolt. */
export function createListeners({ newRef, log }: ListenerParts) {
  let app: App | undefined;

  async function process(body: Record<string, unknown>) {
    if (body.type === 'app_rate_limited' && body.event === undefined) {
      log.warn('Slack holds events back: there are too many');
      return {};
    }
    let acknowledgement: { payload?: unknown } | undefined;
    await app?.processEvent({
      body,
      // Bolt acknowledges events before their listeners have run: this only records it, and the receiver sends it.
      async ack(payload: unknown) {
        acknowledgement ??= { payload };
      },
    });
    if (acknowledgement === undefined) log.warn('no listener took a request');
    return acknowledgement;
  }

  return {
    init(bolt: App) {
      app = bolt;
    },
    /**
     * Runs the listeners of a request until they have finished, so that every acknowledged request is stored. Returns
     * their acknowledgement; undefined if there is none in time. Never rejects.
     */
    run: (body: Record<string, unknown>): Promise<{ payload?: unknown } | undefined> =>
      inLogScope({ ref: newRef() }, () =>
        withTimeout(ACKNOWLEDGE_MS, process(body)).catch((error: unknown) => {
          log.warn({ err: error }, 'a request was not acknowledged');
          return undefined;
        }),
      ),
  };
}

import type { ModalView } from '@slack/types';
import type { Log } from '../runtime/log.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import { message } from '../slack/blocks.ts';
import type { SlackApi } from '../slack/client.ts';
import { checkLimit } from '../slack/limits.ts';
import type { ValueStores } from '../store/values.ts';
import { type Caller, UserFacingError } from './intake.ts';
import type { ModalOrigin } from './registry.ts';

export interface ModalOpenerParts {
  slack: Pick<SlackApi, 'openModal' | 'updateModal'>;
  responseUrls: ValueStores['responseUrls'];
  /** The time limit of the call; shorter if the request has already taken long. */
  timeoutMs: number;
  monotonicMs: () => number;
  log: Log;
}

/** From the receipt of a request to the end of the call: an ephemeral answer and the acknowledgement follow it. */
const OPEN_DEADLINE_MS = 2300;

/** Maximum delay of a modal by storing the response URL; without one the modal shows its answer itself. */
const RESPONSE_URL_TIMEOUT_MS = 200;

const notOpened = message([
  [
    "Slack didn't open the form. Try again in a moment, or type the whole command. Add ",
    { code: 'help' },
    ' to see how.',
  ],
]);

/** Returns the view with its origin, which its submission includes. */
export const withOrigin = (view: ModalView, origin: ModalOrigin): ModalView => ({
  ...view,
  private_metadata: checkLimit('modalPrivateMetadata', JSON.stringify(origin)),
});

/**
 * Opens a modal for the caller, or replaces the modal of the click, and stores where its answer belongs. Rejects with
 * `UserFacingError`.
 */
export function createModalOpener({ slack, responseUrls, timeoutMs, monotonicMs, log }: ModalOpenerParts) {
  return async (
    { requestId, channel, triggerId, modalId, responseUrl, receivedAtMs }: Caller,
    view: ModalView,
    about?: string,
  ): Promise<void> => {
    const origin: ModalOrigin = { channel, request: requestId, ...(about !== undefined && { about }) };
    // Only a modal with a submit button has an answer.
    const opened = view.submit === undefined ? view : withOrigin(view, origin);
    const save = responseUrl === undefined ? Promise.resolve() : responseUrls.put(requestId, responseUrl);
    const saved = withTimeout(RESPONSE_URL_TIMEOUT_MS, save).catch((error: unknown) =>
      log.warn({ err: error }, 'a modal will show its answer itself: its response URL was not kept'),
    );
    const remainingMs = receivedAtMs + OPEN_DEADLINE_MS - monotonicMs();
    if (remainingMs <= 0) throw new UserFacingError(notOpened);
    try {
      const limitMs = Math.min(timeoutMs, remainingMs);
      const shown =
        modalId === undefined
          ? slack.openModal(triggerId, opened, limitMs)
          : slack.updateModal(modalId, opened, limitMs);
      await Promise.all([shown, saved]);
    } catch (error) {
      log.warn({ err: error }, 'a modal was not opened');
      throw new UserFacingError(notOpened);
    }
  };
}

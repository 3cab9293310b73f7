import type { ModalView } from '@slack/types';
import type { Log } from '../runtime/log.ts';
import { message } from '../slack/blocks.ts';
import type { SlackApi } from '../slack/client.ts';
import { type Caller, UserFacingError } from './intake.ts';
import type { ModalOrigin } from './registry.ts';

export interface ModalOpenerParts {
  slack: Pick<SlackApi, 'openModal' | 'updateModal'>;
  /** The time limit of the call; shorter if the request has already taken long. */
  timeoutMs: number;
  monotonicMs: () => number;
  log: Log;
}

/** From the receipt of a request to the end of the call: an ephemeral answer and the acknowledgement follow it. */
const OPEN_DEADLINE_MS = 2300;

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
  private_metadata: JSON.stringify(origin),
});

/** Opens a modal for the caller, or replaces the modal of the click. Rejects with `UserFacingError`. */
export function createModalOpener({ slack, timeoutMs, monotonicMs, log }: ModalOpenerParts) {
  return async (
    { channel, triggerId, modalId, responseUrl, receivedAtMs }: Caller,
    view: ModalView,
    about?: string,
  ): Promise<void> => {
    // Only a modal with a submit button has an answer.
    const opened = view.submit === undefined ? view : withOrigin(view, { channel, responseUrl, about });
    const remainingMs = receivedAtMs + OPEN_DEADLINE_MS - monotonicMs();
    if (remainingMs <= 0) throw new UserFacingError(notOpened);
    try {
      const limitMs = Math.min(timeoutMs, remainingMs);
      if (modalId === undefined) await slack.openModal(triggerId, opened, limitMs);
      else await slack.updateModal(modalId, opened, limitMs);
    } catch (error) {
      log.warn({ err: error }, 'a modal was not opened');
      throw new UserFacingError(notOpened);
    }
  };
}

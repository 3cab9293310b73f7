import type { ModalView } from '@slack/types';
import type { Log } from '../runtime/log.ts';
import { within } from '../runtime/within.ts';
import { message } from '../slack/blocks.ts';
import type { SlackApi } from '../slack/client.ts';
import type { ResponseUrlStore } from '../store/response-urls.ts';
import type { Caller } from './command.ts';
import { TellUser } from './user-facing-error.ts';

export interface DialogOpenerParts {
  slack: Pick<SlackApi, 'openDialog'>;
  responseUrls: ResponseUrlStore;
  /** For the call itself; less when the request has taken long already. */
  timeoutMs: number;
  monotonicMs: () => number;
  log: Log;
}

/** From the receipt of a request to the end of the call: a private answer and the acknowledgement come after it. */
const OPENED_MS = 2300;

/** How long keeping the address for answers may hold up a dialog; without one the dialog answers itself. */
const ADDRESS_MS = 200;

const notOpened = message([
  [
    "Slack didn't open the dialog. Try again in a moment, or type the command with all that it needs: ",
    { code: 'help' },
    ' behind it lists that.',
  ],
]);

/** Opens a dialog for whoever asked, and keeps where its answer belongs. Rejects with `TellUser`. */
export function createDialogOpener({ slack, responseUrls, timeoutMs, monotonicMs, log }: DialogOpenerParts) {
  return async (
    { requestId, triggerId, responseUrl, receivedAtMs }: Caller,
    view: ModalView,
  ): Promise<void> => {
    const keep = responseUrl === undefined ? Promise.resolve() : responseUrls.put(requestId, responseUrl);
    const kept = within(ADDRESS_MS, keep).catch((error: unknown) =>
      log.warn({ err: error }, 'a dialog will answer itself: its address was not kept'),
    );
    const leftMs = receivedAtMs + OPENED_MS - monotonicMs();
    if (leftMs <= 0) throw new TellUser(notOpened);
    try {
      await Promise.all([slack.openDialog(triggerId, view, Math.min(timeoutMs, leftMs)), kept]);
    } catch (error) {
      log.warn({ err: error }, 'a dialog was not opened');
      throw new TellUser(notOpened);
    }
  };
}

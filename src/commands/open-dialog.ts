import type { ModalView } from '@slack/types';
import type { Log } from '../log.ts';
import { message } from '../slack/blocks.ts';
import type { SlackApi } from '../slack/client.ts';
import type { ResponseUrlStore } from '../store/response-urls.ts';
import { within } from '../within.ts';
import type { Caller } from './command.ts';
import { TellUser } from './tell-user.ts';

export interface DialogOpenerParts {
  slack: Pick<SlackApi, 'openDialog'>;
  responseUrls: ResponseUrlStore;
  timeoutMs: number;
  log: Log;
}

/** How long keeping the address for answers may hold up a dialog; without one the dialog answers itself. */
const ADDRESS_MS = 200;

const notOpened = message([
  [
    "Slack didn't open the dialog in time. Try again, or type the command with its options; `help` lists them.",
  ],
]);

/** Opens a dialog for whoever asked, and keeps where its answer belongs. Rejects with `TellUser`. */
export function createDialogOpener({ slack, responseUrls, timeoutMs, log }: DialogOpenerParts) {
  return async ({ requestId, triggerId, responseUrl }: Caller, view: ModalView): Promise<void> => {
    const keep = responseUrl === undefined ? Promise.resolve() : responseUrls.put(requestId, responseUrl);
    const kept = within(ADDRESS_MS, keep).catch((error: unknown) =>
      log.warn({ err: error }, 'a dialog will answer itself: its address was not kept'),
    );
    try {
      await Promise.all([slack.openDialog(triggerId, view, timeoutMs), kept]);
    } catch (error) {
      log.warn({ err: error }, 'a dialog was not opened');
      throw new TellUser(notOpened);
    }
  };
}

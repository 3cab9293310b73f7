import { fetch, getGlobalDispatcher, type RequestInit, type Response } from 'undici';
import { beforeSending } from '../runtime/outgoing.ts';

/**
 * Says whether others may already take a call for lost, so that it must not be made any more. Asked right before its request
 * leaves, since a process may freeze at any moment, also while it connects.
 */
export type IsTooLate = () => boolean;

/** What errors of requests that were too late have as their code: certainly nothing of them was sent. */
export const TOO_LATE = 'too_late';

/** Fetches as the global `fetch` does. A request that is too late is not sent: the cause of the error has that code. */
export function fetchInTime(
  url: string | URL,
  init: RequestInit | undefined,
  isTooLate: IsTooLate,
): Promise<Response> {
  const dispatcher = beforeSending(getGlobalDispatcher(), () => {
    if (isTooLate()) throw Object.assign(new Error('not sent'), { code: TOO_LATE });
  });
  return fetch(url, { ...init, dispatcher });
}

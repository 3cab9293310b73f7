import { fetch, getGlobalDispatcher, type RequestInit, type Response } from 'undici';
import { beforeSending } from '../runtime/outgoing.ts';

/**
 * Returns whether other processes may already treat a call as lost, so that it must not be made. Called right before
 * the request leaves, since a process may freeze at any moment, even while it connects.
 */
export type IsTooLate = () => boolean;

/** The error code of requests that were too late: certainly nothing was sent. */
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

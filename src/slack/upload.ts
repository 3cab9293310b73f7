import { SlackApiError, toSlackApiError } from './errors.ts';

/** Its name in errors; it is not a method of the Web API. */
const METHOD = 'files.upload';

/**
 * Sends the bytes of a file to the address from Slack, once. Anybody who knows the address may upload, so no error
 * contains it. Rejects with `SlackApiError`; a file that may have arrived is uploaded again to another address.
 */
export async function uploadBytes(uploadUrl: string, bytes: Uint8Array, timeoutMs: number): Promise<void> {
  const response = await fetch(uploadUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/octet-stream' },
    body: Buffer.from(bytes),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((error: unknown) => {
    throw toSlackApiError(METHOD, error);
  });
  await response.body?.cancel();
  const { ok, status } = response;
  if (ok) return;
  const code = `http_${status}`;
  if (status === 429) {
    const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
    throw new SlackApiError('limited', METHOD, code, seconds >= 0 ? { retryAfterMs: seconds * 1000 } : {});
  }
  throw new SlackApiError(status >= 500 ? 'unclear' : 'refused', METHOD, code);
}

interface Share {
  ts?: string;
  thread_ts?: string;
}

/** The parts of `files.info` that are used here. */
export interface FileResponse {
  shares?: { public?: Record<string, Share[]>; private?: Record<string, Share[]> };
}

/** `sharedIn`: the messages that contain it. */
export interface FileInfo {
  sharedIn: { channel: string; ts: string; threadTs?: string }[];
}

/** Returns the known facts about a file. */
export function fileInfoOf({ shares }: FileResponse): FileInfo {
  const sharedIn = [shares?.public, shares?.private]
    .flatMap((places) => Object.entries(places ?? {}))
    .flatMap(([channel, all]) =>
      all.flatMap(({ ts, thread_ts: threadTs }) =>
        ts === undefined ? [] : [{ channel, ts, ...(threadTs !== undefined && { threadTs }) }],
      ),
    );
  return { sharedIn };
}

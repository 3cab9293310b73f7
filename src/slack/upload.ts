import { SlackApiError, toSlackApiError } from './errors.ts';

/** What errors call it; it is no method of the Web API. */
const METHOD = 'files.upload';

/**
 * Sends the bytes of a file to the address that Slack gave for them, once. Whoever knows the address may upload, so it
 * stands in no error. Rejects with `SlackApiError`; a file that may have arrived is begun again with another address.
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

/** What `files.info` says of a file, as far as it is used here. */
export interface FileResponse {
  mimetype?: string;
  shares?: { public?: Record<string, Share[]>; private?: Record<string, Share[]> };
}

/** `ready`: Slack has looked at the file, so that blocks may show it. `sharedIn`: the messages that it stands in. */
export interface FileInfo {
  ready: boolean;
  sharedIn: { channel: string; ts: string; threadTs?: string }[];
}

/** Returns what is known of a file. */
export function fileInfoOf({ mimetype, shares }: FileResponse): FileInfo {
  const sharedIn = [shares?.public, shares?.private]
    .flatMap((places) => Object.entries(places ?? {}))
    .flatMap(([channel, all]) =>
      all.flatMap(({ ts, thread_ts: threadTs }) =>
        ts === undefined ? [] : [{ channel, ts, ...(threadTs !== undefined && { threadTs }) }],
      ),
    );
  return { ready: Boolean(mimetype), sharedIn };
}

import { type Message, message } from './blocks.ts';

/** A message to one person. With `replace_original` it replaces the clicked one, which must be an ephemeral too. */
export interface EphemeralMessage extends Message {
  replace_original?: true;
  /** Deletes the clicked message instead, if nobody else sees it. */
  delete_original?: true;
}

/** The reply to an answer, if something else shows the result: it deletes the question. */
export const removeOriginal: EphemeralMessage = { ...message(['Done.']), delete_original: true };

/**
 * Sends an ephemeral message to a `response_url`. Returns whether Slack accepted it; never rejects. The address is a
 * secret (for 5 uses within 30 minutes): it appears in no error and no log.
 */
export async function postEphemeral(responseUrl: string, message: EphemeralMessage, timeoutMs: number) {
  try {
    const response = await fetch(responseUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ response_type: 'ephemeral', replace_original: false, ...message }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

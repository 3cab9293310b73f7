import { type Message, message } from './blocks.ts';

/** A message to one person alone. With `replace_original` it takes the place of the message that was clicked. */
export interface EphemeralMessage extends Message {
  replace_original?: true;
}

/** Returns a message for the place of what was clicked, where only this person sees that: nothing else is replaced. */
export const replaceOriginal = (text: string): EphemeralMessage => ({
  ...message([[text]]),
  replace_original: true,
});

/** Sends an ephemeral message to a `response_url`. Resolves with whether Slack took it; never rejects. */
export type PostEphemeral = (
  responseUrl: string,
  answer: EphemeralMessage,
  timeoutMs: number,
) => Promise<boolean>;

/** The address is a secret of Slack's (5 uses, 30 minutes): it appears in no error and no log. */
export const postEphemeral: PostEphemeral = async (responseUrl, message, timeoutMs) => {
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
};

import { type Message, message } from './blocks.ts';

/** What is said to one person alone. With `replace_original` it takes the place of the message that was clicked. */
export interface PrivateAnswer extends Message {
  replace_original?: true;
}

/** An answer in place of what was clicked, which only this person sees: what everybody sees is not overwritten. */
export const inPlace = (text: string): PrivateAnswer => ({ ...message([[text]]), replace_original: true });

/** Sends a private answer to a `response_url`. Answers whether Slack took it; never throws. */
export type AnswerPrivately = (
  responseUrl: string,
  answer: PrivateAnswer,
  timeoutMs: number,
) => Promise<boolean>;

/** The address is a secret of Slack's (5 uses, 30 minutes): it appears in no error and no log. */
export const answerPrivately: AnswerPrivately = async (responseUrl, answer, timeoutMs) => {
  try {
    const response = await fetch(responseUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ response_type: 'ephemeral', replace_original: false, ...answer }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
};

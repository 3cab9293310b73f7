import type { Message } from './blocks.ts';

/** Sends a private answer to a `response_url`. Answers whether Slack took it; never throws. */
export type AnswerPrivately = (responseUrl: string, message: Message, timeoutMs: number) => Promise<boolean>;

/** The address is a secret of Slack's (5 uses, 30 minutes): it appears in no error and no log. */
export const answerPrivately: AnswerPrivately = async (responseUrl, message, timeoutMs) => {
  try {
    const answer = await fetch(responseUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ response_type: 'ephemeral', replace_original: false, ...message }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
};

import type { Check } from './check.ts';
import type { HttpAnswer } from './http.ts';
import { notChecked, type Outcome, ok, warning, wrong } from './outcome.ts';

/** A machine that keeps its clock set differs less. */
const MAX_DIFFERENCE_MS = 5000;

/** Slack's signatures are refused from here on. */
const SIGNED_MS = 300_000;

/** Compares the machine's clock with the first one that is known. */
function judgeClock(answers: readonly (HttpAnswer | undefined)[]): Outcome {
  const [aheadMs] = answers.flatMap((answer) => (answer?.is === 'answer' ? (answer.aheadMs ?? []) : []));
  if (aheadMs === undefined)
    return notChecked('Slack or the docs platform must answer first: their answers contain the time.');
  const differenceMs = Math.abs(aheadMs);
  if (differenceMs <= MAX_DIFFERENCE_MS) return ok("This machine's clock is right.");
  const seconds = `${Math.round(differenceMs / 1000)} s ${aheadMs > 0 ? 'ahead' : 'behind'}`;
  const text = `This machine's clock is ${seconds}. Set it from the network (timedatectl set-ntp true). From 5 minutes on, requests from Slack are refused.`;
  return differenceMs >= SIGNED_MS ? wrong(text) : warning(text);
}

export const clockCheck: Check = {
  id: 'clock',
  title: 'Clock',
  async run({ flawed, botToken, docs }) {
    const isRight = (...names: string[]) => !names.some((name) => flawed.has(name));
    const [slack, platforms] = await Promise.all([
      isRight('SLACK_BOT_TOKEN', 'SLACK_API_URL') ? botToken() : undefined,
      isRight('DOCS_API_URL') ? docs() : [],
    ]);
    return judgeClock([slack, ...platforms.map(({ answer }) => answer)]);
  },
};

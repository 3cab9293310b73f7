import type { Check } from './check.ts';
import { ASKING } from './docs-api.ts';
import type { HttpAnswer } from './http.ts';
import { notChecked, type Outcome, ok, warning, wrong } from './outcome.ts';

/** A machine that keeps its clock set differs less. */
const FEW_MS = 5000;

/** Signed requests that are older or newer are refused. */
const SIGNED_MS = 300_000;

const aheadOf = (answer: HttpAnswer | undefined) => (answer?.is === 'answer' ? answer.aheadMs : undefined);

/** Compares the machine's clock with those of Slack and of the platform; who is off is who stands alone. */
function judgeClock(slack: HttpAnswer | undefined, platforms: readonly HttpAnswer[]): Outcome {
  const slackMs = aheadOf(slack);
  const docsMs = platforms.map(aheadOf).find((ms) => ms !== undefined);
  if (slackMs === undefined && docsMs === undefined)
    return notChecked('Slack or the docs platform must answer first: their answers contain the time.');
  const offSlack = slackMs !== undefined && Math.abs(slackMs) > FEW_MS;
  const offDocs = docsMs !== undefined && Math.abs(docsMs) > FEW_MS;
  if (!offSlack && !offDocs) {
    const whose = [slackMs !== undefined && "Slack's", docsMs !== undefined && "the platform's"];
    return ok(`This machine's clock agrees with ${whose.filter(Boolean).join(' and ')}.`);
  }
  if (slackMs !== undefined && !offSlack)
    return warning(
      `The docs platform's clock differs by ${seconds(docsMs ?? 0)} from Slack's and this machine's. Tell the platform: its days of numbers may begin at the wrong time.`,
    );
  const from = [offSlack && "Slack's", offDocs && "the platform's"].filter(Boolean).join(' and ');
  const text = `This machine's clock is ${seconds(slackMs ?? docsMs ?? 0)} ${(slackMs ?? docsMs ?? 0) > 0 ? 'ahead of' : 'behind'} ${from}. Set it from the network (timedatectl set-ntp true).`;
  return offSlack && Math.abs(slackMs) >= SIGNED_MS
    ? wrong(`${text} From 5 minutes on, requests from Slack are refused.`)
    : warning(text);
}

const seconds = (ms: number) => `${Math.round(Math.abs(ms) / 1000)} s`;

export const clockCheck: Check = {
  id: 'clock',
  title: 'Clock',
  async run({ flawed, botToken, docs }) {
    const isRight = (...names: string[]) => !names.some((name) => flawed.has(name));
    const [slack, platforms] = await Promise.all([
      isRight('SLACK_BOT_TOKEN', 'SLACK_API_URL') ? botToken() : undefined,
      isRight(...ASKING) ? docs() : [],
    ]);
    return judgeClock(
      slack,
      platforms.map(({ answer }) => answer),
    );
  },
};

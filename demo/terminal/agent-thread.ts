import type { StandInPlatform } from '../docs-platform/platform.ts';
import type { StandInSlack } from '../slack/slack.ts';
import { SAYS, TERMINAL } from '../words.ts';
import type { Screen } from './print.ts';

const REPLY = 'Also add error handling to the quickstart.';

/** Waits until `check` returns something; `what` names it when it does not come. */
export type Until = <T>(what: string, check: () => T | undefined | false) => Promise<T>;

/** Ana follows a job of the docs agent, and asks it for more by a reply in its thread. */
export async function showAgentThread(
  slack: StandInSlack,
  platform: StandInPlatform,
  screen: Screen,
  until: Until,
): Promise<void> {
  const jobId = platform.agent.add({ id: 'job_quickstart' });
  platform.agent.plan({ jobId, durationMs: 3000 });
  const ana = slack.person('ana');
  const command = `/docs-agent follow ${jobId}`;
  const written = (part: string) =>
    slack.messages.find(
      ({ from, deleted, ...message }) => from === 'docket' && !deleted && slack.read(message).includes(part),
    );

  screen.printEvent('types', 'Ana types', [command]);
  const { ok, failed } = await ana.types('#docs', command);
  if (!ok) throw new Error(`Docket did not answer Slack as it should: ${failed}.`);
  const card = await until('the card of the agent job', () => written(TERMINAL.agentReady));

  screen.printEvent('types', 'Ana replies', [REPLY], true);
  await ana.says('#docs', REPLY, { threadTs: card.ts });
  await until('the word that it was sent', () => written(TERMINAL.agentWorking));
  await until('the pull request', () =>
    slack.messages.some((message) => SAYS.pullRequest.test(slack.read(message))),
  );
  await until(
    'the word "Ready" in the card',
    () => written(TERMINAL.agentReady) && !written(TERMINAL.agentWorking),
  );

  const prompts = platform.agent.messages.map(({ prompt }) => prompt);
  if (prompts.length !== 1 || prompts[0] !== REPLY)
    throw new Error(`One request was promised; there are ${JSON.stringify(prompts)}.`);
}

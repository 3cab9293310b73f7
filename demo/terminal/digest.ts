import type { StandInPlatform } from '../docs-platform/platform.ts';
import type { Person } from '../slack/person.ts';
import type { Answer } from '../slack/requests.ts';
import type { StandInSlack } from '../slack/slack.ts';
import { LABELS, SAYS, TERMINAL } from '../words.ts';
import type { Until } from './agent-thread.ts';
import type { Screen } from './print.ts';

const RANGE = '/docs-digest last week';
const SEARCH = 'sso okta';
const DAYS_BACK = 14;
const DAY_MS = 86_400_000;

/** Ben asks for the digest of last week, Ana has the docs agent work on what it says, and reads under it what came of that. */
export async function showDigest(
  slack: StandInSlack,
  platform: StandInPlatform,
  screen: Screen,
  until: Until,
): Promise<void> {
  const [ana, ben] = [slack.person('ana'), slack.person('ben')];
  const written = (part: string) =>
    slack.messages.find((message) => message.from === 'docket' && slack.read(message).includes(part));
  const cards = () =>
    slack.messages
      .filter(({ from, threadTs }) => from === 'docket' && threadTs === undefined)
      .map((message) => slack.read(message))
      .filter((text) => SAYS.agentCard.test(text));
  // Whichever week it is, readers look for one thing in vain.
  for (let back = 0; back <= DAYS_BACK; back += 1) {
    const day = new Date(Date.now() - back * DAY_MS).toISOString().slice(0, 10);
    platform.readers.setSearches(day, [{ searchQuery: SEARCH, hits: 6 }]);
  }

  screen.printEvent('types', 'Ben types', [RANGE]);
  accepted(await ben.types('#docs', RANGE));
  const line = await until('what readers looked for', () => written(SAYS.searched));
  await until('the list of all pages', () => written('.csv'));

  // The agent works until both threads say so, so that the demo is the same on a slow machine.
  platform.agent.plan({ hold: true });
  screen.printEvent(
    'clicks',
    'Ana clicks',
    [`[${LABELS.askAgent}], below the search that led nowhere`],
    true,
  );
  accepted(await ana.clicks(line, LABELS.askAgent, { below: SAYS.searched }));
  await showModal(ana, screen, until);
  screen.printEvent('clicks', 'Ana clicks', [`[${LABELS.ask}]`]);
  accepted(await ana.submits());
  await until('the word under the digest', () => written(TERMINAL.askedAboutSearch(SEARCH)));
  await until('the word that it was sent', () => written(TERMINAL.searchSent));
  platform.agent.finish(platform.agent.messages.at(-1)?.jobId ?? '');
  await until('the pull request under the digest', () =>
    slack.messages.some((message) => SAYS.pullRequestOfRow.test(slack.read(message))),
  );
  await until('the end of the work in its own thread', () => written(TERMINAL.pullRequestOfSearch));
  await until('the word "Ready" in both cards', () =>
    cards().every((card) => card.startsWith(TERMINAL.agentReady)),
  );
}

/** Prints the modal that somebody has before them, filled in as it is. */
async function showModal(person: Person, screen: Screen, until: Until): Promise<void> {
  const view = await until('the modal', () => person.modal());
  const name = person.name.replace(/^./, (first) => first.toUpperCase());
  const lines = person.fields().map(({ label, type, value, options }) => {
    const isChosen = (option: string) => [value].flat().includes(option);
    const boxes = options.map((option) => `${isChosen(option) ? '☑' : '☐'} ${option}`).join('  ');
    return `${label}: ${type === 'checkboxes' ? boxes : value}`;
  });
  const { title, submit, close } = view.definition;
  const buttons = [submit, close].flatMap((button) => (button ? [`[${button.text}]`] : []));
  const all = [title?.text ?? '', ...lines.join('\n').split('\n').filter(Boolean), buttons.join(' ')];
  screen.printEvent('private', `Only ${name} sees`, all);
}

function accepted({ ok, failed, errors }: Answer): void {
  if (!ok || errors) throw new Error(`Docket did not answer Slack as it should: ${failed ?? 'with errors'}.`);
}

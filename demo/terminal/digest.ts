import type { StandInPlatform } from '../docs-platform/platform.ts';
import type { Person } from '../slack/person.ts';
import type { Answer } from '../slack/requests.ts';
import type { StandInSlack } from '../slack/slack.ts';
import type { Until } from './agent-thread.ts';
import type { Screen } from './print.ts';

const RANGE = '/docs-digest last week';
const CREATE = '/docs-digest create';
const SEARCH = 'sso okta';
const DAYS_BACK = 14;
const DAY_MS = 86_400_000;

/**
 * Ben asks for the digest of last week, Ana has the docs agent work on what it says, and reads under it what came of that.
 * Then they have it every week.
 */
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
      .filter((text) => text.includes('docs agent · '));
  // Whichever week it is, readers look for one thing in vain.
  for (let back = 0; back <= DAYS_BACK; back += 1) {
    const day = new Date(Date.now() - back * DAY_MS).toISOString().slice(0, 10);
    platform.readers.setSearches(day, [{ searchQuery: SEARCH, hits: 6 }]);
  }

  screen.printEvent('types', 'Ben types', [RANGE]);
  accepted(await ben.types('#docs', RANGE));
  const line = await until('what readers looked for', () => written('Searched, nothing clicked'));
  await until('the list of all pages', () => written('.csv'));

  // The agent works until both threads say so, so that the demo is the same on a slow machine.
  platform.agent.plan({ hold: true });
  screen.printEvent('clicks', 'Ana clicks', ['[Ask the agent], below the search that led nowhere'], true);
  accepted(await ana.clicks(line, 'Ask the agent', { below: 'Searched, nothing clicked' }));
  await showModal(ana, screen, until);
  screen.printEvent('clicks', 'Ana clicks', ['[Ask]']);
  accepted(await ana.submits());
  await until('the word under the digest', () => written(`The docs agent was asked about "${SEARCH}"`));
  await until('the word that it was sent', () => written('⏳ "Readers searched'));
  platform.agent.finish(platform.agent.messages.at(-1)?.jobId ?? '');
  await until('the pull request under the digest', () => written(`for "${SEARCH}".`));
  await until('the end of the work in its own thread', () => written('opened a pull request for "Readers'));
  await until('the word "Ready" in both cards', () => cards().every((card) => /^✅ Ready · /u.test(card)));

  screen.printEvent('types', 'Ana types', [CREATE]);
  accepted(await ana.types('#docs', CREATE));
  await showModal(ana, screen, until);
  screen.printEvent('clicks', 'Ana clicks', ['[Set up]']);
  accepted(await ana.submits());
  await until('the word that it is set up', () =>
    slack.ephemerals.find((message) => slack.read(message).includes('first one')),
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

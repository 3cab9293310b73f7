import { readFileSync } from 'node:fs';
import type { ModalView } from '@slack/types';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { manifestOf } from '../demo/slack/manifest.ts';
import { agentCommand } from '../src/commands/agent/command.ts';
import { sendShortcut } from '../src/commands/agent/shortcut.ts';
import { helpMessage, usageHint } from '../src/commands/command.ts';
import { askAgentButton } from '../src/commands/digest/ask.ts';
import { digestCommand } from '../src/commands/digest/command.ts';
import { exportCommand } from '../src/commands/export/command.ts';
import { watchItButton } from '../src/commands/export/modal.ts';
import { registry } from '../src/commands/index.ts';
import type { Caller, CommandTools } from '../src/commands/intake.ts';
import { actionsOf } from '../src/commands/registry.ts';
import { welcomeActions, welcomeMessage } from '../src/commands/workspace/workspace.ts';
import { agentActions } from '../src/jobs/agent/thread/buttons.ts';
import { ephemeralMessage, offerMessage } from '../src/jobs/agent/thread/ephemeral-view.ts';
import type { ThreadRun } from '../src/jobs/agent/thread/record.ts';
import { threadMessages } from '../src/jobs/agent/thread/view.ts';
import { digestActions } from '../src/jobs/digest/buttons.ts';
import { askButtons } from '../src/jobs/digest/edition/phrases.ts';
import { postedAlreadyMessage } from '../src/jobs/digest/edition/reply-view.ts';
import { goesOnMessage } from '../src/jobs/digest/schedule/view.ts';
import { runButtonOf, runningMessage } from '../src/jobs/export/progress-view.ts';
import { type Ending, exportActions, linkActions } from '../src/jobs/export/record.ts';
import { exportMessages } from '../src/jobs/export/view.ts';
import { features } from '../src/jobs/features.ts';
import { answerButtonOf, homeActions } from '../src/jobs/home/view.ts';
import { detailsMessage, statusActions, statusMessage } from '../src/jobs/status/view.ts';
import { type Message, message } from '../src/slack/blocks.ts';
import { noNames } from '../src/slack/markdown/inline.ts';
import { methodScopes } from '../src/slack/web-calls.ts';
import { NOW_MS } from './support/builders.ts';
import { aCaller, aProject } from './support/commands/builders.ts';
import { anInstruction, aRound, aThread, aTrouble } from './support/jobs/agent/builders.ts';
import { anAsk, anEdition, aSchedule } from './support/jobs/digest/builders.ts';
import { aLinkRun, anEnding, aRun } from './support/jobs/export/builders.ts';
import { aState } from './support/jobs/status/builders.ts';
import { menuButtonsIn } from './support/slack/rendering.ts';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const source: unknown = parse(read('manifest.yml'));
const manifest = manifestOf(source);

const { commands, modals, shortcuts, events } = registry;
const subscriptions = events.flatMap((listener) => Object.entries(listener.subscriptions));

describe("Slack's schema of a manifest", () => {
  const schema = JSON.parse(read('test/fixtures/slack-manifest.schema.2.0.0.json'));
  const check = new Ajv({ strict: false, allErrors: true, validateFormats: false }).compile(schema);

  test('takes ours', () => {
    check(source);
    expect(check.errors ?? []).toEqual([]);
  });

  test.each([
    ['an unknown setting', { settings: { interactive: true } }],
    ['a name that is too long', { display_information: { name: 'x'.repeat(36) } }],
  ])('refuses %s', (_, change) => {
    expect(check({ ...(source as object), ...change })).toBe(false);
  });
});

describe('the manifest asks for what the code needs, and nothing else', () => {
  test('slash commands, each with what it is for and how it is typed', () => {
    const typed = manifest.commands.map(({ command, description, usageHint }) => [
      command,
      description,
      usageHint,
    ]);
    expect(typed).toEqual(commands.map((command) => [command.name, command.summary, usageHint(command)]));
  });

  test('commands are not escaped by Slack: what a person typed is read as it is', () => {
    expect(manifest.commands.filter(({ shouldEscape }) => shouldEscape)).toEqual([]);
  });

  test('scopes', () => {
    const ofEvents = subscriptions.flatMap(([, scope]) => scope ?? []);
    const needed = new Set(['commands', ...Object.values(methodScopes).flat(), ...ofEvents]);
    expect(manifest.scopes.toSorted()).toEqual([...needed].sort());
  });

  test('the events that have a listener, under all of their names', () => {
    expect(manifest.events.toSorted()).toEqual(subscriptions.map(([name]) => name).sort());
    for (const { event, subscriptions } of events)
      for (const name of Object.keys(subscriptions)) expect(name.split('.')[0]).toBe(event);
  });

  test('messages of every kind of conversation', () => {
    const kinds = manifest.events.filter((event) => event.startsWith('message.'));
    expect(kinds.toSorted()).toEqual(['message.channels', 'message.groups', 'message.im', 'message.mpim']);
  });

  test('shortcuts, all of them of messages', () => {
    expect(manifest.shortcuts.map(({ type, callbackId }) => ({ type, callbackId }))).toEqual(
      shortcuts.map(({ callbackId }) => ({ type: 'message', callbackId })),
    );
  });

  test('a Home tab, since it is published, and direct messages, since Docket sends some and is typed to there', () => {
    expect(manifest.homeTab).toBe(true);
    expect(Object.keys(methodScopes)).toContain('views.publish');
    expect(source).toMatchObject({
      features: { app_home: { messages_tab_enabled: true, messages_tab_read_only_enabled: false } },
    });
  });

  test('interactivity', () => expect(manifest.interactive).toBe(true));

  test('every address is the one that the app answers on', () => {
    const addresses = [...read('manifest.yml').matchAll(/url: (\S+)/g)].map(([, url = '']) => new URL(url));
    // Beside the commands: events, and clicks.
    expect(addresses.length).toBe(manifest.commands.length + 2);
    expect(new Set(addresses.map(({ pathname }) => pathname))).toEqual(new Set(['/slack/events']));
  });
});

describe('methods of the Web API', () => {
  const called = [...read('src/slack/client.ts').matchAll(/\b(?:call\(\s*|method = )'([\w.]+)'/g)].map(
    ([, method]) => method,
  );

  test('are those whose scopes are known', () => {
    expect([...new Set(called)].sort()).toEqual(Object.keys(methodScopes).sort());
  });
});

describe('the registry', () => {
  const listeners = actionsOf(registry);

  test('listens to every action of the views, and to nothing else', () => {
    const inViews = [
      exportActions,
      linkActions,
      agentActions,
      digestActions,
      statusActions,
      welcomeActions,
      homeActions,
    ].flatMap((actions) => Object.values<string>(actions));
    expect(listeners.toSorted()).toEqual(inViews.sort());
  });

  test('has no listener without a button that people can see', async () => {
    const shown = (await everythingShown()).flatMap(actionsIn);
    expect([...new Set(shown)].sort()).toEqual(listeners.toSorted());
  });

  test('has no modal that nobody can open', async () => {
    const opened: ModalView[] = [];
    await exportCommand.run('', aCaller(), toolsFor(opened));
    const about = runButtonOf(unclear, '', '').value ?? '';
    await watchItButton.run(JSON.parse(about), aCaller(), toolsFor(opened));
    await agentCommand.run('', aCaller(), toolsFor(opened));
    await sendShortcut.run({ ts: '1.1', content: { text: 'Fix it' } }, aCaller(), toolsFor(opened));
    await digestCommand.run('create', aCaller(), toolsFor(opened));
    const button = { v: 1 as const, digest: digest.id, about: 'pages' as const };
    await askAgentButton.run(button, aCaller(), toolsFor(opened));
    const details = { ticked: {}, about: JSON.stringify(button) };
    const asked = modals.find(({ callbackId }) => callbackId === opened.at(-1)?.callback_id);
    const next = await asked?.submit({ path: '/guides' }, aCaller(), toolsFor(opened), details);
    if (next?.kind === 'view') opened.push(next.view);
    expect(opened.map(({ callback_id: callback }) => callback)).toEqual(
      modals.map(({ callbackId }) => callbackId),
    );
  });
});

async function everythingShown(): Promise<Message[]> {
  const privately: Ending = { kind: 'done', link: 'x', privately: true };
  const runs = [
    aRun(),
    aRun({ state: 'unknown' }),
    ...[...Object.values(anEnding), privately].map((ending) => aRun({ state: 'ended', ending })),
  ];
  const links = [anEnding.done, anEnding.noLink].map((ending) => aLinkRun({ state: 'ended', ending }));
  const messages = [...runs, ...links].flatMap(exportMessages).map(({ message }) => message);
  const open = { thread: 'https://acme.example/archives/C0DOCS/p1', mayFollow: true };
  const running = runningMessage(aRun(), NOW_MS, open, '1.2.a');
  const corrected = await exportCommand.run('https://docs.acme.com/v2', aCaller(), toolsFor([]));
  const asked = await exportCommand.run('docs.acm.com', aCaller(), {
    ...toolsFor([]),
    docsDomain: 'docs.acme.com',
  });
  if (corrected === undefined || asked === undefined) throw new Error('A wrong domain was not answered');
  return [
    ...messages,
    running,
    corrected,
    asked,
    helpMessage(exportCommand),
    welcomeMessage('T0ACME', 'C0DOCS').message,
    statusMessage(aState()),
    detailsMessage(aState(), { isAdmin: true }),
    aHome,
    ...agentMessages(),
    ...digestMessages(),
  ];
}

/** The buttons of a Home. */
const aHome: Message = message(
  [['Home']],
  [
    ...features.flatMap(({ begin }) => begin?.button ?? []),
    answerButtonOf(aRun(), { user: 'U0ANA', id: 'start 1' }),
  ],
);

function agentMessages(): Message[] {
  const ended = (kind: 'newPr' | 'failed' | 'gaveUp') => ({
    kind,
    ...(kind === 'newPr' && { prLink: 'https://github.com/acme/docs/pull/123' }),
    atMs: NOW_MS,
  });
  const threads: Partial<ThreadRun>[] = [
    { rounds: [aRound({ ending: ended('newPr') })] },
    { rounds: [aRound({ ending: ended('failed') })], mode: 'mention' },
    { rounds: [aRound({ ending: ended('gaveUp') })] },
    { sendProblems: [aTrouble()] },
    { sendProblems: [aTrouble({ why: 'unsupported', creates: true })] },
    { state: 'ended', ended: { why: 'stopped', by: { id: 'U0BEN', name: 'ben' }, unsent: 0 } },
    {
      instructions: [anInstruction()],
      limit: { n: 1, perHour: 100, untilMs: NOW_MS },
    },
  ];
  const question = ephemeralMessage(aThread(), { id: 'q', to: 'U0ANA', kind: 'question', about: '1.1' });
  const shown = threads.flatMap((thread) => threadMessages(aThread(thread)));
  return [...shown.map(({ message }) => message), question, offerMessage('m', 'Add it')];
}

const digest = anEdition({ project: 'default' });

function digestMessages(): Message[] {
  const listed = [aSchedule({ ownerLeft: true }), aSchedule({ state: 'paused' })].map((one) =>
    goesOnMessage(one),
  );
  const posted = postedAlreadyMessage(digest, 'https://acme.example/archives/C0DOCS/p1');
  const asked = threadMessages(aThread({ instructions: [anAsk()] }), 'https://acme.example/');
  const asks = asked.map((line) => line.message);
  return [...listed, posted, ...asks, message([['Top pages']], askButtons(digest, 'pages'))];
}

const unclear = aRun({ state: 'unknown' });

/** Tools of somebody whose command opens a dialog at most. */
const toolsFor = (opened: ModalView[]) =>
  ({
    projects: [aProject({ projectId: 'prj_1' })],
    personZone: async () => 'Europe/Berlin',
    now: () => NOW_MS,
    links: 'thread',
    intake: {
      read: async (_caller: Caller, load: (stores: object) => unknown) =>
        load({
          runs: { loadAll: async () => [aThread()] },
          threads: { followedIndex: async () => [aThread()], isClosed: async () => false },
        }),
      loadVisible: async (id: string) => (id === unclear.id ? unclear : digest),
    },
    names: async () => noNames,
    openModal: async (_caller: Caller, view: ModalView) => void opened.push(view),
  }) as unknown as CommandTools;

function actionsIn({ blocks }: Message): string[] {
  const inMenus = menuButtonsIn(blocks).map(({ action_id: action }) => action);
  const shown = blocks.flatMap((block) => (block.type === 'actions' ? block.elements : []));
  const buttons = shown.filter(({ type }) => type !== 'overflow');
  return [...buttons.map(({ action_id: action }) => action ?? ''), ...inMenus];
}

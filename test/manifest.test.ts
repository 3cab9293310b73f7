import { readFileSync } from 'node:fs';
import type { ModalView } from '@slack/types';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { manifestOf } from '../demo/slack/manifest.ts';
import type { Caller, CommandTools } from '../src/commands/command.ts';
import { exportCommand } from '../src/commands/export.ts';
import { buttons, dialogs, linkActions, slashCommands } from '../src/commands/index.ts';
import { type Ending, exportActions } from '../src/jobs/export/run.ts';
import { exportMessages, runningMessage } from '../src/jobs/export/view.ts';
import { linkActions as ownLinkActions } from '../src/jobs/link/run.ts';
import { linkMessages } from '../src/jobs/link/view.ts';
import type { Message } from '../src/slack/blocks.ts';
import { methodScopes } from '../src/slack/client.ts';
import { aCaller, aProject } from './commands/command-world.ts';
import { anEnding, aRun, NOW_MS } from './jobs/export/any-run.ts';
import { aLinkRun } from './jobs/link/a-link-run.ts';

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
const source: unknown = parse(read('manifest.yml'));
const manifest = manifestOf(source);

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
  test('slash commands, each with its usage and the help that all of them have', () => {
    expect(manifest.commands.map(({ command, usageHint }) => ({ command, usageHint }))).toEqual(
      slashCommands.map(({ name, usage }) => ({ command: name, usageHint: `${usage} | help` })),
    );
  });

  test('commands are not escaped by Slack: what a person typed is read as it is', () => {
    expect(manifest.commands.filter(({ shouldEscape }) => shouldEscape)).toEqual([]);
  });

  test('scopes', () => {
    const needed = new Set(['commands', ...Object.values(methodScopes).flat()]);
    expect(manifest.scopes.toSorted()).toEqual([...needed].sort());
  });

  test('the events that have a listener, and no shortcuts', () => {
    const bind = read('src/commands/bind.ts');
    const heard = [...bind.matchAll(/app\.event\(\s*'(\w+)'/g)].map(([, name]) => name);
    expect(manifest.events.toSorted()).toEqual(heard.sort());
    expect(bind).not.toMatch(/app\.(?:message|shortcut|options)\(/);
    expect(manifest.shortcuts).toEqual([]);
  });

  test('a Home tab, since it is published, and direct messages, since Docket sends some and is typed to there', () => {
    expect(manifest.homeTab).toBe(true);
    expect(Object.keys(methodScopes)).toContain('views.publish');
    expect(source).toMatchObject({
      features: { app_home: { messages_tab_enabled: true, messages_tab_read_only_enabled: false } },
    });
  });

  test('interactivity, since there are buttons', () => {
    expect(buttons.length + linkActions.length).toBeGreaterThan(0);
    expect(manifest.interactive).toBe(true);
  });

  test('every address is the one that the app answers on', () => {
    const addresses = [...read('manifest.yml').matchAll(/url: (\S+)/g)].map(([, url = '']) => new URL(url));
    // Beside the commands: events, and clicks.
    expect(addresses.length).toBe(manifest.commands.length + 2);
    expect(new Set(addresses.map(({ pathname }) => pathname))).toEqual(new Set(['/slack/events']));
  });
});

describe('methods of the Web API', () => {
  const client = read('src/slack/client.ts');
  // `usergroups.users.list` has three parts; all the others have two.
  const called = [...client.matchAll(/\bweb\.(\w+(?:\.\w+){1,2})\(/g)].map(([, method]) => method);

  test('are called through the client alone, by their own name', () => {
    expect(client.match(/\bweb\b(?!-|(?:\.\w+){2,3}\()/g)).toEqual(['web']); // Where it is made.
    const labels = [...client.matchAll(/call\(\s*'([\w.]+)', \(\) =>\s*web\.(\w+(?:\.\w+){1,2})\(/g)];
    expect(labels.map(([, label]) => label)).toEqual(called);
    for (const [, label, method] of labels) expect(label).toBe(method);
  });

  test('are those whose scopes are known', () => {
    expect(called.toSorted()).toEqual(Object.keys(methodScopes).sort());
  });
});

describe('the registry', () => {
  const listeners = [...buttons.map(({ action }) => action), ...linkActions];
  const names = [
    ...slashCommands.map(({ name }) => name),
    ...listeners,
    ...dialogs.map(({ callback }) => callback),
  ];

  test('calls nothing by the same name twice', () => {
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test('listens to every action of the views, and to nothing else', () => {
    const inViews = [...Object.values(exportActions), ...Object.values(ownLinkActions)];
    expect(listeners.toSorted()).toEqual(inViews.sort());
  });

  test('has no listener without a button that people can see', async () => {
    const shown = (await everythingShown()).flatMap(actionsIn);
    expect([...new Set(shown)].sort()).toEqual(listeners.toSorted());
  });

  test('has each kind of ending that takes a button show one', () => {
    const silent = Object.values(anEnding).filter((ending) => {
      const shown = exportMessages(aRun({ state: 'ended', ending })).filter(({ key }) =>
        key.includes('.end.'),
      );
      return shown.flatMap(({ message }) => actionsIn(message)).length === 0;
    });
    // A start that cannot succeed, and what is told elsewhere.
    expect(silent.map(({ kind }) => kind).sort()).toEqual(['left', 'noPlace', 'notStarted']);
  });

  test('has no dialog that nobody can open', async () => {
    const opened: ModalView[] = [];
    await exportCommand.run('', aCaller(), toolsFor(opened));
    expect(opened.map(({ callback_id: callback }) => callback)).toEqual(
      dialogs.map(({ callback }) => callback),
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
  const states = ['sent', 'over', 'failed'] as const;
  const links = states.flatMap((state) => linkMessages(aLinkRun({ state })));
  const messages = [...runs.flatMap(exportMessages), ...links].map(({ message }) => message);
  const open = { thread: 'https://acme.example/archives/C0DOCS/p1', mayFollow: true };
  const running = runningMessage(aRun(), NOW_MS, open, '1.2.a');
  const corrected = await exportCommand.run('https://docs.acme.com/v2', aCaller(), toolsFor([]));
  if (corrected === undefined) throw new Error('A wrong domain was not answered');
  return [...messages, running, corrected];
}

/** Tools of somebody whose command opens a dialog at most. */
const toolsFor = (opened: ModalView[]) =>
  ({
    projects: [aProject()],
    links: 'thread',
    openDialog: async (_caller: Caller, view: ModalView) => void opened.push(view),
  }) as unknown as CommandTools;

function actionsIn({ blocks }: Message): string[] {
  return blocks.flatMap((block) =>
    block.type === 'actions' ? block.elements.map(({ action_id: action }) => action ?? '') : [],
  );
}

import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { manifestOf } from '../demo/slack/manifest.ts';
import type { Caller, CommandTools } from '../src/commands/command.ts';
import { exportCommand } from '../src/commands/export.ts';
import { buttons, linkActions, slashCommands } from '../src/commands/index.ts';
import { exportActions } from '../src/jobs/export/run.ts';
import { exportMessages, runningMessage } from '../src/jobs/export/view.ts';
import type { Message } from '../src/slack/blocks.ts';
import { methodScopes } from '../src/slack/client.ts';
import { anEnding, aRun, NOW_MS } from './jobs/export/any-run.ts';

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

  test('no events and no shortcuts, since nothing listens to any', () => {
    expect(read('src/commands/bind.ts')).not.toMatch(/app\.(?:event|message|shortcut|view|options)\(/);
    expect(manifest.events).toEqual([]);
    expect(manifest.shortcuts).toEqual([]);
    expect(manifest.homeTab).toBe(false);
  });

  test('interactivity, since there are buttons', () => {
    expect(buttons.length + linkActions.length).toBeGreaterThan(0);
    expect(manifest.interactive).toBe(true);
  });

  test('every address is the one that the app answers on', () => {
    const addresses = [...read('manifest.yml').matchAll(/url: (\S+)/g)].map(([, url = '']) => new URL(url));
    expect(addresses.length).toBe(manifest.commands.length + 1);
    expect(new Set(addresses.map(({ pathname }) => pathname))).toEqual(new Set(['/slack/events']));
  });
});

describe('methods of the Web API', () => {
  const client = read('src/slack/client.ts');
  const called = [...client.matchAll(/\bweb\.(\w+)\.(\w+)\(/g)].map(([, group, name]) => `${group}.${name}`);

  test('are called through the client alone, by their own name', () => {
    expect(client.match(/\bweb\b(?!-|\.\w+\.\w+\()/g)).toEqual(['web']); // Where it is made.
    const labels = [...client.matchAll(/call\(\s*'([\w.]+)', \(\) =>\s*web\.(\w+)\.(\w+)\(/g)];
    expect(labels.map(([, label]) => label)).toEqual(called);
    for (const [, label, group, name] of labels) expect(label).toBe(`${group}.${name}`);
  });

  test('are those whose scopes are known', () => {
    expect(called.toSorted()).toEqual(Object.keys(methodScopes).sort());
  });
});

describe('the registry', () => {
  const listeners = [...buttons.map(({ action }) => action), ...linkActions];
  const names = [...slashCommands.map(({ name }) => name), ...listeners];

  test('calls nothing by the same name twice', () => {
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  test('listens to every action of the views, and to nothing else', () => {
    expect(listeners.toSorted()).toEqual(Object.values(exportActions).sort());
  });

  test('has no listener without a button that people can see', async () => {
    const shown = (await everythingShown()).flatMap(actionsIn);
    expect([...new Set(shown)].sort()).toEqual(listeners.toSorted());
  });
});

async function everythingShown(): Promise<Message[]> {
  const runs = [
    aRun(),
    aRun({ state: 'unknown' }),
    ...Object.values(anEnding).map((ending) => aRun({ state: 'ended', ending })),
  ];
  const messages = runs.flatMap(exportMessages).map(({ message }) => message);
  const running = runningMessage(aRun(), NOW_MS, 'https://acme.example/archives/C0DOCS/p1', '1.2.a');
  const corrected = await exportCommand.run('https://docs.acme.com/v2', {} as Caller, {} as CommandTools);
  if (corrected === undefined) throw new Error('A wrong domain was not answered');
  return [...messages, running, corrected];
}

function actionsIn({ blocks }: Message): string[] {
  return blocks.flatMap((block) =>
    block.type === 'actions' ? block.elements.map(({ action_id: action }) => action ?? '') : [],
  );
}

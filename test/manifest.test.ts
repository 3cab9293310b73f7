import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { manifestOf } from '../demo/slack/manifest.ts';
import { registry } from '../src/commands/index.ts';
import { welcomeActions } from '../src/commands/workspace/workspace.ts';
import { agentActions } from '../src/jobs/agent/thread/buttons.ts';
import { deploymentActions, updateActions } from '../src/jobs/deployment/record.ts';
import { digestActions } from '../src/jobs/digest/buttons.ts';
import { exportActions, linkActions } from '../src/jobs/export/record.ts';
import { exportScheduleActions } from '../src/jobs/export-schedule/record.ts';
import { homeActions } from '../src/jobs/home/view.ts';
import { pullRequestActions } from '../src/jobs/pull-request/record.ts';
import { siteActions } from '../src/jobs/site/record.ts';
import { statusActions } from '../src/jobs/status/view.ts';
import { methodScopes } from '../src/slack/web-calls.ts';
import type { MessageBlock } from '../src/store/messages.ts';
import { blocksOf } from './gallery/state.ts';
import { states } from './gallery/states.ts';
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

/** The others are examples of what needs none. */
const isVerb = (text: string) => !['docs.acme.com', '30d'].includes(text);

describe('the manifest asks for what the code needs, and nothing else', () => {
  test('slash commands, each with how it is typed', () => {
    const typed = manifest.commands.map(({ command, usageHint }) => [command, usageHint]);
    const needed = commands.map(({ name, subcommands }) => {
      const verbs = subcommands.flatMap(({ verb, hidden }) => (hidden ? [] : (verb ?? [])));
      return [name, [...verbs, 'help']];
    });
    expect(typed.map(([name, hint = '']) => [name, hint.split(' · ').filter(isVerb)])).toEqual(needed);
    // One line of Slack's list of commands.
    for (const [, hint = ''] of typed) expect(hint.length).toBeLessThan(80);
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
  const callers = ['src/slack/client.ts', 'src/doctor/slack.ts'].map(read).join('');
  const called = [...callers.matchAll(/\b(?:call\(\s*|method = )'([\w.]+)'/g)].map(([, method]) => method);

  test('are those whose scopes are known', () => {
    expect([...new Set(called)].sort()).toEqual(Object.keys(methodScopes).sort());
  });
});

describe('the registry', () => {
  const listeners = [...registry.buttons.map(({ action }) => action), ...registry.urlActions];

  test('listens to every action of the views, and to nothing else', () => {
    const inViews = [
      deploymentActions,
      updateActions,
      exportActions,
      exportScheduleActions,
      linkActions,
      agentActions,
      digestActions,
      statusActions,
      welcomeActions,
      homeActions,
      pullRequestActions,
      siteActions,
    ].flatMap((actions) => Object.values<string>(actions));
    expect(listeners.toSorted()).toEqual(inViews.sort());
  });

  test('has no listener without a button that people can see', () => {
    const shown = states.flatMap(({ shown }) => actionsIn(blocksOf(shown)));
    expect([...new Set(shown)].sort()).toEqual(listeners.toSorted());
  });

  test('has no modal that nobody can see', () => {
    const views = states.flatMap(({ shown }) => (shown.kind === 'modal' ? shown.view : []));
    const callbacks = new Set(views.flatMap(({ callback_id: callback }) => callback ?? []));
    expect([...callbacks].sort()).toEqual(modals.map(({ callbackId }) => callbackId).sort());
  });
});

function actionsIn(blocks: readonly MessageBlock[]): string[] {
  const inMenus = menuButtonsIn([...blocks]).map(({ action_id: action }) => action);
  const shown = blocks.flatMap((block) => (block.type === 'actions' ? block.elements : []));
  const buttons = shown.filter(({ type }) => type !== 'overflow');
  return [...buttons.map(({ action_id: action }) => action ?? ''), ...inMenus];
}

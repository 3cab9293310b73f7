import type { App } from '@slack/bolt';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { checkView } from '../../demo/slack/block-kit/view.ts';
import { type BindParts, bind, createModalOpener } from '../../src/commands/bind.ts';
import { createGate } from '../../src/commands/gate.ts';
import { type CommandTools, UserFacingError } from '../../src/commands/intake.ts';
import { defineButton, mergeRegistries, type Registry } from '../../src/commands/registry.ts';
import { noTracing } from '../../src/metrics/metrics.ts';
import { type Message, message } from '../../src/slack/blocks.ts';
import { noticeView } from '../../src/slack/modals.ts';
import { aCaller, origin, typedByAna } from '../support/commands/builders.ts';
import { unread } from '../support/metrics.ts';
import { keptLog } from '../support/runtime/log.ts';

type Payload = Record<string, unknown>;
type Listener = (received: Payload) => Promise<void>;

const identity = { teamId: 'T0ACME', botUserId: 'U0BOT', botId: 'B0', url: 'https://acme.example/' };
const done = message([['Done']]);
const title = { type: 'plain_text', text: 'Test' };

/** The listeners of a registry, behind a gate that lets everybody in. */
function bound(entries: Partial<Registry>, changes: Partial<BindParts> = {}) {
  const listeners: Record<string, Listener> = {};
  const keep = (kind: string) => (_: unknown, listener: Listener) => {
    listeners[kind] = listener;
  };
  const kinds = ['command', 'action', 'view', 'shortcut', 'event'];
  const app = Object.fromEntries(kinds.map((kind) => [kind, keep(kind)])) as unknown as App;
  const { log, text } = keptLog();
  const answers: string[] = [];
  bind(app, {
    registry: mergeRegistries([entries]),
    gate: {
      pass: (...[, , , caller, run]: Parameters<BindParts['gate']['pass']>) =>
        run(caller, {} as CommandTools),
    } as unknown as BindParts['gate'],
    identity: () => identity,
    eventTools: {} as BindParts['eventTools'],
    openModal: async () => {},
    postEphemeral: async (_url, reply) => answers.push((reply as Message).text) > 0,
    postInThread: async () => {},
    ephemeralTimeoutMs: 100,
    monotonicMs: () => 5000,
    receivedMs: () => 5000,
    metrics: unread,
    tracing: noTracing,
    log,
    ...changes,
  });
  const acknowledged: unknown[] = [];
  const reaches = async (kind: string, received: Payload) => {
    await listeners[kind]?.({ ack: async (answer?: unknown) => acknowledged.push(answer), ...received });
    return acknowledged;
  };
  return { reaches, answers, log: text };
}

/** What was run, and entries that run it. */
function entries() {
  const ran: unknown[] = [];
  async function run<T>(answer: T) {
    ran.push('ran');
    return answer;
  }
  return {
    ran,
    buttons: [
      defineButton({
        ...{ action: 'test.go', may: 'export', value: z.object({ v: z.literal(1) }) },
        run: () => run(done),
      }),
    ],
    modals: [
      {
        ...{ callbackId: 'test.dialog', may: 'export' as const },
        submit: () => run({ kind: 'closed' as const, answer: done }),
      },
    ],
    events: [{ event: 'message', subscriptions: {}, handle: async (event: unknown) => void ran.push(event) }],
  };
}

const from = { team: { id: 'T0ACME' }, user: { id: 'U0ANA', username: 'ana' }, ...typedByAna };
const click = (value?: string) => ({ body: from, action: { type: 'button', action_id: 'test.go', value } });
const submission = (view: Payload) => ({
  body: { ...from, view: { id: 'V01' } },
  view: {
    title,
    callback_id: 'test.dialog',
    private_metadata: JSON.stringify(origin),
    state: { values: {} },
    ...view,
  },
});
const event = { type: 'message', ts: '1.1' };

test.each([undefined, '', 'no json', '{"v":2}', 'null'])(
  'a click with a value of another version runs nothing, and is answered: %j',
  async (value) => {
    const { ran, ...registry } = entries();
    const { reaches, answers } = bound(registry);
    await reaches('action', click(value));
    expect(answers).toMatchObject([expect.stringMatching(/^This button is from another version of me/)]);
    expect(ran).toEqual([]);
  },
);

test('a refused request has its line in the log, and its span is no failure', async () => {
  const { log, text } = keptLog();
  const spans: Promise<unknown>[] = [];
  const span = <T>(_name: string, work: () => Promise<T>) => spans[spans.push(work()) - 1] as Promise<T>;
  const person = { id: 'U0ANA', name: 'ana', fullMember: true, active: true };
  const gate = createGate({
    ...{ tools: {}, identity: () => identity, metrics: unread, tracing: { ...noTracing, span }, log },
    policy: { check: async () => ({ kind: 'allowed', person }) },
    monotonicMs: () => 0,
  } as unknown as Parameters<typeof createGate>[0]);
  const refuse = () => Promise.reject(new UserFacingError(done));
  expect(await gate.pass('button', 'test.go', 'export', aCaller(), refuse)).toBe(done);
  await expect.poll(text).toMatch(/"outcome":"refused".*"msg":"request"/);
  await expect(Promise.all(spans)).resolves.toHaveLength(1);
});

test('a click whose answer does not arrive is acknowledged all the same', async () => {
  const { reaches, log } = bound(entries(), { postEphemeral: async () => false });
  expect(await reaches('action', click('{"v":1}'))).toHaveLength(1);
  expect(log()).toContain('an ephemeral answer did not arrive');
  expect(log()).not.toContain('hooks.example');
});

describe('a modal', () => {
  test.each<[string, Payload]>([
    ...['', 'no json', '{}', '{"channel":"C0DOCS","request":"1"}'].map((meta): [string, Payload] => [
      `of another version, ${meta}`,
      { private_metadata: meta },
    ]),
    ['that is unknown', { callback_id: 'gone', title: { ...title, text: 'X'.repeat(25) } }],
  ])('%s, runs nothing, and says so in its place', async (_, view) => {
    const { ran, ...registry } = entries();
    const [answer] = (await bound(registry).reaches('view', submission(view))) as { view: unknown }[];
    expect(JSON.stringify(answer)).toContain('This form is from another version of me');
    expect(() => checkView(answer?.view, 'modal', (prefix) => prefix)).not.toThrow();
    expect(ran).toEqual([]);
  });

  test('whose answer does not arrive shows the answer itself', async () => {
    const { reaches, log } = bound(entries(), { postEphemeral: async () => false });
    expect(JSON.stringify(await reaches('view', submission({})))).toContain('"Done"');
    expect(log()).not.toContain('hooks.example');
  });
});

describe('an event', () => {
  test.each<[string, Payload, boolean]>([
    ['by its team', { team_id: 'T0OTHER' }, false],
    ['by what it came through', { team_id: 'T0OTHER', context_team_id: 'T0OTHER' }, false],
    ['by its installation', { team_id: 'T0ACME', authorizations: [{ team_id: 'T0OTHER' }] }, false],
    ['since it names none', {}, false],
    ['of ours, from a shared channel', { team_id: 'T0OTHER', authorizations: [{ team_id: 'T0ACME' }] }, true],
  ])('of another workspace is acknowledged and ignored: %s', async (_, body, isOurs) => {
    const { ran, ...registry } = entries();
    const { reaches, log } = bound(registry);
    await reaches('event', { event, body });
    expect(ran).toEqual(isOurs ? [event] : []);
    expect(log().includes('an event of another workspace was ignored')).toBe(!isOurs);
  });

  test('that comes before our identity is known fails towards Slack, which sends it again', async () => {
    const early = bound(entries(), { identity: () => undefined }).reaches('event', { event, body: {} });
    await expect(early).rejects.toThrow('before the identity');
  });
});

test.each([
  ['takes less time for a request that was received long ago', 3000, [['1.2.a', 300]], undefined],
  ['is not even tried for one that has taken too long already', 3300, [], /^Slack didn't open the form/],
])('to open a modal %s', async (_, nowMs, calls, refusal) => {
  const opened: unknown[][] = [];
  const openModal = async (id: string, _view: unknown, timeoutMs?: number) =>
    void opened.push([id, timeoutMs]);
  const slack = { openModal, updateModal: openModal };
  const open = createModalOpener({ slack, timeoutMs: 1200, monotonicMs: () => nowMs, log: keptLog().log });
  const opening = open(aCaller({ receivedAtMs: 1000 }), noticeView('Test', done));
  const failed = await opening.catch((error: unknown) => error);
  expect(opened).toEqual(calls);
  const text = (failed as UserFacingError | undefined)?.reply.text;
  if (refusal) expect(text).toMatch(refusal);
  else expect(text).toBeUndefined();
});

import type { App } from '@slack/bolt';
import { type BindParts, bind } from '../../../src/commands/bind.ts';
import { createGate, type GateParts } from '../../../src/commands/gate.ts';
import { mergeRegistries, type Registry } from '../../../src/commands/registry.ts';
import { noTracing } from '../../../src/metrics/tracing.ts';
import type { PermissionResult } from '../../../src/policy.ts';
import { unread } from '../metrics.ts';
import { keptLog } from '../runtime/log.ts';
import { aCommand, ana, origin, typedByAna } from './builders.ts';

export type Payload = Record<string, unknown>;
type Listener = (received: Payload) => Promise<void>;
type Kind = 'command' | 'action' | 'view' | 'shortcut' | 'event';

/** As much of Bolt as `bind` touches: who listens to what, and requests that reach them. */
function fakeBolt() {
  const listeners: { kind: Kind; matching: RegExp; listener: Listener }[] = [];
  const keep = (kind: Kind) => (matching: RegExp | { callback_id: RegExp }, listener: Listener) => {
    listeners.push({
      kind,
      matching: matching instanceof RegExp ? matching : matching.callback_id,
      listener,
    });
  };
  const app = {
    command: keep('command'),
    action: keep('action'),
    view: keep('view'),
    shortcut: keep('shortcut'),
    event: keep('event'),
  };
  /** As in Bolt, whoever listens to the name gets it; two of them would answer twice. */
  async function reach(kind: Kind, name: string, received: Payload) {
    const [found, ...others] = listeners.filter((one) => one.kind === kind && one.matching.test(name));
    if (found === undefined || others.length > 0)
      throw new Error(`${found === undefined ? 'nobody listens' : 'several listen'} to the ${kind} ${name}`);
    await found.listener(received);
  }

  async function types(name: string, text: string, body: Payload = {}) {
    const acknowledged: unknown[] = [];
    await reach('command', name, {
      ack: async (answer?: unknown) => void acknowledged.push(answer),
      body: { ...from, command: name, text, ...body },
    });
    return acknowledged;
  }
  async function clicks(id: string, value?: string, body: Payload = {}) {
    let acknowledged = 0;
    const received = {
      ack: async () => void acknowledged++,
      body: { ...fromClick, ...body },
      action: { type: 'button', action_id: id, ...(value !== undefined && { value }) },
    };
    await reach('action', id, received);
    return acknowledged;
  }
  async function submits(callback: string, view: Payload = {}) {
    const acknowledged: unknown[] = [];
    await reach('view', callback, {
      ack: async (answer?: unknown) => void acknowledged.push(answer),
      body: fromModal,
      view: { ...aView, callback_id: callback, ...view },
    });
    return acknowledged;
  }
  const happens = (name: string, event: Payload, body: Payload = { team_id: 'T0ACME' }) =>
    reach('event', name, { event: { ...event, type: name }, body });
  return { app: app as unknown as App, types, clicks, submits, happens };
}

const from = { ...typedByAna, user_name: 'ana.typed', trigger_id: 'trigger.1' };
const fromClick = {
  team: { id: 'T0ACME' },
  user: { id: 'U0ANA', username: 'ana.clicked' },
  channel: { id: 'C0DOCS', name: 'docs' },
  trigger_id: 'trigger.2',
  response_url: 'https://hooks.example/2',
};
const fromModal = {
  team: { id: 'T0ACME' },
  user: { id: 'U0ANA', name: 'ana.submitted' },
  trigger_id: 'trigger.3',
  view: { id: 'V01', app_installed_team_id: 'T0ACME' },
};
const aView = {
  title: { type: 'plain_text', text: 'Test' },
  private_metadata: JSON.stringify(origin),
  state: { values: {} },
};
const allows: GateParts['policy'] = {
  check: async (_userId, _permission, from) =>
    from?.external
      ? { kind: 'refused', person: ana, ask: 'ana', outsider: true }
      : { kind: 'allowed', person: ana },
  permissionsOf: async () => [],
};
export const answersWith = (verdict: PermissionResult): GateParts['policy'] => ({
  ...allows,
  check: async () => verdict,
});

const acme = () => ({
  teamId: 'T0ACME',
  botUserId: 'U0BOT',
  botId: 'B0',
  url: 'https://acme.example/',
});

export type BindChanges = Partial<Omit<BindParts, 'registry'>> &
  Partial<Registry> &
  Partial<Pick<GateParts, 'policy' | 'identity' | 'tools'>>;

/** The registry as a test wants it, bound to a stand-in of Bolt, behind a gate that lets everybody in. */
export function bindForTest({ policy = allows, identity = acme, tools, ...changes }: BindChanges = {}) {
  const bolt = fakeBolt();
  const answers: { responseUrl: string; text: string }[] = [];
  const { log, text } = keptLog();
  bind(bolt.app, {
    registry: mergeRegistries([{ commands: [aCommand()], ...changes }]),
    gate: createGate({
      tools: tools ?? ({} as GateParts['tools']),
      policy,
      identity,
      audit: { add: async () => {}, latest: async () => ({ done: [], refused: [] }) },
      metrics: unread,
      newRef: () => '7f3c1d',
      now: () => 0,
      log,
    }),
    identity,
    eventTools: {} as BindParts['eventTools'],
    openModal: async () => {},
    async postEphemeral(responseUrl, { text }) {
      answers.push({ responseUrl, text });
      return true;
    },
    async postInThread({ threadTs = '' }, { text }) {
      answers.push({ responseUrl: threadTs, text });
    },
    ephemeralTimeoutMs: 100,
    monotonicMs: () => 5000,
    receivedMs: () => 5000,
    metrics: unread,
    tracing: noTracing,
    log,
    ...changes,
  });
  return { ...bolt, answers, log: text };
}

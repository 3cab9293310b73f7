import type { App, Receiver } from '@slack/bolt';
import boltApp from '@slack/bolt/dist/App.js';
import { AuthorizationError } from '@slack/bolt/dist/errors.js';
import packageJson from '../package.json' with { type: 'json' };
import { bind, createModalOpener } from './commands/bind.ts';
import { createGate } from './commands/gate.ts';
import { registry } from './commands/index.ts';
import { createIntake, createWake } from './commands/intake.ts';
import { type Settings, SettingsError } from './config/settings.ts';
import type { FeatureContext } from './jobs/feature.ts';
import { enqueueRun } from './jobs/index.ts';
import { createSystemStatus } from './jobs/status/status.ts';
import { connectRole, type RoleParts } from './role.ts';
import { createReceiptClock } from './runtime/receipt.ts';
import { claimMsOf } from './runtime/timing.ts';
import { withTimeout } from './runtime/with-timeout.ts';
import { receiveCallbacks } from './server/callbacks.ts';
import { createHttpReceiver } from './server/http-receiver.ts';
import { createOutbox } from './slack/outbox.ts';
import { postEphemeral } from './slack/response-url.ts';
import { createSlackLogger } from './slack/web-calls.ts';
import type { DeliveryState } from './store/messages.ts';
import { askTime } from './store/redis/clock.ts';
import { connectForRequests } from './store/redis/connections.ts';

/** How long an answer waits for the address of a thread or for a link. */
const LINK_MS = 200;

/** How long the start waits for the time, once Redis is there. */
const TIME_MS = 300;

/** Starts the part of Docket that receives requests from Slack. */
export async function startWeb(settings: Settings, parts: RoleParts): Promise<void> {
  const { slack, timing, now, monotonicMs, log, closers } = parts;
  const { redis, queues, stores } = await connectRole(connectForRequests, settings, parts);
  const { receiver, connected } = await createReceiver(settings, parts);
  const bolt = createBolt(settings, parts, receiver);

  const { projects, docsDomain, links, replies: replyMode, limits } = settings;
  const { names, isPublic, isMember, policy } = parts;
  const wake = createWake((run) => enqueueRun(queues, run), log);
  // An answer leaves out the link to a message that cannot be read in time.
  const outbox = {
    deliveryState: (key: string) =>
      withTimeout(LINK_MS, stores.messages.state(key)).catch((): DeliveryState => ({ kind: 'waiting' })),
  };
  const intake = createIntake({
    ...parts,
    ...stores,
    wake,
    timeoutMs: timing.intakeMs,
    claimMs: claimMsOf(timing),
  });
  const features: FeatureContext = {
    ...{ ...stores, outbox, isPublic },
    workspaceUrl: () => slack.current()?.url,
  };
  const upSinceMs = now();
  const systemStatus = createSystemStatus({
    settings: { projects, limits, timing },
    ...{ stores, queues, features, monotonicMs, contact: policy.contactText, ping: () => askTime(redis) },
    known: () => ({
      ...{ version: packageJson.version, role: settings.role, upSinceMs },
      snapshots: parts.health.snapshots(),
      problems: parts.health.problems(),
      missingScopes: slack.missingScopes(),
      connected: connected(),
      // `everyone` as admin counts for nobody: a message to all would be noise.
      hasAdmins: settings.allow.admin.some((entry) => entry !== 'everyone'),
    }),
  });
  const openModal = createModalOpener({ ...parts, timeoutMs: timing.modalMs });
  const gate = createGate({
    ...{ ...parts, ...stores, identity: slack.current },
    tools: {
      ...{ intake, outbox, projects, docsDomain, links, replyMode, limits, names, isPublic, isMember },
      loadLink: (name) => withTimeout(LINK_MS, stores.links.get(name)),
      auditLines: stores.audit.latest,
      systemStatus,
      personZone: slack.personZone,
      openModal,
      now,
    },
  });
  const { publish } = createOutbox({ ...stores, wake });
  receiveCallbacks({ ...parts, ...stores, projects, wake });
  const receipt = createReceiptClock(monotonicMs);
  closers.add(async () => receipt.stop());
  bind(bolt, {
    ...parts,
    registry,
    gate,
    identity: slack.current,
    eventTools: {
      ...{ ...parts, ...stores, ...{ wake, publish, projects, limits, replyMode } },
      async changeChannelId(...change) {
        await stores.channelIds.change(...change);
        await parts.channelIds.refresh();
      },
      checkToken: slack.identity,
    },
    openModal,
    postEphemeral,
    postInThread: slack.postEphemeralTo,
    ephemeralTimeoutMs: timing.ephemeralMs,
    receivedMs: receipt.receivedMs,
  });

  const synced = parts.clock.startSync(redis);
  await withTimeout(TIME_MS, synced).catch(() => {});
  // In the role `all`, its worker does this.
  if (settings.role === 'web') parts.health.shareIn(stores.health, parts.onRedisError);
  closers.add(() => bolt.stop());
  await bolt.start();
}

function createBolt(settings: Settings, { slack, channelIds, log }: RoleParts, receiver: Receiver): App {
  const bolt = new boltApp.default({
    receiver,
    logger: createSlackLogger(log),
    convoStore: false,
    clientOptions: { slackApiUrl: settings.slackApiUrl },
    authorize: async () => ({ botToken: settings.slackBotToken, ...slack.current() }),
  });
  const processEvent = bolt.processEvent.bind(bolt);
  bolt.processEvent = (event) =>
    processEvent({ ...event, body: JSON.parse(channelIds.fromSlack(JSON.stringify(event.body))) });
  // Requests that Bolt cannot authorize are acknowledged, else Slack disables events; other errors are defects.
  bolt.error(async (error) => {
    if (!(error instanceof AuthorizationError)) throw error;
  });
  return bolt;
}

/** Returns a receiver for Socket Mode if there is a token for it, else for HTTP. */
async function createReceiver(settings: Settings, parts: RoleParts) {
  const { slackAppToken: appToken, slackSigningSecret: signingSecret, proxies } = settings;
  if (appToken !== undefined) {
    const { createSocketReceiver } = await import('./server/socket-receiver.ts');
    const receiver = createSocketReceiver({ ...parts, appToken, apiUrl: settings.slackApiUrl, proxies });
    parts.health.addPart('slack', () => (receiver.connected() ? 'up' : 'down'));
    return { receiver, connected: () => receiver.connected() };
  }
  if (signingSecret === undefined) throw new SettingsError(['SLACK_SIGNING_SECRET is missing.']);
  const receiver = createHttpReceiver({ ...parts, signingSecret, now: parts.machineMs });
  return { receiver, connected: () => undefined };
}

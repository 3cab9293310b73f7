import type { App, Receiver } from '@slack/bolt';
import boltApp from '@slack/bolt/dist/App.js';
import { AuthorizationError } from '@slack/bolt/dist/errors.js';
import { type BindParts, bind, createModalOpener } from './commands/bind.ts';
import { createGate } from './commands/gate.ts';
import { registry } from './commands/index.ts';
import { createIntake, createWake, type IntakeParts } from './commands/intake.ts';
import { type Settings, SettingsError } from './config/settings.ts';
import { enqueueRun } from './jobs/index.ts';
import type { FeatureContext } from './jobs/shared/feature.ts';
import { createSystemStatus } from './jobs/status/status.ts';
import { connectRole, type RoleParts } from './role.ts';
import { createReceiptClock } from './runtime/receipt.ts';
import { claimMsOf } from './runtime/timing.ts';
import { version } from './runtime/version.ts';
import { withTimeout } from './runtime/with-timeout.ts';
import { receiveCallbacks } from './server/callbacks.ts';
import { createHttpReceiver } from './server/http-receiver.ts';
import { createOutbox } from './slack/outbox.ts';
import { createSlackLogger } from './slack/web-calls.ts';
import type { DeliveryState } from './store/messages.ts';
import { askTime } from './store/redis/clock.ts';
import { connectForRequests } from './store/redis/connections.ts';
import type { WorkerProblem } from './store/values.ts';
import type { Workspace } from './workspaces.ts';

/** How long an answer waits for the address of a thread or for a link. */
const LINK_MS = 200;

/** How long the start waits for the time, once Redis is there. */
const TIME_MS = 300;

/** Starts the part of Docket that receives requests from Slack. */
export async function startWeb(settings: Settings, parts: RoleParts): Promise<void> {
  const { server, machineMs, monotonicMs, now, log, secrets, closers } = parts;
  const { redis, queues, stores } = await connectRole(connectForRequests, settings, parts);
  const wake = createWake((run) => enqueueRun(queues, run), log);
  const { projects } = settings;
  receiveCallbacks({ server, projects, runs: stores.runs, wake, machineMs, now, log, secrets });
  const { receivedMs, stop } = createReceiptClock(monotonicMs);
  closers.add(async () => stop());
  const web: WebParts = { redis, queues, stores, wake, receivedMs, upSinceMs: now() };
  const apps: App[] = [];
  for (const workspace of parts.workspaces) apps.push(await createApp(workspace, settings, parts, web));

  const synced = parts.clock.startSync(redis);
  await withTimeout(TIME_MS, synced).catch(() => {});
  closers.add(() => Promise.all(apps.map((app) => app.stop())));
  await Promise.all(apps.map((app) => app.start()));
}

type WebParts = Awaited<ReturnType<typeof connectRole>> &
  Pick<BindParts, 'receivedMs'> & { wake: IntakeParts['wake']; upSinceMs: number };

async function createApp(workspace: Workspace, settings: Settings, parts: RoleParts, web: WebParts) {
  const { slack, slackPart, projects, docsDomain, names, isPublic, isMember, policy, log } = workspace;
  const { timing, now, monotonicMs, metrics, tracing, newRef } = parts;
  const { redis, queues, stores, wake, receivedMs, upSinceMs } = web;
  const { runs, threads, figures, people, audit, messages } = stores;
  const watched = { metrics, tracing, monotonicMs, log };
  const { links, replies: replyMode, context: backgroundMode, limits } = settings;
  const { receiver, connected } = await createReceiver(settings, workspace, parts);
  const bolt = createBolt(settings, workspace, receiver);
  // An answer leaves out the link to a message that cannot be read in time.
  const outbox = {
    deliveryState: (key: string) =>
      withTimeout(LINK_MS, messages.state(key)).catch((): DeliveryState => ({ kind: 'waiting' })),
  };
  const intake = createIntake({
    runs,
    threads,
    figures,
    isPublic,
    isMember,
    wake,
    timeoutMs: timing.intakeMs,
    claimMs: claimMsOf(timing),
    ...watched,
  });
  const workspaceUrl = () => slack.current()?.url;
  const others = parts.workspaces.filter((one) => one !== workspace);
  const isOfOthers = (of = '') => others.some((one) => of === one.slackPart || of === pathOf(one.name));
  const problemsHere = (ofWorkers: readonly WorkerProblem[]) => {
    const own = parts.health.problems();
    const more = ofWorkers.filter(({ name }) => !own.some((one) => one.name === name));
    // Those of the other workspaces are nobody's business here.
    return [...own, ...more].filter(({ of }) => !isOfOthers(of));
  };
  const features: FeatureContext = { runs, threads, outbox, isPublic, workspaceUrl };
  const systemStatus = createSystemStatus({
    settings: { projects, limits, timing },
    // The queues are shared, so their counts would show work of other workspaces.
    queues: parts.workspaces.length > 1 ? { counts: async () => [] } : queues,
    stores,
    features,
    monotonicMs,
    now,
    slackPart,
    contact: policy.contactText,
    ping: () => askTime(redis),
    known: (ofWorkers) => ({
      version,
      role: settings.role,
      upSinceMs,
      snapshots: parts.health.snapshots(),
      problems: problemsHere(ofWorkers),
      missingScopes: slack.missingScopes(),
      connected: connected(),
      // `everyone` as admin counts for nobody: a message to all would be noise.
      hasAdmins: workspace.settings.allow.admin.some((entry) => entry !== 'everyone'),
    }),
  });
  const openModal = createModalOpener({ slack, monotonicMs, log, timeoutMs: timing.modalMs });
  const gate = createGate({
    ...watched,
    audit,
    policy,
    newRef,
    now,
    identity: slack.current,
    isOrgWide: slack.isOrgWide,
    tools: {
      intake,
      outbox,
      projects,
      docsDomain,
      limits,
      names,
      isPublic,
      isMember,
      links,
      replyMode,
      backgroundMode,
      loadLink: (name) => withTimeout(LINK_MS, stores.links.get(name)),
      auditLines: audit.latest,
      systemStatus,
      personZone: slack.personZone,
      openModal,
      now,
    },
  });
  const { publish } = createOutbox({ messages, wake });
  bind(bolt, {
    registry,
    gate,
    openModal,
    receivedMs,
    ...watched,
    postEphemeral: workspace.postEphemeral,
    identity: slack.current,
    eventTools: {
      runs,
      threads,
      people,
      now,
      log,
      wake,
      publish,
      projects,
      limits,
      replyMode,
      async changeChannelId(...change) {
        await stores.channelIds.change(...change);
        await workspace.channelIds.refresh();
      },
      checkToken: slack.identity,
    },
    postInThread: slack.postEphemeralTo,
    ephemeralTimeoutMs: timing.ephemeralMs,
  });
  return bolt;
}

function createBolt(
  { slackApiUrl }: Settings,
  { settings: { botToken }, slack, channelIds, log }: Workspace,
  receiver: Receiver,
): App {
  const bolt = new boltApp.default({
    receiver,
    logger: createSlackLogger(log),
    convoStore: false,
    clientOptions: { slackApiUrl },
    authorize: async () => ({ botToken: botToken.secret, ...slack.current() }),
  });
  const processEvent = bolt.processEvent.bind(bolt);
  bolt.processEvent = (event) =>
    processEvent({
      ...event,
      body: JSON.parse(channelIds.fromSlack(JSON.stringify(event.body))),
      ack: (answer) => event.ack(channelIds.inContent(answer)),
    });
  // Requests that Bolt cannot authorize are acknowledged, else Slack disables events; other errors are defects.
  bolt.error(async (error) => {
    if (!(error instanceof AuthorizationError)) throw error;
  });
  return bolt;
}

/** Where Slack's requests of a workspace arrive. */
const pathOf = (workspace: string | undefined) =>
  workspace === undefined ? '/slack/events' : (`/slack/${workspace}/events` as const);

/** Returns a receiver for Socket Mode if there is a token for it, else for HTTP. */
async function createReceiver(
  { slackApiUrl: apiUrl, proxies }: Settings,
  { settings: { name: workspace, appToken, signingSecret }, problemHere, log }: Workspace,
  { server, health, metrics, timing, random, newRef, machineMs: now }: RoleParts,
) {
  if (appToken !== undefined) {
    const { createSocketReceiver } = await import('./server/socket-receiver.ts');
    const { secret, name } = appToken;
    const app = { appToken: secret, tokenName: name };
    const receiver = createSocketReceiver({ ...app, apiUrl, proxies, timing, random, newRef, log });
    health.addPart('slack', () => (receiver.connected() ? 'up' : 'down'));
    health.addProblems(() => {
      const text = receiver.problem();
      return text === undefined ? [] : [problemHere({ name: 'slack_socket', level: 'error', text })];
    });
    return { receiver, connected: receiver.connected };
  }
  if (signingSecret === undefined) throw new SettingsError(['SLACK_SIGNING_SECRET is missing.']);
  const { secret, name } = signingSecret;
  const path = pathOf(workspace);
  const app = { signingSecret: secret, secretName: name };
  const receiver = createHttpReceiver({ ...app, path, server, health, metrics, newRef, now, log });
  return { receiver, connected: () => undefined };
}

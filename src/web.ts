import { once } from 'node:events';
import { App, AuthorizationError } from '@slack/bolt';
import type { Redis } from 'ioredis';
import packageJson from '../package.json' with { type: 'json' };
import { bind } from './commands/bind.ts';
import { createGate } from './commands/gate.ts';
import { registry } from './commands/index.ts';
import { createIntake, createWaker } from './commands/intake.ts';
import { createModalOpener } from './commands/open-modal.ts';
import { createSystemSnapshot } from './commands/status/snapshot.ts';
import { type Settings, SettingsError } from './config/settings.ts';
import { enqueueRun } from './jobs/index.ts';
import { createQueues } from './jobs/queue.ts';
import type { RoleParts } from './role.ts';
import { within } from './runtime/within.ts';
import { redisState } from './server/health-checks.ts';
import { createHttpReceiver } from './server/http-receiver.ts';
import { createRefusedRequests } from './server/refused-requests.ts';
import { createSocketReceiver } from './server/socket-receiver.ts';
import { createSlackLogger } from './slack/logger.ts';
import { postEphemeral } from './slack/response-url.ts';
import { createAuditStore } from './store/audit.ts';
import { createHealthStore } from './store/health.ts';
import { createLinkStore } from './store/links.ts';
import { createMessageStore } from './store/messages.ts';
import { createRateLimitStore } from './store/rate-limit.ts';
import { connectForRequests } from './store/redis/connections.ts';
import { createResponseUrlStore } from './store/response-urls.ts';
import { createRunStore } from './store/runs.ts';
import { createThreadStore } from './store/threads.ts';

/** How long a submitted dialog waits for the address to answer to; without one it answers itself. */
const ADDRESS_MS = 200;

/** How long an answer waits for the address of a thread or for a link. */
const LINK_MS = 200;

/** How long it waits for the time, once Redis is there. */
const TIME_MS = 300;

/** How long the start waits for Redis before it takes requests all the same. */
const READY_MS = 2000;

/** The part of Docket that takes requests from Slack. */
export async function startWeb(settings: Settings, parts: RoleParts): Promise<void> {
  const { address, slack, identity, health, policy, names, timing, now, newRef, log, closers, onRedisError } =
    parts;

  const redis = connectForRequests(address, timing, onRedisError);
  closers.add(() => redis.disconnect());
  parts.redisWatch.add(redis);
  const queues = createQueues(redis, onRedisError);
  closers.add(() => queues.close());
  const runs = createRunStore(redis);
  const messages = createMessageStore(redis);
  const links = createLinkStore(redis);
  const audit = createAuditStore(redis);
  const responseUrls = createResponseUrlStore(redis);
  const monotonicMs = () => performance.now();

  parts.checks.addPart('redis', () => redisState(redis));

  const { receiver, connected } = createReceiver(settings, parts);
  const bolt = new App({
    receiver,
    logger: createSlackLogger(log),
    convoStore: false,
    clientOptions: { slackApiUrl: settings.slackApiUrl },
    authorize: async () => ({ botToken: settings.slackBotToken, ...identity.current() }),
  });
  // Whom Bolt does not know is acknowledged, or Slack would turn the subscription off; all else is our own failure.
  bolt.error(async (error) => {
    if (!(error instanceof AuthorizationError)) throw error;
  });
  const threads = createThreadStore(redis);
  const deliveryState = (key: string) => within(LINK_MS, messages.state(key));
  const wake = createWaker((run) => enqueueRun(queues, run, { now: true }), log);
  const gate = createGate({
    tools: {
      intake: createIntake({
        runs,
        threads,
        wake,
        timeoutMs: timing.intakeMs,
        // Longer than a run takes while Slack is there; it frees its claim itself when it ends.
        claimMs: timing.limitWaitMs + timing.watchMs + timing.giveUpMs,
        monotonicMs,
        log,
      }),
      deliveryState,
      projects: settings.projects,
      docsDomain: settings.docsDomain,
      links: settings.links,
      replyMode: settings.replies,
      limits: settings.limits,
      names,
      isPublic: parts.isPublic,
      loadLink: (name) => within(LINK_MS, links.get(name)),
      auditLines: audit.latest,
      systemSnapshot: createSystemSnapshot({
        snapshots: health.snapshots,
        store: createHealthStore(redis),
        connected,
        ping: () => redis.ping(),
        redisProblems: parts.redisWatch.problems,
        counts: queues.counts,
        features: {
          runs,
          threads,
          outbox: { deliveryState },
          isPublic: parts.isPublic,
          workspaceUrl: () => identity.current()?.url,
          projects: settings.projects,
          limits: settings.limits,
          timing,
          rateLimiter: createRateLimitStore(redis),
        },
        about: { version: packageJson.version, role: settings.role, upSinceMs: now() },
        monotonicMs,
      }),
      openModal: createModalOpener({ slack, responseUrls, timeoutMs: timing.modalMs, monotonicMs, log }),
      now,
    },
    policy,
    identity: identity.current,
    audit,
    newRef,
    now,
    log,
  });
  bind(bolt, {
    registry,
    gate,
    identity: identity.current,
    eventTools: {
      threads,
      runs,
      wake,
      updateHome: (teamId, userId) =>
        queues.enqueue(
          'slack-outbox',
          'home',
          `${teamId}:${userId}`,
          { teamId, userId, openedAtMs: now() },
          { now: true },
        ),
      projects: settings.projects,
      replyMode: settings.replies,
      now,
      log,
    },
    responseUrlOf: (request) => within(ADDRESS_MS, responseUrls.find(request)).catch(() => undefined),
    postEphemeral,
    ephemeralTimeoutMs: timing.ephemeralMs,
    monotonicMs,
    log,
  });

  const synced = parts.clock.startSync(redis);
  await waitUntilReady(redis);
  await within(TIME_MS, synced).catch(() => {});
  closers.add(() => bolt.stop());
  await bolt.start();
}

/** Over a socket when there is a token for it, else over HTTP. */
function createReceiver(settings: Settings, parts: RoleParts) {
  const { timing, random, machineMs, log, checks, server } = parts;
  const { slackAppToken: appToken, slackSigningSecret: signingSecret, slackApiUrl: apiUrl } = settings;
  if (appToken !== undefined) {
    const receiver = createSocketReceiver({ appToken, apiUrl, timing, random, log });
    checks.addPart('slack', () => (receiver.connected() ? 'up' : 'down'));
    return { receiver, connected: () => receiver.connected() };
  }
  if (signingSecret === undefined) throw new SettingsError(['SLACK_SIGNING_SECRET is missing.']);
  const refused = createRefusedRequests(log, machineMs);
  checks.addProblem(refused.problem);
  const receiver = createHttpReceiver({ signingSecret, server, refused, now: machineMs, log });
  return { receiver, connected: () => undefined };
}

/** Waits for Redis, so that the first request is not refused, but not for long: refusals are answers too. */
async function waitUntilReady(redis: Redis): Promise<void> {
  if (redis.status === 'ready') return;
  await once(redis, 'ready', { signal: AbortSignal.timeout(READY_MS) }).catch(() => {});
}

import { randomUUID } from 'node:crypto';
import type { Settings } from './config/settings.ts';
import { createDocsApi } from './docs-api/client.ts';
import { DocsApiError } from './docs-api/errors.ts';
import { createDocsReporter } from './docs-api/report.ts';
import { createWatches } from './jobs/agent/watch/watches.ts';
import type { Admins } from './jobs/alerts/admin-alert.ts';
import { createKeyAlert } from './jobs/alerts/key-alert.ts';
import { createRedisAlert } from './jobs/alerts/redis-alert.ts';
import { createCallOnce } from './jobs/call-once.ts';
import type { JobContext } from './jobs/context.ts';
import { enqueueRun, jobs } from './jobs/index.ts';
import { createOverdueFinder } from './jobs/overdue.ts';
import { createQueues } from './jobs/queue.ts';
import { startSweeper } from './jobs/sweeper.ts';
import { createWorkers } from './jobs/worker.ts';
import type { RoleParts } from './role.ts';
import type { Log } from './runtime/log.ts';
import { Stopping, untilStopping } from './runtime/stopping.ts';
import { within } from './runtime/within.ts';
import { shareHealth } from './server/health.ts';
import { redisState } from './server/health-checks.ts';
import { createChannels } from './slack/channels.ts';
import type { SlackApi } from './slack/client.ts';
import { createDelivery } from './slack/delivery.ts';
import { SlackApiError } from './slack/errors.ts';
import { createOutbox } from './slack/outbox.ts';
import { createReactionDelivery } from './slack/reaction-delivery.ts';
import { postEphemeral } from './slack/response-url.ts';
import { createAlertStore } from './store/alerts.ts';
import { createAuditStore } from './store/audit.ts';
import { createCallOnceStore } from './store/calls.ts';
import { createDueStore } from './store/due.ts';
import { createHealthStore } from './store/health.ts';
import { createLinkStore } from './store/links.ts';
import { createMessageStore } from './store/messages.ts';
import { createOwnPostStore } from './store/own-posts.ts';
import { createPeopleStore } from './store/people.ts';
import { createRateLimitStore } from './store/rate-limit.ts';
import { createReactionStore } from './store/reactions.ts';
import { connectForWork } from './store/redis/connections.ts';
import { parseMember } from './store/run-lua.ts';
import { createRunStore, type RunBase } from './store/runs.ts';
import { createThreadStore } from './store/threads.ts';

/** How long open connections may hold up the end, once the workers are done. */
const CLOSE_MS = 300;

/** The part of Docket that works: it calls the docs API and posts to Slack. Begins at once. */
export function startWorker(settings: Settings, parts: RoleParts): void {
  const { address, identity, timing, now, random, newRef, log, closers, onRedisError, health } = parts;
  const { clock } = parts;
  const { stopping } = closers;
  const slack = untilStopping(stopping, parts.slack);

  const redis = connectForWork(address, timing, onRedisError);
  closers.add(() => redis.disconnect());
  parts.redisWatch.add(redis);
  parts.checks.addPart('redis', () => redisState(redis));
  const queues = createQueues(redis, onRedisError);
  closers.add(() => queues.close());
  const reportDocs = createDocsReporter({ log, now });
  const docsApis = new Map(
    settings.projects.map(({ name, apiKey, apiKeyVariable }) => [
      name,
      createDocsApi({
        baseUrl: settings.docsApiUrl,
        apiKey,
        timeoutMs: timing.docsCallMs,
        now,
        random,
        log(request) {
          health.record('docs', request.status !== undefined);
          log.debug(request, 'docs api');
          reportDocs(request, { project: name, keyVariable: apiKeyVariable });
        },
      }),
    ]),
  );
  // What is still on its way by then is lost to this process; the next one asks or looks again.
  closers.add(() => within(CLOSE_MS, Promise.all([...docsApis.values()].map((docs) => docs.close()))));

  shareHealth(health, createHealthStore(redis), onRedisError);

  const runs = createRunStore(redis);
  const threads = createThreadStore(redis);
  const messages = createMessageStore(redis);
  const links = createLinkStore(redis);
  const steps = createCallOnceStore(redis);

  const rateLimiter = createRateLimitStore(redis);

  const enqueueMessage = (key: string, options?: { now: boolean }) =>
    queues.enqueue('slack-outbox', 'outbox', key, { key }, options);

  const enqueueReactions = (runId: string, options?: { now: boolean }) =>
    queues.enqueue('slack-outbox', 'reactions', runId, { runId }, options);

  const reactions = createReactionStore(redis);
  const outbox = createOutbox({ messages, reactions, enqueueMessage, enqueueReactions, now });
  const deliveryParts = { slack, rateLimiter, random, timing, log };
  const callOnce = createCallOnce({
    steps,
    stopping,
    callMs: timing.docsCallMs,
    marginMs: timing.unclearMs,
    didNotHappen: (error) => error instanceof DocsApiError && error.happened === 'no',
    newToken: randomUUID,
    now,
  });
  const callOnceInSlack = createCallOnce({
    steps,
    stopping,
    callMs: timing.slackCallMs,
    marginMs: timing.unclearMs,
    didNotHappen: (error) => error instanceof SlackApiError && error.kind !== 'unclear',
    newToken: randomUUID,
    now,
  });
  const wake = (run: Pick<RunBase, 'id' | 'job'>) => enqueueRun(queues, run, { now: true });
  const docs = (project: string) => {
    const api = docsApis.get(project);
    return api && untilStopping(stopping, api);
  };
  const alertParts = {
    admins: () => adminsOf(settings, slack, log),
    alerts: createAlertStore(redis),
    outbox,
    now,
  };
  const alertAdmins = createKeyAlert(alertParts);
  const alertOfRedisProblems = createRedisAlert({ ...alertParts, teamId: () => identity.current()?.teamId });
  parts.redisWatch.onCheck((problems) => {
    if (!stopping.aborted)
      alertOfRedisProblems(problems).catch((error: unknown) =>
        log.warn({ err: error }, 'the admins could not be told of Redis'),
      );
  });
  const teamId = () => identity.current()?.teamId ?? '';
  const context: JobContext = {
    runs,
    threads,
    watches: createWatches({ runs, wake, now }),
    links,
    audit: createAuditStore(redis),
    rateLimiter,
    docs,
    projects: settings.projects,
    projectId: (project) => settings.projects.find(({ name }) => name === project)?.projectId,
    limits: settings.limits,
    slack: { ...slack, channel: createChannels({ slack, rateLimiter, teamId, timing, now }) },
    outbox,
    deliverMessage: createDelivery({
      ...deliveryParts,
      messages,
      links,
      people: createPeopleStore(redis),
      ownPosts: createOwnPostStore(redis),
      now,
    }),
    deliverReactions: createReactionDelivery({ ...deliveryParts, reactions, isShown: messages.isDelivered }),
    ...untilStopping(stopping, { postEphemeral, alertAdmins, names: parts.names, isPublic: parts.isPublic }),
    policy: untilStopping(stopping, parts.policy),
    botUserId: () => identity.current()?.botUserId,
    workspaceUrl: () => identity.current()?.url,
    callOnce,
    steps,
    callOnceInSlack,
    wake,
    stopping,
    newToken: randomUUID,
    now,
    random,
    timing,
    log,
  };

  const workers = createWorkers({
    jobs,
    context,
    connection: redis,
    skipVersionCheck: parts.redisWatch.problems().some(({ kind }) => kind === 'info-forbidden'),
    stopping,
    newRef,
    timing,
    ready: clock.startSync(redis),
    log,
    onError: onRedisError,
  });
  closers.add(() => workers.close(timing.shutdownMs));

  const overdue = createOverdueFinder({
    due: createDueStore(redis),
    wake: {
      runs: (member) => wake(parseMember(member)),
      messages: (key) => enqueueMessage(key, { now: true }),
      reactions: (runId) => enqueueReactions(runId, { now: true }),
    },
    isKnown: (member) => jobs.some(({ name }) => name === parseMember(member).job),
    everyMs: timing.sweepMs,
  });
  const sweeper = startSweeper({
    async find() {
      await threads.startEarlyExpiry();
      return overdue();
    },
    everyMs: timing.sweepMs,
    log,
  });
  closers.add(() => sweeper.stop());
}

/** The people who are admins by name or by user group; `everyone` is nobody in particular. */
async function adminsOf({ allow }: Settings, slack: SlackApi, log: Log): Promise<Admins> {
  const members = allow.admin.map(async (entry) => {
    if (entry === 'everyone') return [];
    return entry.startsWith('S') ? ((await slack.groupMembers(entry)) ?? []) : [entry];
  });
  const known = await Promise.allSettled(members);
  const failed = known.find((one) => one.status === 'rejected');
  if (failed?.reason instanceof Stopping) throw failed.reason;
  if (failed) log.warn({ err: failed.reason }, 'Slack does not tell who all the admins are');
  const ids = new Set(known.flatMap((one) => (one.status === 'fulfilled' ? one.value : [])));
  return { ids: [...ids], complete: failed === undefined };
}

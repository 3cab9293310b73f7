import { randomUUID } from 'node:crypto';
import type { Settings } from './config/settings.ts';
import { createDeployments, type DeploymentCall, type ExpiringToken } from './deployments/deployment.ts';
import { GithubError } from './deployments/github.ts';
import { createSender } from './deployments/sender.ts';
import { createDeploymentTroubles } from './deployments/troubles.ts';
import { createDocsApi, type DocsApi, keyIdOf } from './docs-api/client.ts';
import { connectionProblem, DocsApiError, docsProblemOf } from './docs-api/errors.ts';
import { isRepeatable, OPERATIONS } from './docs-api/operations.ts';
import { createGitHosts } from './git-hosts/git-host.ts';
import type { JobContext } from './jobs/engine/context.ts';
import { createSendEvent } from './jobs/engine/send-event.ts';
import { createWorkers, startSweeper } from './jobs/engine/workers.ts';
import { homeRefresh } from './jobs/home/job.ts';
import { enqueueRun, jobs, type WorkerContext } from './jobs/index.ts';
import { createAlerts } from './jobs/status/alerts.ts';
import { connectRole, type RoleParts } from './role.ts';
import { createChangeSaver } from './runtime/cached.ts';
import { rejectWhenStopping, repeat } from './runtime/stopping.ts';
import { withTimeout } from './runtime/with-timeout.ts';
import { createDelivery } from './slack/delivery.ts';
import { SlackApiError } from './slack/errors.ts';
import { createChannels } from './slack/lookups.ts';
import { createOutbox } from './slack/outbox.ts';
import { createCallOnce } from './store/call-once.ts';
import { connectForWork } from './store/redis/connections.ts';
import type { RunRef } from './store/run-scripts.ts';
import { type Workspace, workspaceIndex } from './workspaces.ts';

const HOUR_MS = 3_600_000;

/** Maximum delay of the process' end by open connections, after the workers are closed. */
const CLOSE_MS = 300;

/** Starts the worker part of Docket: it calls the docs API and posts to Slack. */
export async function startWorker(settings: Settings, parts: RoleParts): Promise<void> {
  const { timing, now, random, newRef, log, metrics, telemetry, closers, onRedisError } = parts;
  const { stopping } = closers;
  const { redis, queues, stores } = await connectRole(connectForWork, settings, parts);
  const { runs, threads, figures, links, responseUrls, audit, support, rateLimiter, messages, people } =
    stores;

  const wake = (run: RunRef) => enqueueRun(queues, run);

  const outbox = createOutbox({ messages, wake });
  const published = new Map<string, number>();
  // A Redis that restarts may have lost the last writes.
  redis.on('ready', () => published.clear());
  const { accept, reject } = stores.rejectedKeys;
  const saveKey = (keyId: string, isGood: boolean) => (isGood ? accept(keyId) : reject(keyId, now()));
  // A rejected key must not expire in between, and the last state from a crashed process must not stay for long.
  const watchKey = createChangeSaver({ save: saveKey, everyMs: HOUR_MS, now, onError: onRedisError });
  const docsApis = createDocsApis(settings, parts, watchKey);
  const sender = createSender(settings.proxies, timing.deploymentCallMs, stopping);
  closers.add(() => withTimeout(CLOSE_MS, sender.close()));
  const { limits, links: linksTo, context: backgroundMode, whileWorking } = settings;
  const calls = createCallOnce(redis, {
    marginMs: timing.callMarginMs,
    didNotHappen: (error) =>
      ((error instanceof DocsApiError || error instanceof GithubError) && error.happened === 'no') ||
      (error instanceof SlackApiError && error.kind !== 'unclear'),
    stopping,
    newToken: randomUUID,
    now,
  });
  async function refreshHomes(teamId: string, userIds: readonly string[]) {
    const opened = await people.whoOpenedHome(teamId, userIds);
    await Promise.all(opened.map((userId) => wake(homeRefresh(teamId, userId))));
  }

  function onDeploymentCall(call: DeploymentCall) {
    const { kind, outcome, durationMs } = call;
    metrics.deploymentCalls.observe({ kind, outcome }, durationMs);
    parts.tracing.called(`deployment ${kind}`, durationMs, outcome);
    // Only operators can fix a deployment.
    if (outcome !== 'ok' && !stopping.aborted) log.warn(call, 'a call to a deployment failed');
  }

  const troubles = createDeploymentTroubles({
    projects: settings.projects,
    store: stores.troubles,
    onError: onRedisError,
    timing,
    now,
    stopping,
    connectionFix: connectionProblem,
  });
  parts.health.addProblems(troubles.problems);

  /** Returns what the jobs of one workspace use, and its work at each sweep. */
  function inWorkspace(workspace: Workspace) {
    const { projects, teamId, slackPart, names, isPublic, postEphemeral, log } = workspace;
    const slack = rejectWhenStopping(stopping, workspace.slack);
    const tokens = new Map<string, ExpiringToken>();
    const { alertAdmins, alertOfDeployments, remindOfExpiry, expiring } = createAlerts({
      projects,
      tokens,
      stores,
      outbox,
      now,
      log,
      groupMembers: slack.groupMembers,
      admin: workspace.settings.allow.admin,
    });
    const renewed = (hidden: string[]) => {
      parts.secrets.push(...hidden);
      log.info('a new token or secret of a deployment was read from its file');
    };
    const context: WorkerContext = {
      store: { runs, threads, figures, links, responseUrls, audit, support, rateLimiter },
      calls,
      platform: {
        docs(project) {
          const api = projects.some(({ name }) => name === project) ? docsApis.get(project) : undefined;
          return api && rejectWhenStopping(stopping, api);
        },
        projectId: (project) => projects.find(({ name }) => name === project)?.projectId,
        teamsOf({ teamId: own, project }) {
          const using = parts.workspaces.filter((one) => one.projects.some(({ name }) => name === project));
          return [...new Set([own, ...using.flatMap((one) => one.teamId() || [])])];
        },
        ...rejectWhenStopping(stopping, { alertAdmins }),
      },
      deployment: createDeployments(projects, sender.send, parts.machineMs, onDeploymentCall, {
        renewed,
        expires: (token) => void tokens.set(token.variable, token),
        ended: troubles.ended,
      }),
      gitHost: createGitHosts(projects, sender.send, {
        renewed: (token) => renewed([token]),
        ended(project, about, error) {
          troubles.hostEnded(project, about, error);
          if (error && !stopping.aborted)
            log.warn({ err: error, project, repository: about.repository }, 'a call to a Git host failed');
        },
      }),
      settings: { projects, limits, linksTo, backgroundMode, whileWorking },
      slack: {
        ...slack,
        channel: createChannels(slack, rateLimiter, teamId, timing),
        ...rejectWhenStopping(stopping, { postEphemeral, names, isPublic }),
        botUserId: () => workspace.slack.current()?.botUserId,
        workspaceUrl: () => workspace.slack.current()?.url,
      },
      outbox,
      policy: rejectWhenStopping(stopping, workspace.policy),
      deliverMessage: createDelivery({
        slack,
        messages,
        links,
        people,
        threads,
        rateLimiter,
        timing,
        now,
        random,
        log,
        onShown: (urgency, lagMs) => metrics.deliveryLag.observe({ urgency }, lagMs),
        onRetry: () => metrics.retries.add({ of: 'slack' }),
      }),
      published,
      refreshHomes,
      sendEvent: createSendEvent(runs, wake),
      wake,
      stopping,
      now,
      random,
      timing,
      log,
    };

    async function sweep() {
      // Another process may have found that Slack refuses the token.
      const { [slackPart]: last } = await stores.health.load([slackPart]);
      if (last?.refused) await slack.identity().catch(() => {});
      if (teamId() === '') return;
      await stores.teams.save(workspace.tokenId, teamId());
      await remindOfExpiry(teamId());
      await alertOfDeployments(teamId(), troubles.problems());
    }
    parts.health.addProblems(() => {
      const texts = expiring().map(
        ({ variable, expires, leftMs }) =>
          // It may still work on its last day.
          `${variable} ${leftMs <= -24 * HOUR_MS ? 'expired' : 'expires'} on ${expires}. Create a new one and set it; for an API key, set its new date, too.`,
      );
      const text = texts.join(' ');
      return text === '' ? [] : [workspace.problemHere({ name: 'key_expires', level: 'warn', text })];
    });
    return { context, pausedForMs: workspace.slack.pausedForMs, sweep };
  }

  const workspaces = parts.workspaces.map(inWorkspace);
  /** While Slack is down, the platform is polled nevertheless. */
  const recallTeams = parts.workspaces.map(async ({ tokenId, recalled }) => {
    recalled.teamId = (await stores.teams.load(tokenId).catch(onRedisError)) ?? '';
  });
  /** Teams whose work waits, since no workspace is known to have them. */
  const waitingTeams = new Set<string>();
  parts.health.addProblems(() => {
    const isKnown = parts.workspaces.every(({ teamId }) => teamId() !== '');
    const missing = [...waitingTeams].filter((teamId) => workspaceIndex(parts.workspaces, teamId) < 0);
    if (!isKnown || missing.length === 0) return [];
    const text = `Work of ${missing.join(', ')} waits: the settings have no such workspace. Add it again, and restart Docket. Requests expire after a month.`;
    return [{ name: 'workspace_gone', level: 'warn', text }];
  });
  const workers = createWorkers({
    jobs,
    stopping,
    newRef,
    timing,
    telemetry,
    metrics,
    log,
    workspaceOf(teamId = '') {
      const index = workspaceIndex(parts.workspaces, teamId);
      if (index < 0) waitingTeams.add(teamId);
      return workspaces[index];
    },
    connection: redis,
    ready: Promise.all([
      parts.clock.startSync(redis),
      ...recallTeams,
      stores.runs.retryDamaged().catch(onRedisError),
    ]),
    onError: onRedisError,
  });
  closers.add(() => workers.close(timing.shutdownMs));

  const probe = async (api: DocsApi) => {
    if (parts.health.takeProbe(api.keyId)) await api.getExport({ jobId: NO_JOB }).catch(() => {});
  };
  const probeAll = () => Promise.all([...docsApis.values()].map(probe));
  void repeat(stopping, () => timing.problemCheckMs, probeAll);

  const findDeployment: JobContext['deployment'] = (...names) =>
    workspaces.flatMap(({ context }) => context.deployment(...names) ?? [])[0];
  const refresh = () => troubles.refresh(findDeployment).catch(onRedisError);
  void repeat(stopping, () => timing.sweepMs, refresh);
  const shareProblems = () => stores.workerProblems.save(parts.health.problems(), now()).catch(onRedisError);
  // With both roles, the status has them from the process itself.
  if (settings.role === 'worker') void repeat(stopping, () => timing.problemCheckMs, shareProblems);
  const alsoDo = () => Promise.all(workspaces.map(({ sweep }) => sweep()));
  startSweeper({
    due: stores.due,
    wake,
    alsoDo,
    everyMs: timing.sweepMs,
    log,
    stopping,
    onError: onRedisError,
  });
}

/** An id that no export job of the platform has: it is asked for to see whether the platform answers. */
const NO_JOB = 'docket-is-it-there';

/** Returns the platform's API with the key of each project, by the project's name. */
function createDocsApis(
  { projects, docsApiUrl, proxies }: Settings,
  { timing, log, secrets, closers, health, metrics, tracing }: RoleParts,
  watchKey: (keyId: string, accepted: boolean) => void,
): ReadonlyMap<string, DocsApi> {
  const apis = new Map<string, DocsApi>();
  for (const project of projects) {
    const { name, apiKey, apiKeyFile } = project;
    const keyId = keyIdOf(project);
    const api = createDocsApi({
      baseUrl: docsApiUrl,
      apiKey,
      apiKeyFile,
      onNewKey(key) {
        secrets.push(key);
        log.info({ project: name }, 'a new API key was read from its file');
      },
      proxies,
      timeoutMs: timing.docsCallMs,
      log(request) {
        const { operation, error, status, code, durationMs, isOwn } = request;
        log.debug(request, 'docs api');
        metrics.docsCalls.observe({ operation, outcome: error ?? 'ok' }, durationMs);
        tracing.called(`docs ${operation}`, durationMs, error ?? 'ok');
        // A caller that cancels a call, as a stopping worker does, learns nothing about the platform.
        if (error === 'aborted') return;
        const call = { of: name, operation, keyId };
        const problem = docsProblemOf(request, project);
        const isAccepted = problem === undefined && error !== 'forbidden' && request.isOwn;
        if (isAccepted || error === 'key_rejected') watchKey(keyId, isAccepted);
        // A person waits for a call that is not repeatable. A rate limit only delays it.
        const isWaitedFor = !isRepeatable(OPERATIONS[operation]) && problem?.name !== 'docs_limited';
        if (problem === undefined && error !== 'forbidden') health.worked(call, isOwn);
        if (problem) health.failed(call, problem, isWaitedFor || problem.name === 'docs_key', code ?? status);
        // These come from a gateway that has no answer of the platform.
        health.record('docs', status !== undefined && ![502, 503, 504].includes(status));
      },
    });
    apis.set(name, api);
  }
  // The answer of an open call is then lost; the next process asks a person, or polls again.
  closers.add(() => withTimeout(CLOSE_MS, Promise.all([...apis.values()].map((api) => api.close()))));
  return apis;
}

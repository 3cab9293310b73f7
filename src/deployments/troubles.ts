import type { Deployment, NamedSecret, Project, PullRequests } from '../projects.ts';
import { retention, type Timing } from '../runtime/timing.ts';
import type { DeploymentTrouble, ValueStores } from '../store/values.ts';
import type { createDeployments, DeploymentResult } from './deployment.ts';
import { STOPPED } from './github.ts';

/** The trouble of a deployment. `text` is for operators, with the fix. */
export type DeploymentProblem = DeploymentTrouble & Record<'project' | 'deployment' | 'text', string>;

type Projects = readonly Pick<Project, 'name' | 'deployments' | 'pullRequests'>[];

/** In the place of a deployment's name, which has no space: the Git host. */
const PULL_REQUESTS = 'pull requests';

interface TroubleParts {
  store: ValueStores['troubles'];
  projects: Projects;
  timing: Pick<Timing, 'deploymentProblemMs' | 'deploymentCheckMs'>;
  now: () => number;
  stopping: AbortSignal;
  onError: (error: Error) => void;
  /** Returns the fix of a connection by its code; `what` names its host. */
  connectionFix: (code: string, what: string) => string | undefined;
}

/** Answers of a receiver that are about the webhook, whatever the export. */
const ABOUT_WEBHOOK = [401, 403, 404, 410];

const nameOf = (project: string, deployment: string) => `${project} ${deployment}`;

/** What nobody confirms for an hour is over, since nobody calls a deployment in between. */
const isRecent = ({ atMs }: DeploymentTrouble, nowMs: number) => nowMs - atMs < retention.healthMs;

/** Returns the recent troubles of these projects' deployments, as `/readyz` shows problems, also those that are none yet. */
async function loadTroubles(projects: Projects, store: ValueStores['troubles'], nowMs: number) {
  const targets = projects.flatMap(({ name: project, deployments = [], pullRequests }) => [
    ...deployments.flatMap(({ name: deployment }) => {
      const of = nameOf(project, deployment);
      return [of, `${of} workflow`].map((key) => ({ project, deployment, of, key }));
    }),
    ...[pullRequests && nameOf(project, PULL_REQUESTS)].flatMap((of) =>
      of === undefined ? [] : [{ project, deployment: PULL_REQUESTS, of, key: of }],
    ),
  ]);
  const found = await store.load(targets.map(({ key }) => key));
  return targets.flatMap(({ project, deployment, of }, index) => {
    const trouble = found[index];
    if (!trouble || !isRecent(trouble, nowMs)) return [];
    const text = textOf(trouble, project, deployment);
    return [{ ...trouble, project, deployment, of, level: 'warn' as const, text }];
  });
}

/** Returns the problems of these projects' deployments, as all processes have found them. */
export const findDeploymentProblems = async (...args: Parameters<typeof loadTroubles>) =>
  (await loadTroubles(...args)).filter(({ isProblem }) => isProblem);

/** Returns the name of one occurrence of a problem. */
export const problemKey = ({ name, project, deployment, sinceMs }: DeploymentProblem) =>
  `${name}.${nameOf(project, deployment)}.${sinceMs}`;

function textOf({ name, reason, fix }: DeploymentTrouble, project: string, deployment: string): string {
  if (name === 'deployment_workflow')
    return `The workflow of deployment ${deployment} of project ${project} has failed twice in a row. ${fix}`;
  if (name === 'git_host_refused')
    return `The Git host of project ${project} refuses Docket's requests (${reason}). ${fix}`;
  if (name === 'git_host_unreachable')
    return `The Git host of project ${project} doesn't answer (${reason}). ${fix}`;
  return name === 'deployment_refused'
    ? `The deployment ${deployment} of project ${project} rejects exports (${reason}). ${fix}`
    : `The deployment ${deployment} of project ${project} takes no exports (${reason}). ${fix}`;
}

/**
 * Keeps in Redis what is wrong with deployments, because the next call may be another process'. `ended` records the result
 * of a call. `refresh` reads what all processes have found, and asks GitHub for each repository in trouble.
 */
export function createDeploymentTroubles(parts: TroubleParts) {
  const { store, projects, timing, now, stopping, onError } = parts;
  let problems: Awaited<ReturnType<typeof loadTroubles>> = [];
  let saved = Promise.resolve();

  const load = async (name: string) => (await store.load([name]))[0];

  /** Keeps the order of results. */
  function ended(project: string, deployment: Deployment, result: DeploymentResult) {
    // A call that was cut off says nothing.
    if (stopping.aborted) return;
    const name = nameOf(project, deployment.name);
    saved = saved
      .then(() => saveCall(name, deployment, result))
      .then(() => result.run && saveRun(`${name} workflow`, result.run))
      .catch(onError);
  }

  async function saveCall(name: string, deployment: Deployment, { of, failure }: DeploymentResult) {
    const last = await load(name);
    const before = last && isRecent(last, now()) ? last : undefined;
    if (failure === undefined) {
      // The repository may be there although its workflow cannot be started.
      const isOver =
        of === 'send' ||
        before?.check === 'same' ||
        before?.name === 'deployment_unreachable' ||
        !before?.isProblem;
      if (before && isOver) await store.end(name);
      else if (before && of === 'check') await store.save(name, { ...before, check: 'blind' });
      return;
    }
    const { isFinal, status = 500, reason } = failure;
    const sinceMs = before?.sinceMs ?? now();
    const isRefused = isRefusal(status);
    // The receiver refuses this export, and may take the next one.
    if (deployment.webhook && isRefused && status >= 400 && !ABOUT_WEBHOOK.includes(status)) return;
    const isLong = now() - sinceMs >= timing.deploymentProblemMs;
    const isProblem = before?.isProblem || isLong || (isFinal && of !== 'read');
    if (before && of === 'check')
      await store.save(name, { ...before, atMs: now(), check: 'same', isProblem });
    // One run that is not there may have been deleted. The check shows more.
    if (of === 'check' || (of === 'read' && before)) return;
    const canCheck = deployment.github !== undefined && status !== 422;
    await store.save(name, {
      name: isRefused ? 'deployment_refused' : 'deployment_unreachable',
      reason,
      fix: isRefused ? refusalFix(deployment, status) : connectionFix(deployment, reason),
      sinceMs,
      atMs: now(),
      isProblem,
      check: before?.check === 'same' ? 'same' : canCheck ? 'due' : undefined,
    });
  }

  async function saveRun(name: string, { id: runId, conclusion }: NonNullable<DeploymentResult['run']>) {
    if (conclusion === undefined || STOPPED.includes(conclusion)) return;
    const before = await load(name);
    if (conclusion === 'success') return before && store.end(name);
    // It is read again for a day.
    if (before?.runId !== undefined && before.runId >= runId) return;
    const sinceMs = before?.isProblem ? before.sinceMs : now();
    const fix = 'Open its last run in GitHub, and fix what fails there.';
    const state = { reason: '', fix, sinceMs, atMs: now(), isProblem: before !== undefined, runId };
    await store.save(name, { name: 'deployment_workflow', ...state });
  }

  /** Records the end of a call about a repository to a Git host; `rights` are those that its token needs. */
  function hostEnded(
    project: string,
    {
      repository,
      name: of,
      host,
      rights,
    }: Record<'repository' | 'name' | 'rights', string> & { host: PullRequests },
    failure?: { status: number | undefined; reason: string },
  ) {
    if (stopping.aborted) return;
    const name = nameOf(project, PULL_REQUESTS);
    async function saveHost() {
      const last = await load(name);
      const before = last && isRecent(last, now()) ? last : undefined;
      const call = `${of} ${repository}`;
      // Other calls may well succeed, if the token lacks a right.
      if (failure === undefined) return before?.call === call && store.end(name);
      if (before?.isProblem && before.call !== call) return store.save(name, { ...before, atMs: now() });
      const { status = 500, reason } = failure;
      const isRefused = isRefusal(status);
      const sinceMs = before?.sinceMs ?? now();
      const isLong = now() - sinceMs >= timing.deploymentProblemMs;
      await store.save(name, {
        name: isRefused ? 'git_host_refused' : 'git_host_unreachable',
        reason,
        fix: isRefused ? hostFix(host.token, status, repository, rights) : addressFix(reason, 'apiUrl'),
        sinceMs,
        atMs: now(),
        isProblem: before?.isProblem || isRefused || isLong,
        call,
      });
    }
    saved = saved.then(async () => void (await saveHost())).catch(onError);
  }

  const addressFix = (reason: string, what: string) =>
    parts.connectionFix(reason, what) ?? 'Check that it runs, its address and the network.';
  const connectionFix = ({ webhook }: Deployment, reason: string) =>
    addressFix(reason, webhook ? 'webhook.url' : 'github.apiUrl');

  /** `find` returns the calls to a deployment. */
  async function refresh(find: ReturnType<typeof createDeployments>) {
    const all = await loadTroubles(projects, store, now());
    problems = all.filter(({ isProblem }) => isProblem);
    const due = all.filter(
      ({ check, atMs }) => check === 'due' || (check === 'same' && now() - atMs >= timing.deploymentCheckMs),
    );
    const checks = due.map(({ project, deployment }) => {
      const api = find(project, deployment);
      return api?.kind === 'github' && api.check().catch(() => {});
    });
    await Promise.all(checks);
    await saved;
  }

  return { ended, hostEnded, refresh, problems: () => problems };
}

const isRefusal = (status: number) => status >= 300 && status < 500 && ![408, 425, 429].includes(status);

const tokenFix = ({ file, name }: NamedSecret) =>
  file ? `Put a new token into ${file}.` : `Set a new token in ${name}, and restart Docket.`;

function hostFix(token: NamedSecret, status: number, repository: string, rights: string): string {
  if (status === 401) return tokenFix(token);
  return status === 403
    ? `Give its token ${rights}, for ${repository}.`
    : `Check apiUrl, and that ${repository} is there; give its token ${rights}, for it.`;
}

function refusalFix({ webhook, github }: Deployment, status: number): string {
  const isForbidden = status === 401 || status === 403;
  if (webhook)
    return isForbidden
      ? 'Check that its secret is that of webhook.secret, and that no proxy in front of it refuses Docket.'
      : status === 404 || status === 410 || status < 400
        ? 'Check webhook.url.'
        : 'Its log says why.';
  const { token, repository = '', workflow } = github ?? {};
  if (status === 401 && token) return tokenFix(token);
  if (status === 403)
    return `Give its token the right ${workflow ? 'Actions' : 'Contents'}: write for ${repository}.`;
  return status === 422
    ? 'Check github.ref, and the trigger workflow_dispatch and the inputs of the workflow.'
    : `Check that ${repository} has this name and the workflow, and that the token may see it.`;
}

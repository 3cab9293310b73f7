import { type Settings, warningsOf } from '../config/settings.ts';
import { connectionCode, connectionProblem } from '../docs-api/connection-problem.ts';
import { DocsApiSettingsError } from '../docs-api/errors.ts';
import { OPERATIONS } from '../docs-api/operations.ts';
import { fillPath } from '../docs-api/paths.ts';
import { FORBIDDEN_CAUSES } from '../docs-api/problems.ts';
import { parseBaseUrl } from '../docs-api/settings.ts';
import type { Project } from '../projects.ts';
import { type Line, notChecked, ok, warning, wrong } from './lines.ts';

/** How long an answer may take. */
const LIMIT_MS = 5000;

/** The result of a request. `why` contains no sent data. */
type Answer = { status: number; headers: Headers; body: Record<string, unknown> } | { why: string };

/** Sends one request with a key. Follows no redirect; never rejects. The body is empty if it is not a JSON object. */
async function ask(method: 'GET' | 'POST', url: string, key: string): Promise<Answer> {
  try {
    const response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${key}`, accept: 'application/json' },
      redirect: 'manual',
      signal: AbortSignal.timeout(LIMIT_MS),
    });
    const { status, headers } = response;
    return { status, headers, body: parseObject(await response.text()) };
  } catch (error) {
    if (error instanceof Error && error.name === 'TimeoutError')
      return { why: `no answer within ${LIMIT_MS / 1000} s` };
    return { why: connectionCode(error instanceof Error ? error.cause : error) };
  }
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return { ...JSON.parse(text) };
  } catch {
    return {};
  }
}

const COPY_BOT = 'Copy it again from your Slack app, "OAuth & Permissions", Bot User OAuth Token.';
const COPY_APP = 'Create one under "Basic Information", App-Level Tokens, with the scope connections:write.';

/** Checks the bot token, its scopes, and this machine's clock against Slack's answer. */
export async function checkBotToken(settings: Settings, scopes: readonly string[]): Promise<Line[]> {
  const answer = await ask('POST', `${settings.slackApiUrl}auth.test`, settings.slackBotToken);
  return [judgeBotToken(answer, scopes), judgeClock(answer)];
}

function judgeBotToken(answer: Answer, scopes: readonly string[]): Line {
  const name = 'SLACK_BOT_TOKEN';
  if ('why' in answer || answer.body.ok !== true) return slackRefusal(answer, name, COPY_BOT);
  const { body, headers } = answer;
  if (body.bot_id === undefined) return wrong(name, `It is not a bot token. ${COPY_BOT}`);
  const held = (headers.get('x-oauth-scopes') ?? '').split(',').map((scope) => scope.trim());
  const missing = scopes.filter((scope) => !held.includes(scope));
  if (missing.length > 0)
    return wrong(
      name,
      `The app lacks ${missing.join(', ')}. Replace its manifest with manifest.yml, and reinstall it in the workspace.`,
    );
  // Without control characters, which a terminal would obey.
  const team = String(body.team).replace(/\p{C}/gu, '').slice(0, 80);
  return ok(name, `Slack accepts it in the workspace ${team}, with all scopes of manifest.yml.`);
}

function slackRefusal(answer: Answer, name: string, fix: string): Line {
  const checkWay = 'Check the network of this machine, its proxy, and SLACK_API_URL if it is set.';
  if ('why' in answer)
    return wrong(
      name,
      connectionProblem(answer.why, 'Slack') ?? `Slack cannot be reached (${answer.why}). ${checkWay}`,
    );
  const { error } = answer.body;
  if (typeof error !== 'string')
    return wrong(name, `Slack's API does not answer as it should (${answer.status}). ${checkWay}`);
  return wrong(name, `Slack does not accept it (${error.replace(/[^\w-]/g, '').slice(0, 60)}). ${fix}`);
}

/** A synchronized machine differs less. */
const MAX_DIFFERENCE_MS = 5000;

/** From this difference on, Slack's signatures are refused. */
const SIGNED_MS = 300_000;

function judgeClock(answer: Answer): Line {
  const slackMs = 'why' in answer ? Number.NaN : Date.parse(answer.headers.get('date') ?? '');
  if (Number.isNaN(slackMs))
    return notChecked('Clock', 'Slack must answer first: its answer contains the time.');
  const aheadMs = Date.now() - slackMs;
  const differenceMs = Math.abs(aheadMs);
  if (differenceMs <= MAX_DIFFERENCE_MS) return ok('Clock', "This machine's clock is right.");
  const seconds = `${Math.round(differenceMs / 1000)} s ${aheadMs > 0 ? 'ahead' : 'behind'}`;
  const text = `This machine's clock is ${seconds}. Set it from the network (timedatectl set-ntp true). From 5 minutes on, requests from Slack are refused.`;
  return differenceMs >= SIGNED_MS ? wrong('Clock', text) : warning('Clock', text);
}

/** Checks the token of Socket Mode, or the form of the signing secret. The request opens no connection. */
export async function checkRequests(settings: Settings): Promise<Line[]> {
  const { slackApiUrl, slackAppToken } = settings;
  if (slackAppToken === undefined) {
    const warnings = warningsOf(settings).map((text) => warning('SLACK_SIGNING_SECRET', text));
    const text =
      'It has the right form. No call can verify it: once Docket runs, /readyz reports requests with another signature.';
    return warnings.length > 0 ? warnings : [ok('SLACK_SIGNING_SECRET', text)];
  }
  const name = 'SLACK_APP_TOKEN';
  const answer = await ask('POST', `${slackApiUrl}apps.connections.open`, slackAppToken);
  if ('why' in answer || answer.body.ok !== true) return [slackRefusal(answer, name, COPY_APP)];
  return [ok(name, 'Slack accepts it: requests come over Socket Mode, without a public address.')];
}

/** No platform gives this id to a project. */
const NO_PROJECT = 'docket-doctor-asks-for-no-project';

/** Checks the address of the platform, and the key and the id of each project. */
export async function checkProjects(settings: Settings): Promise<Line[]> {
  return await Promise.all(settings.projects.map((project) => checkProject(settings, project)));
}

/** Requests one row of a day's views, which changes nothing. */
async function checkProject({ docsApiUrl, projects }: Settings, project: Project): Promise<Line> {
  const { name, projectId, apiKey, apiKeyVariable } = project;
  try {
    const { origin, prefix } = parseBaseUrl(docsApiUrl);
    const { path } = fillPath(OPERATIONS.getPageViews.path, { projectId: projectId ?? NO_PROJECT });
    const dates = `dateFrom=${dayBefore(86_400_000)}&dateTo=${dayBefore(0)}`;
    const answer = await ask('GET', `${origin}${prefix}${path}?${dates}&limit=1`, apiKey);
    const keyName = projects.length > 1 ? `${apiKeyVariable} (project ${name})` : apiKeyVariable;
    const idName = project.domains === undefined ? 'DOCS_PROJECT_ID' : `projectId of project ${name}`;
    return judgeProject(answer, keyName, idName, projectId);
  } catch (error) {
    if (error instanceof DocsApiSettingsError) return wrong('DOCS_API_URL', error.message);
    throw error;
  }
}

const dayBefore = (ms: number) => new Date(Date.now() - ms).toISOString().slice(0, 10);

function judgeProject(answer: Answer, keyName: string, idName: string, id: string | undefined): Line {
  const url = 'DOCS_API_URL';
  if ('why' in answer)
    return wrong(
      url,
      connectionProblem(answer.why, url) ??
        `The docs platform does not answer there (${answer.why}). Check the address, and the network of this machine.`,
    );
  const { status, body } = answer;
  if (status === 401)
    return wrong(
      keyName,
      'The platform rejects it. Set a valid admin key from the API keys page of its dashboard.',
    );
  if (status === 403)
    return warning(keyName, `The platform accepts it, but forbids this request (403). ${FORBIDDEN_CAUSES}`);
  // The platform's API answers errors as JSON.
  const isPlatform = status === 200 || status === 429 || (status >= 400 && status < 500 && 'error' in body);
  if (!isPlatform || Object.keys(body).length === 0)
    return wrong(
      url,
      `What answers there is not the platform's API (${status}). Set the base address of the API, without /v1 or /v2. If it is right, ask the platform's support.`,
    );
  const copy = 'from the API keys page of the dashboard.';
  if (id === undefined)
    return warning(
      idName,
      `It is not set: exports work, the agent and digests do not. Copy the project's id ${copy}`,
    );
  if (status === 404) return wrong(idName, `The platform does not know it. Copy it again ${copy}`);
  if (status !== 200)
    return warning(idName, `It could not be checked (${status}). Run npm run doctor again later.`);
  return ok(url, 'The docs platform answers, accepts the key, and knows the project.');
}

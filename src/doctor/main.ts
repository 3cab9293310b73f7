import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { parseArgs, styleText } from 'node:util';
import { parse } from 'yaml';
import { type EnvFile, healthAddressOf, readEnvFile } from '../config/env-file.ts';
import { readSettings, redisAddressOf, type Settings, SettingsError } from '../config/settings.ts';
import type { WorkspaceSettings } from '../config/workspaces.ts';
import { createDocsApi } from '../docs-api/client.ts';
import { connectionProblem, DocsApiError, type DocsApiRequest, docsProblemOf } from '../docs-api/errors.ts';
import type { Project } from '../projects.ts';
import { createLog } from '../runtime/log.ts';
import { OperatorError } from '../runtime/operator-error.ts';
import { configureOutgoing } from '../runtime/outgoing.ts';
import { listen } from '../server/http-server.ts';
import { toSlackApiError } from '../slack/errors.ts';
import { createSlackWeb, ORG_WIDE_TEXT } from '../slack/web-calls.ts';
import { findServer, inspectDataDir } from '../store/embedded-redis.ts';
import { setTagName } from '../store/keys.ts';
import { checkRedis, isAllowed } from '../store/redis/check.ts';
import { tagNameOf } from '../store/redis/connections.ts';

interface Line {
  status: 'ok' | 'wrong' | 'warning';
  about: string;
  /** Says what to do, unless all is well. Contains no secret. */
  text: string;
}

const ok = (about: string, text: string): Line => ({ status: 'ok', about, text });
export const wrong = (about: string, text: string): Line => ({ status: 'wrong', about, text });
const warning = (about: string, text: string): Line => ({ status: 'warning', about, text });

/** Returns the path of a file beside package.json. */
export const inRoot = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));

/**
 * Checks everything that Docket needs; with `workspace`, only the tokens of that one. Returns a line for each part, or for
 * each problem of the settings.
 */
export async function diagnose(variables: NodeJS.ProcessEnv, workspace?: string): Promise<Line[]> {
  const file = readEnvFile(inRoot('.env'));
  const env = { ...file.values, ...variables };
  try {
    const settings = readSettings(env);
    configureOutgoing(settings);
    const lines = await Promise.all([
      [judgeEnvFile(file), ok('Settings', 'All are valid.')],
      checkCalls(settings, workspace),
      checkStorage(settings, env.PATH ?? ''),
      checkPort(settings, env),
    ]);
    return lines.flat();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return [
      judgeEnvFile(file),
      ...error.problems.map((text) => wrong('Settings', text)),
      warning('Slack, docs platform, Redis, port', 'Not checked. Fix the settings first.'),
    ];
  }
}

function judgeEnvFile({ problem, warning: flaw, text }: EnvFile): Line {
  if (problem !== undefined) return wrong('.env', problem);
  if (flaw !== undefined) return warning('.env', flaw);
  if (text === undefined) return ok('.env', 'There is none. npm run setup writes one.');
  return ok('.env', 'Its owner alone reads it.');
}

/** How long an answer may take. */
const LIMIT_MS = 5000;

const slackCalls = ({ slackApiUrl: apiUrl }: Settings, token: string) =>
  createSlackWeb({
    ...{ token, apiUrl, timing: { slackCallMs: LIMIT_MS, retryMaxMs: 0 } },
    ...{ log: createLog('silent', []), monotonicMs: () => performance.now(), onCall() {} },
  });

/** Checks what calls can verify: the tokens of Slack, and the platform's address, keys and ids of projects. */
export async function checkCalls(settings: Settings, workspace?: string): Promise<Line[]> {
  const workspaces = settings.workspaces.filter(({ name }) => workspace === undefined || name === workspace);
  const known = settings.workspaces.map(({ name = 'none' }) => name).join(', ');
  if (workspaces.length === 0)
    return [wrong('Settings', `They have no workspace ${workspace}. DOCKET_CONFIG names: ${known}.`)];
  const projects = settings.projects.map((project) => checkProject(settings, project));
  const slack = workspaces.flatMap((one) => [checkBotToken(settings, one), checkRequests(settings, one)]);
  return Promise.all([...slack, ...projects]);
}

/** Checks the bot token, and whether it has the scopes of manifest.yml. */
async function checkBotToken(settings: Settings, workspace: WorkspaceSettings): Promise<Line> {
  const { name, secret } = workspace.botToken;
  const fix = 'Copy it again from your Slack app, "OAuth & Permissions", Bot User OAuth Token.';
  const scopes: string[] = parse(readFileSync(inRoot('manifest.yml'), 'utf8')).oauth_config.scopes.bot;
  return askSlack(name, fix, async () => {
    const answer = await slackCalls(settings, secret).call('auth.test', {});
    if (answer.is_enterprise_install) return wrong(name, ORG_WIDE_TEXT);
    if (answer.bot_id === undefined) return wrong(name, `It is not a bot token. ${fix}`);
    const held = answer.response_metadata?.scopes ?? [];
    const missing = scopes.filter((scope) => !held.includes(scope));
    const lacks = `The app lacks ${missing.join(', ')}. Replace its manifest with manifest.yml, and reinstall it in the workspace.`;
    if (missing.length > 0) return wrong(name, lacks);
    // Without control characters, which a terminal would obey.
    const team = String(answer.team).replace(/\p{C}/gu, '').slice(0, 80);
    return ok(name, `Slack accepts it in the workspace ${team}, with all scopes of manifest.yml.`);
  });
}

/** Returns the result of a check, or Slack's refusal of the token. */
const askSlack = (name: string, fix: string, check: () => Promise<Line>): Promise<Line> =>
  check().catch((error: unknown) => {
    const { kind, code } = toSlackApiError(name, error);
    if (kind !== 'unreachable' && kind !== 'unclear')
      return wrong(name, `Slack does not accept it (${code}). ${fix}`);
    const way = 'Check the network of this machine, its proxy, and SLACK_API_URL if it is set.';
    return wrong(name, connectionProblem(code, 'Slack') ?? `Slack cannot be reached (${code}). ${way}`);
  });

/** Checks the token of Socket Mode, if any. The request opens no connection. */
async function checkRequests(settings: Settings, { appToken, signingSecret }: WorkspaceSettings) {
  if (appToken === undefined) {
    const text = 'It is set. No call can verify it: /readyz reports requests with another signature.';
    return ok(signingSecret?.name ?? '', text);
  }
  const { name, secret } = appToken;
  const fix = 'Create one under "Basic Information", App-Level Tokens, with the scope connections:write.';
  return askSlack(name, fix, async () => {
    await slackCalls(settings, secret).call('apps.connections.open', {});
    return ok(name, 'Slack accepts it: requests come over Socket Mode, without a public address.');
  });
}

/**
 * Checks the platform's address, and a project's key and id, with a request for one row of today's views. Without an id,
 * the request names a project that does not exist.
 */
async function checkProject(settings: Settings, project: Project): Promise<Line> {
  const { docsApiUrl: baseUrl, proxies, projects } = settings;
  const { name, projectId = 'docket-doctor-asks-for-no-project', apiKey, apiKeyFile } = project;
  const keyVariable = project.apiKeyVariable;
  const keyName = projects.length > 1 ? `${keyVariable} (project ${name})` : keyVariable;
  const idName = project.domains === undefined ? 'DOCS_PROJECT_ID' : `projectId of project ${name}`;
  const copy = 'from the API keys page of the dashboard.';
  const isUnset = project.projectId === undefined;
  const unset = `It is not set: exports work; the agent, digests, previews and updates do not. Copy the project's id ${copy}`;
  let last: DocsApiRequest | undefined;
  const log = (request: DocsApiRequest) => {
    last = request;
  };
  const api = createDocsApi({ baseUrl, apiKey, apiKeyFile, proxies, timeoutMs: LIMIT_MS, log });
  const today = new Date().toISOString().slice(0, 10);
  try {
    await api.getPageViews({ projectId, dateFrom: today, dateTo: today, limit: 1 });
  } catch (error) {
    if (!(error instanceof DocsApiError) || last === undefined) throw error;
    const { text } = docsProblemOf(last, project) ?? {};
    if (error.kind === 'key_rejected') return wrong(keyName, `${text} Copy one ${copy}`);
    if (error.kind === 'forbidden') return warning(keyName, String(text));
    if (error.kind === 'rate_limited' || error.kind === 'server')
      return warning(idName, `It could not be checked: ${text}`);
    // The platform's API answers errors as JSON with a text.
    const isAnswer = error.kind === 'not_found' && error.platformMessage !== undefined;
    const other = `What answers there is not the platform's API (${last.status}). Set the base address of the API, without /v1 or /v2.`;
    if (!isAnswer) return wrong('DOCS_API_URL', text ?? other);
    if (!isUnset) return wrong(idName, `The platform does not know it. Copy it again ${copy}`);
  }
  if (isUnset) return warning(idName, unset);
  return ok('DOCS_API_URL', 'The docs platform answers, accepts the key, and knows the project.');
}

/** Checks the Redis of the settings, or whether Docket can start its own. Starts none, and writes nothing. */
async function checkStorage(settings: Settings, searchPath: string): Promise<Line[]> {
  const address = redisAddressOf(settings);
  if (address === undefined) return [checkOwnRedis(settings.dataDir, searchPath)];
  setTagName(tagNameOf(address));
  const { problems, version } = await checkRedis(address);
  if (problems.length === 0)
    return [ok('Redis', `${version} answers. It keeps its data on disk, and never drops keys.`)];
  return problems.map((problem) => {
    if (isAllowed(problem, settings.redisAllow))
      return warning('Redis', `${problem.text} REDIS_ALLOW accepts it.`);
    return (problem.level === 'warn' ? warning : wrong)('Redis', problem.text);
  });
}

function checkOwnRedis(dataDir: string, searchPath: string): Line {
  try {
    inspectDataDir(dataDir);
    const program = findServer(searchPath);
    const text = `REDIS_URL is not set: Docket starts its own ${program}, with its data in ${dataDir}.`;
    return ok('Redis', text);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return wrong('Redis', error.message);
  }
}

/** Tries to listen on Docket's port, unless Docket itself does. */
async function checkPort(settings: Settings, env: NodeJS.ProcessEnv): Promise<Line> {
  const name = settings.role === 'worker' ? 'HEALTH_PORT' : 'PORT';
  const health = `http://${healthAddressOf(env)}/healthz`;
  const answer = await fetch(health, { signal: AbortSignal.timeout(1000) }).catch(() => undefined);
  if (answer?.ok) return ok(name, 'Docket is running, and answers there.');
  const server = createServer();
  try {
    await listen(server, name, name === 'PORT' ? settings.port : settings.healthPort, settings.host);
    server.close();
    return ok(name, 'It is free.');
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return wrong(name, error.message);
  }
}

const SIGNS = { ok: ['✔', 'green'], wrong: ['✖', 'red'], warning: ['!', 'yellow'] } as const;

/** Returns the printed lines, in colours if the standard output shows them. */
export const render = (lines: readonly Line[]): string =>
  lines
    .map(({ status, about, text }) => {
      const [sign, colour] = SIGNS[status];
      return `${styleText(colour, `${sign} ${status.padEnd(7)}`)} ${about}: ${text}\n`;
    })
    .join('');

/** Returns whether there are no errors; warnings do not count. */
export const isGood = (lines: readonly Line[]): boolean => lines.every(({ status }) => status !== 'wrong');

/** Returns the arguments of setup and doctor. Unknown ones are ignored. */
export function readArguments() {
  const options = { workspace: { type: 'string' } } as const;
  const { values, positionals } = parseArgs({ options, strict: false, allowPositionals: true });
  return { workspace: values.workspace?.toString(), positionals };
}

/** Prints a line for each part that Docket needs, and ends the process: with 1 on an error, else with 0. */
async function main(env: NodeJS.ProcessEnv): Promise<void> {
  const { workspace } = readArguments();
  const lines = await diagnose(env, workspace);
  const count = (wanted: Line['status']) => lines.filter(({ status }) => status === wanted).length;
  const counts = `${count('wrong')} wrong, ${count('warning')} to look at.`;
  process.stdout.write(`${render(lines)}${counts}\n`, () => process.exit(isGood(lines) ? 0 : 1));
}

if (import.meta.main) await main(process.env);

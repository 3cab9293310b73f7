import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { styleText } from 'node:util';
import { type EnvFile, healthAddressOf } from '../config/env-file.ts';
import { redisAddressOf, type Settings } from '../config/settings.ts';
import { createDocsApi } from '../docs-api/client.ts';
import { DocsApiError, type DocsApiRequest, docsProblemOf } from '../docs-api/errors.ts';
import type { Project } from '../projects.ts';
import { OperatorError } from '../runtime/operator-error.ts';
import { listen } from '../server/http-server.ts';
import { findServer, inspectDataDir } from '../store/embedded-redis.ts';
import { setTagName } from '../store/keys.ts';
import { checkRedis, isAllowed } from '../store/redis/check.ts';
import { tagNameOf } from '../store/redis/connections.ts';

/** The result of a check, as a printed line. */
export interface Line {
  status: 'ok' | 'wrong' | 'warning';
  about: string;
  /** Says what to do, unless all is well. Contains no secret. */
  text: string;
}

export const ok = (about: string, text: string): Line => ({ status: 'ok', about, text });
export const wrong = (about: string, text: string): Line => ({ status: 'wrong', about, text });
export const warning = (about: string, text: string): Line => ({ status: 'warning', about, text });

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

/** Returns the path of a file beside package.json. */
export const inRoot = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));

/** How long an answer may take. */
export const LIMIT_MS = 5000;

/** Returns the line of a check that returns its good text, or throws an `OperatorError`. */
async function lineOf(about: string, check: () => Promise<string> | string): Promise<Line> {
  try {
    return ok(about, await check());
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return wrong(about, error.message);
  }
}

export function judgeEnvFile({ problem, warning: flaw, text }: EnvFile): Line {
  if (problem !== undefined) return wrong('.env', problem);
  if (flaw !== undefined) return warning('.env', flaw);
  return ok(
    '.env',
    text === undefined ? 'There is none. npm run setup writes one.' : 'Its owner alone reads it.',
  );
}

/** Checks the Redis of the settings, or whether Docket can start its own. Starts none. Leaves no data behind. */
export async function checkStorage(settings: Settings, searchPath: string): Promise<Line[]> {
  const { dataDir, redisAllow } = settings;
  const address = redisAddressOf(settings);
  if (address === undefined) {
    const own = await lineOf('Redis', () => {
      inspectDataDir(dataDir);
      return `REDIS_URL is not set: Docket starts its own ${findServer(searchPath)}, with its data in ${dataDir}.`;
    });
    return [own];
  }
  setTagName(tagNameOf(address));
  const { problems, version, refusal } = await checkRedis(address, { writes: true });
  if (problems.length === 0) {
    const refused = `Redis answers, but refuses a write (${refusal}). OOM is a full Redis, MISCONF a full disk, NOREPLICAS too few replicas, NOPERM a missing right: docs/scaling.md has the line that grants what Docket needs.`;
    const good = `${version} answers and takes a write. It keeps its data on disk, and never drops keys.`;
    return [refusal === undefined ? ok('Redis', good) : wrong('Redis', refused)];
  }
  return problems.map((problem) => {
    const { level, text } = problem;
    if (isAllowed(problem, redisAllow)) return warning('Redis', `${text} REDIS_ALLOW accepts it.`);
    return (level === 'warn' ? warning : wrong)('Redis', text);
  });
}

/** Tries to listen on Docket's port, unless Docket itself does. */
export async function checkPort(settings: Settings, env: NodeJS.ProcessEnv): Promise<Line> {
  const { role, port, healthPort, host } = settings;
  const name = role === 'worker' ? 'HEALTH_PORT' : 'PORT';
  const health = `http://${healthAddressOf(env)}/healthz`;
  const answer = await fetch(health, { signal: AbortSignal.timeout(1000) }).catch(() => undefined);
  if (answer?.ok) return ok(name, 'Docket is running, and answers there.');
  return lineOf(name, async () => {
    const server = createServer();
    await listen(server, name, role === 'worker' ? healthPort : port, host);
    server.close();
    return 'It is free.';
  });
}

/**
 * Checks the platform's address, and a project's key and id, with a request for one row of today's views. Without an id,
 * the request names a project that does not exist.
 */
export async function checkProject(settings: Settings, project: Project): Promise<Line> {
  const { docsApiUrl: baseUrl, proxies, projects } = settings;
  const { name, projectId = 'docket-doctor-asks-for-no-project', apiKey, apiKeyFile } = project;
  const keyVariable = project.apiKeyVariable;
  const keyName = projects.length > 1 ? `${keyVariable} (project ${name})` : keyVariable;
  const idName = project.domains === undefined ? 'DOCS_PROJECT_ID' : `projectId of project ${name}`;
  const copy = 'from the API keys page of the dashboard.';
  const isUnset = project.projectId === undefined;
  const unset = `It is not set: only exports work. Copy the project's id ${copy}`;
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

import type { Settings } from '../config/settings.ts';
import { OPERATIONS } from '../docs-api/operations.ts';
import { fillPath } from '../docs-api/paths.ts';
import { parseBaseUrl } from '../docs-api/settings.ts';
import type { Project } from '../projects.ts';
import { ask, type HttpAnswer, type HttpParts } from './http.ts';
import { probeRedis, type RedisAnswer, type RedisParts } from './probe-redis.ts';

/** What the platform said to a project's key. */
export interface DocsAnswer {
  project: Project;
  answer: HttpAnswer;
}

/** What is asked outside, each once, when the first check wants it. */
export interface Probes {
  botToken(): Promise<HttpAnswer>;
  /** `undefined` when there is no token. */
  appToken(): Promise<HttpAnswer | undefined>;
  docs(): Promise<DocsAnswer[]>;
  redis(): Promise<RedisAnswer>;
}

/** No platform gives it to an export. */
const UNKNOWN_JOB = 'docket-doctor-asks-for-no-job';

export function createProbes(settings: Settings, parts: HttpParts & RedisParts): Probes {
  const slack = (method: string, token: string) =>
    ask(parts, 'POST', `${settings.slackApiUrl}${method}`, token);
  return {
    botToken: once(() => slack('auth.test', settings.slackBotToken)),
    appToken: once(async () =>
      settings.slackAppToken === undefined
        ? undefined
        : await slack('apps.connections.open', settings.slackAppToken),
    ),
    docs: once(() => Promise.all(settings.projects.map((project) => askDocs(settings, project, parts)))),
    redis: once(() => probeRedis(settings, parts)),
  };
}

/**
 * Asks a question that changes nothing. With a project's id it is for one row of a day's views: only analytics tell an
 * unknown project, at the cost of one of the hour's requests. Without one it is for an export that does not exist.
 */
async function askDocs({ docsApiUrl }: Settings, project: Project, parts: HttpParts): Promise<DocsAnswer> {
  const { origin, prefix } = parseBaseUrl(docsApiUrl);
  const { projectId, apiKey } = project;
  const { path } =
    projectId === undefined
      ? fillPath(OPERATIONS.getExport.path, { jobId: UNKNOWN_JOB })
      : fillPath(OPERATIONS.getPageViews.path, { projectId });
  const query = projectId === undefined ? '' : `?${yesterday(parts.machineMs())}&limit=1`;
  return { project, answer: await ask(parts, 'GET', `${origin}${prefix}${path}${query}`, apiKey) };
}

/** One finished day: without dates a platform might add up all there is. */
function yesterday(nowMs: number): string {
  const [dateFrom = '', dateTo = ''] = [nowMs - 86_400_000, nowMs].map((ms) =>
    new Date(ms).toISOString().slice(0, 10),
  );
  return String(new URLSearchParams({ dateFrom, dateTo }));
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

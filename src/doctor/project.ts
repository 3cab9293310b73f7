import type { Settings } from '../config/settings.ts';
import { createDocsApi } from '../docs-api/client.ts';
import { DocsApiError, type DocsApiRequest, docsProblemOf } from '../docs-api/errors.ts';
import type { Project } from '../projects.ts';
import { LIMIT_MS, type Line, ok, warning, wrong } from './lines.ts';

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

import type { DocsApiOperation } from './errors.ts';

interface Route {
  method: 'GET' | 'POST';
  path: string;
}

/** Method and path template of each operation. `getAgentJob` and `createAgentJob` are not in the contract. */
export const ROUTES: Record<DocsApiOperation, Route> = {
  startExport: { method: 'POST', path: '/v1/static-export/jobs' },
  getExport: { method: 'GET', path: '/v1/static-export/jobs/{jobId}' },
  createBundle: { method: 'POST', path: '/v1/static-export/jobs/{jobId}/bundle' },
  sendFollowUp: { method: 'POST', path: '/v2/agent/{projectId}/job/{jobId}/message' },
  getAgentJob: { method: 'GET', path: '/v2/agent/{projectId}/job/{jobId}' },
  createAgentJob: { method: 'POST', path: '/v2/agent/{projectId}/job' },
  getPageViews: { method: 'GET', path: '/v1/analytics/{projectId}/views' },
};

/** Fills a path template. An id never changes the path: one that could is refused by `isSafeId` before. */
export function fillPath(template: string, ids: Record<string, string>): string {
  return template.replace(/\{(\w+)\}/gu, (_, name: string) => encodeURIComponent(ids[name] ?? ''));
}

/** Slack's buttons hold 2000 characters, and ours carry more than an id. */
const MAX_ID_LENGTH = 512;

/**
 * Whether an id can stand in a path. Slashes and dot segments are refused, encoded ones too: addresses are normalized
 * on the way, and some proxies decode `%2F` first.
 */
export function isSafeId(id: string): boolean {
  if (id.trim() === '' || id.length > MAX_ID_LENGTH || !id.isWellFormed() || /\p{Cc}/u.test(id)) return false;
  return !/[/\\]|%2f|%5c/iu.test(id) && !/^(?:\.|%2e){1,2}$/iu.test(id);
}

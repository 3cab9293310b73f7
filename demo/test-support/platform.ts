import { createStandInPlatform, type StandInPlatformOptions } from '../docs-platform/platform.ts';

export const START_MS = Date.UTC(2026, 8, 21, 12);
export const HOUR_MS = 3_600_000;

/** The stand-in platform on a clock that the test moves, and its calls with a key that is valid. */
export function standIn(options: StandInPlatformOptions = {}) {
  const clock = { ms: START_MS };
  const platform = createStandInPlatform({ nowMs: () => clock.ms, ...options });
  const auth = { authorization: `Bearer ${platform.apiKey}` };

  async function call(method: 'GET' | 'POST', path: string, init: { body?: unknown; headers?: object } = {}) {
    const { body, headers } = init;
    const answer = await platform.fetch(`http://docs.test${path}`, {
      method,
      headers: { ...auth, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: answer.status, headers: answer.headers, body: JSON.parse(await answer.text()) };
  }

  const start = (body: unknown = { domain: 'docs.acme.com' }) =>
    call('POST', '/v1/static-export/jobs', { body });
  const poll = async (jobId: string) => (await call('GET', `/v1/static-export/jobs/${jobId}`)).body;
  const bundle = (jobId: string) => call('POST', `/v1/static-export/jobs/${jobId}/bundle`);
  const job = `/v2/agent/${platform.projectId}/job`;
  const say = (jobId: string, body: unknown = { prompt: 'x' }) =>
    call('POST', `${job}/${jobId}/message`, { body });
  const views = (query = '') => call('GET', `/v1/analytics/${platform.projectId}/views${query}`);
  const readers = (
    operation: 'visitors' | 'searches' | 'feedback' | 'assistant',
    query = '',
    projectId = platform.projectId,
  ) => {
    const path = operation === 'feedback' ? 'feedback/by-page' : operation;
    return call('GET', `/v1/analytics/${projectId}/${path}?${query}`);
  };
  return { platform, clock, call, start, poll, bundle, job, say, views, readers };
}

import { describe, expect, onTestFinished, test } from 'vitest';
import { createStandInPlatform, type StandInPlatformOptions } from '../../demo/docs-platform/platform.ts';
import { clientOf, errorOf } from '../support/docs-api/servers.ts';

const START_MS = Date.UTC(2026, 8, 21, 12);

async function platformAndClient(options: StandInPlatformOptions = {}) {
  const clock = { ms: START_MS };
  const platform = createStandInPlatform({ nowMs: () => clock.ms, ...options });
  const server = await platform.listen();
  onTestFinished(() => server.close());
  const api = clientOf(server.url, { apiKey: platform.apiKey });
  return { platform, api, clock };
}

describe('an export', () => {
  test('is started, followed and bundled', async () => {
    const { platform, api, clock } = await platformAndClient();
    platform.plan({ pages: 40, durationMs: 10_000, queuedMs: 1000 });

    const started = await api.startExport({ domain: 'docs.acme.com', version: 'v2' });
    expect(started).toMatchObject({ status: 'queued', rawStatus: 'queued', createdAt: START_MS });
    expect(platform.starts).toEqual([
      { domain: 'docs.acme.com', version: 'v2', jobId: started.jobId, atMs: START_MS },
    ]);

    clock.ms += 6000;
    expect(await api.getExport({ jobId: started.jobId })).toEqual({
      status: 'running',
      rawStatus: 'running',
      progress: { fraction: 0.5 },
      pageCount: 20,
      createdAt: START_MS,
      updatedAt: clock.ms,
    });

    clock.ms += 5000;
    expect(await api.getExport({ jobId: started.jobId })).toMatchObject({
      status: 'completed',
      pageCount: 40,
    });
    const link = await api.createBundle({ jobId: started.jobId });
    expect(link.expiresAt).toBe(clock.ms + platform.linkLifeMs);
    const bundle = await fetch(link.bundleUrl);
    expect((await bundle.arrayBuffer()).byteLength).toBe(link.sizeBytes);
  });

  test('works where the platform only keeps to the contract, and sends nothing that was not asked for', async () => {
    const { platform, api, clock } = await platformAndClient({ additions: false });
    const started = await api.startExport({ domain: 'docs.acme.com', version: undefined, paths: undefined });
    expect(started).toEqual({ jobId: started.jobId, status: 'queued', rawStatus: '' });
    expect(platform.wire.calls[0]?.detail).toEqual({ body: { domain: 'docs.acme.com' } });

    clock.ms += 500;
    expect(await api.getExport({ jobId: started.jobId })).toMatchObject({
      status: 'running',
      progress: { fraction: 0.5 },
    });
    clock.ms += 500;
    expect(await api.getExport({ jobId: started.jobId })).toEqual({
      status: 'completed',
      rawStatus: 'completed',
    });
    expect(await api.createBundle({ jobId: started.jobId })).toEqual({
      bundleUrl: expect.stringContaining('X-Signature='),
      expiresAt: clock.ms + platform.linkLifeMs,
    });
  });

  test('tells why it failed', async () => {
    const { platform, api } = await platformAndClient();
    const { jobId } = await api.startExport({ domain: 'docs.acme.com' });
    platform.fail(jobId, 'Page guides/x failed\n to render');
    expect(await api.getExport({ jobId })).toMatchObject({
      status: 'failed',
      error: 'Page guides/x failed to render',
    });
  });

  test('keeps a status that nobody knows', async () => {
    const { platform, api } = await platformAndClient();
    platform.plan({ runningStatus: 'packaging', progress: 'text', pageCount: 'text', dates: 'seconds' });
    const { jobId } = await api.startExport({ domain: 'docs.acme.com' });
    platform.hold(jobId, 0.95);
    expect(await api.getExport({ jobId })).toMatchObject({
      status: 'unknown',
      rawStatus: 'packaging',
      progress: { text: 'packaging' },
      pageCount: 11,
      createdAt: START_MS,
    });
  });

  test('has no bundle before it has completed', async () => {
    const { platform, api } = await platformAndClient();
    platform.hold('docs.acme.com');
    const { jobId } = await api.startExport({ domain: 'docs.acme.com' });
    expect(await errorOf(api.createBundle({ jobId }))).toMatchObject({
      kind: 'conflict',
      status: 409,
      retryable: false,
    });
  });

  test('is refused without the plan, for an unknown domain, and with a wrong key', async () => {
    const { platform, api } = await platformAndClient();
    expect(await errorOf(api.startExport({ domain: 'docs.other.com' }))).toMatchObject({
      kind: 'bad_request',
      happened: 'no',
      retryable: false,
      platformMessage: 'Unknown domain: docs.other.com',
    });
    platform.enterprise = false;
    expect(await errorOf(api.startExport({ domain: 'docs.acme.com' }))).toMatchObject({
      kind: 'forbidden',
      happened: 'no',
    });
    const { url } = await platform.listen();
    const stranger = clientOf(url, { apiKey: `${platform.keyPrefix}another` });
    expect(await errorOf(stranger.startExport({ domain: 'docs.acme.com' }))).toMatchObject({
      kind: 'key_rejected',
      happened: 'no',
    });
    expect(platform.starts).toEqual([]);
  });
});

describe('an agent job', () => {
  test('takes an instruction and opens a pull request', async () => {
    const { platform, api, clock } = await platformAndClient();
    const jobId = platform.agent.add();
    const { projectId } = platform;
    platform.agent.plan({ durationMs: 5000 });

    const sent = await api.sendFollowUp({ projectId, jobId, prompt: 'Also add error handling' });
    expect(sent).toEqual({
      status: 'active',
      rawStatus: 'active',
      repository: 'https://github.com/acme/docs',
      ref: 'agent/quickstart',
      model: 'docs-agent-1',
      createdAt: START_MS,
    });
    clock.ms += 5000;
    expect(await api.getAgentJob({ projectId, jobId })).toMatchObject({
      status: 'completed',
      prLink: 'https://github.com/acme/docs/pull/101',
    });
    expect(platform.agent.messages.map(({ prompt }) => prompt)).toEqual(['Also add error handling']);
  });

  test.each([
    [404, 'not_found'],
    [405, 'unsupported'],
  ] as const)('is not created where the platform answers %s', async (createAgentJobs, kind) => {
    const { platform, api } = await platformAndClient({ createAgentJobs });
    const { projectId } = platform;
    expect(await errorOf(api.createAgentJob({ projectId, prompt: 'x' }))).toMatchObject({
      kind,
      happened: 'no',
    });
  });
});

describe('what readers looked for', () => {
  test('is read as the platform tells it', async () => {
    const { platform, api } = await platformAndClient();
    const week = { projectId: platform.projectId, dateFrom: '2026-09-14', dateTo: '2026-09-21' };
    platform.readers.silence('2026-09-14', '2026-09-21');
    platform.readers.setVisitors('2026-09-14', '2026-09-21', { human: 90, ai: 20, total: 100 });
    platform.readers.setSearches('2026-09-14', [
      { searchQuery: 'sso okta', hits: 41 },
      { searchQuery: 'cors', hits: 40, clicks: 10, topClickedPage: '/api/cors' },
    ]);
    platform.readers.setFeedback('2026-09-15', [{ path: '/a', thumbsUp: 1, thumbsDown: 4 }]);
    platform.readers.setConversations('2026-09-16', [
      { resolutionStatus: 'unanswered', queryCategory: 'billing', query: 'I am ana@reader.example' },
      {},
    ]);

    expect(await api.getVisitors({ ...week, limit: 1 })).toEqual({
      totals: { human: 90, ai: 20, total: 100 },
    });
    const first = await api.getSearches({ ...week, limit: 1 });
    expect(first).toEqual({
      searches: [{ searchQuery: 'sso okta', hits: 41, ctr: 0 }],
      totalSearches: 81,
      nextCursor: expect.any(String),
    });
    expect(await api.getSearches({ ...week, limit: 1, cursor: first.nextCursor })).toEqual({
      searches: [{ searchQuery: 'cors', hits: 40, ctr: 0.25, topClickedPage: '/api/cors' }],
      totalSearches: 81,
    });
    expect(await api.getFeedbackByPage({ ...week, limit: 100 })).toEqual({
      feedback: [{ path: '/a', thumbsUp: 1, thumbsDown: 4 }],
      hasMore: false,
    });
    const latest = await api.getAssistantConversations({ ...week, limit: 1 });
    expect(latest).toEqual({
      conversations: [{ resolutionStatus: 'answered' }],
      hasMore: true,
      nextCursor: expect.any(String),
    });
    expect(await api.getAssistantConversations({ ...week, limit: 1, cursor: latest.nextCursor })).toEqual({
      conversations: [{ resolutionStatus: 'unanswered', queryCategory: 'billing' }],
      hasMore: false,
    });
  });
});

test('the name of a key is the same for clients that share it, and does not give it away', () => {
  const [one, same, other] = ['adm_one', 'adm_one', 'adm_two'].map(
    (apiKey) => clientOf('http://127.0.0.1:1', { apiKey }).keyId,
  );
  expect(one).toBe(same);
  expect(one).not.toBe(other);
  expect(one).not.toContain('one');
});

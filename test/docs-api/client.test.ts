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

test('the name of a key is the same for clients that share it, and does not give it away', () => {
  const [one, same, other] = ['adm_one', 'adm_one', 'adm_two'].map(
    (apiKey) => clientOf('http://127.0.0.1:1', { apiKey }).keyId,
  );
  expect(one).toBe(same);
  expect(one).not.toBe(other);
  expect(one).not.toContain('one');
});

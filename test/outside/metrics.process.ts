import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { registry } from '../../src/commands/index.ts';
import { requestNames } from '../../src/commands/registry.ts';
import { OPERATIONS } from '../../src/docs-api/operations.ts';
import { queueNames } from '../../src/jobs/engine/queue.ts';
import { jobs } from '../../src/jobs/index.ts';
import { revision, version } from '../../src/runtime/version.ts';
import { methodScopes } from '../../src/slack/web-calls.ts';
import { urgencies } from '../../src/store/messages.ts';
import { limitNames } from '../../src/store/rate-limit.ts';
import { until } from '../support/flows/reading.ts';
import { createWorld, type World } from '../support/flows/world.ts';
import { type Sample, sampleValue, scrape } from '../support/metrics.ts';

/** Waits until what a bot shows passes. */
const shows = (port: number, check: (samples: Sample[]) => void) =>
  vi.waitFor(async () => check(await scrape(port)), 10_000);

const count = (samples: readonly Sample[], name: string, labels: Record<string, string>) =>
  sampleValue(samples, `${name}_count`, labels);

describe('a bot of all roles', () => {
  const config =
    'projects:\n  geheim:\n    domains: [docs.acme.com]\n    projectId: prj_1\nallow:\n  agent: [U0BEN]\n';
  let world: World;
  beforeAll(async () => {
    world = await createWorld();
    await world.startBot({ config });
  });
  afterAll(() => world.close());
  const port = () => world.bots[0]?.port ?? 0;
  const ana = () => world.slack.person('ana');

  test('tells what an export took, from the command to what people see', async () => {
    await ana().types('#docs', '/docs-export docs.acme.com');
    await until(world, '#docs', ['42%']);
    world.platform.finish('docs.acme.com');
    await until(world, '#docs', [', took']);
    await shows(port(), (samples) => {
      const command = { kind: 'command', name: '/docs-export', outcome: 'ok' };
      expect(count(samples, 'docket_request_duration_seconds', command)).toBe(1);
      expect(
        count(samples, 'docket_job_duration_seconds', { job: 'export', outcome: 'again' }),
      ).toBeGreaterThan(0);
      expect(
        count(samples, 'docket_job_duration_seconds', { job: 'outbox', outcome: 'done' }),
      ).toBeGreaterThan(2);
      const start = { operation: 'startExport', outcome: 'ok' };
      expect(count(samples, 'docket_docs_api_request_duration_seconds', start)).toBe(1);
      const post = { method: 'chat.postMessage', outcome: 'ok' };
      expect(count(samples, 'docket_slack_call_duration_seconds', post)).toBe(3);
      expect(count(samples, 'docket_delivery_lag_seconds', { urgency: 'ending' })).toBe(1);
      expect(count(samples, 'docket_delivery_lag_seconds', { urgency: 'state' })).toBeGreaterThan(0);
      expect(sampleValue(samples, 'docket_limit_slots_total', { limit: 'post', outcome: 'taken' })).toBe(3);
      expect(sampleValue(samples, 'docket_limit_used_ratio', { limit: 'edit' })).toBeGreaterThanOrEqual(0);
      expect(sampleValue(samples, 'docket_redis_up')).toBe(1);
      expect(sampleValue(samples, 'docket_queue_jobs', { queue: 'docs-export', state: 'active' })).toBe(0);
      expect(sampleValue(samples, 'docket_queue_oldest_waiting_seconds', { queue: 'docs-export' })).toBe(0);
      expect(sampleValue(samples, 'docket_outbox_oldest_seconds', { urgency: 'ending' })).toBe(0);
      expect(sampleValue(samples, 'docket_rejected_keys')).toBe(0);
    });
  });

  test('tells what was refused, what was tried again, and what a wrong answer was', async () => {
    const before = await scrape(port());
    await ana().types('#docs', '/docs-agent new "Fix it"');
    world.slack.wire.order('chat.postMessage', { kind: 'answer', status: 503 });
    world.platform.wire.order('GET /v1/static-export/jobs/{jobId}', { kind: 'answer', status: 500 });
    await ana().types('#docs', '/docs-export docs.acme.com --version 2');
    await until(world, '#docs', ['42%']);
    await shows(port(), (samples) => {
      const grown = (name: string, labels: Record<string, string>) =>
        (sampleValue(samples, name, labels) ?? 0) - (sampleValue(before, name, labels) ?? 0);
      expect(grown('docket_refusals_total', { reason: 'not_permitted' })).toBe(1);
      expect(
        grown('docket_request_duration_seconds_count', { name: '/docs-agent', outcome: 'refused' }),
      ).toBe(1);
      expect(grown('docket_retries_total', { of: 'slack' })).toBe(1);
      expect(grown('docket_upstream_calls_total', { upstream: 'slack', outcome: 'unanswered' })).toBe(1);
      const wrong = { operation: 'getExport', outcome: 'server' };
      expect(grown('docket_docs_api_request_duration_seconds_count', wrong)).toBe(1);
    });
  });

  test('no name that people choose becomes a label', async () => {
    const names = ['evil-"}\\n1.example', 'docs.geheim.example', '__proto__'];
    for (const name of names) await ana().types('#docs', `/docs-export ${name}`);
    world.slack.wire.order('views.open', {
      kind: 'answer',
      status: 200,
      body: { ok: false, error: 'evil_code' },
    });
    await ana().types('#docs', '/docs-export');
    const samples = await scrape(port());
    const written = JSON.stringify(samples);
    for (const secret of [...names, 'docs.acme.com', 'geheim', 'U0ANA', 'C0', 'T0ACME', 'evil_code', 'prj_1'])
      expect(written).not.toContain(secret);
    for (const { labels } of samples)
      for (const [label, value] of Object.entries(labels))
        if (!['le', 'version', 'revision', 'role'].includes(label))
          expect([label, value, knownValues.has(value)]).toEqual([label, value, true]);
  });
});

/** The words of the program, and the names of its registries. */
const words = `
  command button modal shortcut event ok refused failed done again broke gave_up handed_back docs slack job error warn
  answered unanswered taken waited held waiting active delayed not_permitted another_workspace person_unknown
  missing_scope slack_away redis in_doubt unsigned clock slack_signature disk paused late bad_request key_rejected forbidden not_found
  unsupported conflict rate_limited rejected redirect server timeout connection unreadable aborted place blocks missing
  limited token unreachable unclear docs_key docs_forbidden docs_limited docs_failing docs_unreachable slack_token
  slack_limited slack_unreachable redis_unreachable redis_volatile`;
const knownValues = new Set<string>([
  ...words.trim().split(/\s+/),
  ...[...requestNames(registry), ...jobs.map(({ name }) => name)],
  ...[...queueNames, ...limitNames, ...urgencies, ...Object.keys(OPERATIONS), ...Object.keys(methodScopes)],
]);

describe('each role', () => {
  test.each(['web', 'worker'])('shows what is in Redis: %s', async (role) => {
    const world = await createWorld();
    const bot = await world.startBot({
      process: true,
      env: { DOCKET_ROLE: role, ...(role === 'worker' && { HEALTH_PORT: '0' }) },
    });
    expect(bot.output()).toContain(`"version":"${version}","revision":"${revision}","msg":"Docket is up"`);
    const healthPort = /"healthPort":(\d+)/.exec(bot.output())?.[1];
    await shows(Number(healthPort ?? bot.port), (samples) => {
      expect(sampleValue(samples, 'docket_redis_up')).toBe(1);
      expect(sampleValue(samples, 'docket_queue_jobs', { queue: 'docs-export', state: 'waiting' })).toBe(0);
      expect(sampleValue(samples, 'docket_build_info', { role, version, revision })).toBe(1);
    });
    await world.close();
  });
});

describe('while Redis is', () => {
  test.each(['dead', 'frozen'])('%s, all else is shown at once, and it comes back by itself', async (how) => {
    const world = await createWorld();
    const { port } = await world.startBot();
    if (how === 'dead') await world.redis.kill();
    else world.redis.freeze();
    await shows(port, (samples) => {
      expect(sampleValue(samples, 'docket_redis_up')).toBe(0);
      expect(
        samples.some(({ name }) => /^docket_(?:queue|outbox|rejected|limit_(?:used|waiting))/.test(name)),
      ).toBe(false);
      expect(sampleValue(samples, 'process_resident_memory_bytes')).toBeGreaterThan(0);
    });
    const many = await Promise.all(Array.from({ length: 5 }, () => scrape(port)));
    for (const samples of many) expect(sampleValue(samples, 'docket_redis_up')).toBe(0);
    if (how === 'dead') await world.redis.start();
    else world.redis.thaw();
    await shows(port, (samples) => {
      expect(sampleValue(samples, 'docket_redis_up')).toBe(1);
      expect(sampleValue(samples, 'docket_queue_jobs', { queue: 'docs-agent', state: 'waiting' })).toBe(0);
    });
    await world.close();
  });
});

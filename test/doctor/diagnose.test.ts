import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CHECKS } from '../../src/doctor/checks.ts';
import { startEmbeddedRedis } from '../../src/store/embedded/embedded-redis.ts';
import { doctorForTests } from '../support/doctor.ts';
import { rowsOf } from './diagnose-rows.ts';

const world = doctorForTests();
const { findingsOf } = world;
const rows = rowsOf(world);

test('where all is good, every line says so, in a fixed order', async () => {
  const findings = await findingsOf({});
  expect(Object.values(findings).filter(({ status }) => status !== 'ok')).toEqual([]);
  expect(Object.keys(findings)).toEqual(CHECKS.map(({ id }) => id));
});

const own = { REDIS_URL: '' };
const JOB = 'GET /v1/static-export/jobs/{jobId}';

test.each(rows)('%s is %s: %s', async (id, status, what, trouble) => {
  expect((await findingsOf(await trouble()))[id]).toMatchObject({
    status,
    text: expect.stringMatching(what),
  });
});

test('each check has a row that makes it fail', () => {
  const failing = new Set(
    rows.filter(([, status]) => ['wrong', 'warning'].includes(status)).map(([id]) => id),
  );
  expect(CHECKS.map(({ id }) => id).filter((id) => !failing.has(id))).toEqual([]);
});

test('nothing is written to Redis, nothing started, and no connection of Socket Mode opened', async () => {
  await findingsOf({});
  expect(await world.redis.client.dbsize()).toBe(0);
  expect(world.slack.sockets.open).toBe(0);
  expect(world.platform.starts).toEqual([]);
});

test('a project without an id costs no request for analytics', async () => {
  const before = world.platform.analyticsRequests().views;
  const findings = await findingsOf({ env: { DOCS_PROJECT_ID: '' } });
  expect(findings['docs-key']).toMatchObject({ status: 'ok' });
  expect(world.platform.analyticsRequests().views).toBe(before);
  expect(world.platform.wire.calls.at(-1)?.name).toBe(JOB);
});

test("Docket's own Redis is neither started nor its folder made, and asked where it runs", async () => {
  const dataDir = join(world.folder, 'data');
  const stopped = await findingsOf({ env: own });
  expect(stopped.redis).toMatchObject({
    status: 'ok',
    text: expect.stringContaining('Docket starts its own'),
  });
  expect(existsSync(dataDir)).toBe(false);

  const log = { info() {}, warn() {}, error() {} };
  const embedded = await startEmbeddedRedis({ dataDir, log, searchPath: process.env.PATH ?? '' });
  try {
    const running = await findingsOf({ env: own });
    expect(Object.values(running).filter(({ status }) => status !== 'ok')).toEqual([]);
    expect(running.redis?.text).toContain("Docket's own is running");

    const pid = embedded.pid() ?? 0;
    process.kill(pid, 'SIGSTOP');
    const silent = await findingsOf({ env: own }).finally(() => process.kill(pid, 'SIGCONT'));
    expect(silent.redis).toMatchObject({ status: 'wrong', text: expect.stringContaining("isn't answering") });
  } finally {
    await embedded.stop();
  }
});

test('of several projects, the one is named whose key is rejected', async () => {
  const findings = await findingsOf({
    env: { DOCKET_CONFIG: join(world.folder, 'docket.yml'), DOCS_PROJECT_ID: '', BETA_KEY: 'adm_of_beta' },
    before: () =>
      writeFileSync(
        join(world.folder, 'docket.yml'),
        `projects:\n  acme: { projectId: ${world.platform.projectId} }\n  beta: { projectId: prj_beta, apiKey: { env: BETA_KEY } }\n`,
      ),
  });
  expect(findings['docs-key']?.text).toMatch(/^The platform rejects BETA_KEY \(project beta\)\. /);
});

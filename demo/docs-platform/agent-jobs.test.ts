import { describe, expect, test } from 'vitest';
import { HOUR_MS, START_MS, standIn } from '../test-support/platform.ts';

describe('agent jobs', () => {
  test.each([
    ['no prompt', {}],
    ['an empty prompt', { prompt: '' }],
    ['a prompt that is no text', { prompt: 7 }],
    ['an unknown field', { prompt: 'x', model: 'y' }],
    ['no JSON', 'x'],
  ])('%s: 400', async (_, body) => {
    const { platform, say, call, job } = standIn();
    expect((await say(platform.agent.add(), body)).status).toBe(400);
    expect((await call('POST', job, { body })).status).toBe(400);
    expect(platform.agent.messages).toEqual([]);
    expect(platform.used.followUps()).toBe(0);
  });

  test('an unknown job or project: 404', async () => {
    const { platform, say, call, job } = standIn();
    const jobId = platform.agent.add();
    expect((await say('aj_none')).status).toBe(404);
    expect((await call('GET', `${job}/aj_none`)).status).toBe(404);
    expect((await call('GET', `/v2/agent/prj_other/job/${jobId}`)).status).toBe(404);
    expect((await call('POST', '/v2/agent/prj_other/job', { body: { prompt: 'x' } })).status).toBe(404);
  });

  test('go from active to their end by the clock; no pull request is shown meanwhile', async () => {
    const { platform, clock, say, call, job } = standIn();
    const jobId = platform.agent.add();
    const poll = async () => (await call('GET', `${job}/${jobId}`)).body;
    expect(await poll()).toMatchObject({
      status: 'completed',
      prLink: 'https://github.com/acme/docs/pull/100',
    });
    platform.agent.plan({ durationMs: 5000 });
    expect((await say(jobId)).body).toMatchObject({ id: jobId, status: 'active', prLink: null });
    clock.ms += 4999;
    expect(await poll()).toMatchObject({ status: 'active', prLink: null });
    clock.ms += 1;
    expect(await poll()).toMatchObject({
      status: 'completed',
      prLink: 'https://github.com/acme/docs/pull/101',
    });
  });

  test('take no instruction once archived: 400', async () => {
    const { platform, say } = standIn();
    const jobId = platform.agent.add();
    platform.agent.archive(jobId);
    expect((await say(jobId)).status).toBe(400);
    expect(platform.agent.jobs.get(jobId)).toMatchObject({
      status: 'archived',
      archivedAt: '2026-09-21T12:00:00.000Z',
    });
  });

  test('are created where the platform can: 201', async () => {
    const { platform, call, job } = standIn();
    const created = await call('POST', job, { body: { prompt: 'Write a quickstart' } });
    expect(created).toMatchObject({ status: 201, body: { status: 'active', prLink: null } });
    expect(platform.agent.messages).toMatchObject([{ jobId: created.body.id, prompt: 'Write a quickstart' }]);
  });

  test.each([404, 405] as const)('are not created where it cannot: %s', async (createAgentJobs) => {
    const { platform, call, job } = standIn({ createAgentJobs });
    expect((await call('POST', job, { body: { prompt: 'x' } })).status).toBe(createAgentJobs);
    expect(platform.agent.jobs.size).toBe(0);
  });

  test('take 100 instructions in an hour: 429', async () => {
    const { platform, clock, say } = standIn();
    const jobId = platform.agent.add();
    for (let n = 0; n < 100; n += 1) {
      clock.ms += 1000;
      expect((await say(jobId)).status).toBe(200);
    }
    const refused = await say(jobId);
    expect(refused.status).toBe(429);
    expect(refused.headers.has('retry-after')).toBe(false);
    expect(platform.agent.messages).toHaveLength(100);
    clock.ms = START_MS + 1000 + HOUR_MS;
    expect((await say(jobId)).status).toBe(200);
    expect((await say(jobId)).status).toBe(429);
  });
});

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

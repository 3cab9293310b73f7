import { describe, expect, test } from 'vitest';
import { mistakesIn } from '../../../../demo/slack/block-kit/check.ts';
import { threadMessages } from '../../../../src/jobs/agent/thread/view.ts';
import { keys } from '../../../../src/store/keys.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aThread } from '../../../support/jobs/agent/builders.ts';
import {
  ana,
  applyEvents,
  ben,
  edited,
  ephemeralsOf,
  outcomesOf,
  wrote,
} from '../../../support/jobs/agent/events.ts';
import { createAgentWorld } from '../../../support/jobs/agent/world.ts';
import { redisForTests } from '../../../support/redis.ts';

const long = (characters: number) => 'word '.repeat(characters / 5);
test('an instruction that is edited to be too long does not go out as it was', () => {
  const thread = applyEvents(aThread(), [wrote(ana, 1, 'Fix it'), edited(ana, 1, long(9000))]);
  expect(outcomesOf(thread)).toEqual(['withdrawn: Fix it']);
  expect(ephemeralsOf(thread)).toEqual(['ana: tooLong']);
});

test('its length is counted in characters as people see them', () => {
  expect(applyEvents(aThread(), [wrote(ana, 1, '😀'.repeat(8000))]).instructions).toHaveLength(1);
  expect(applyEvents(aThread(), [wrote(ana, 1, '😀'.repeat(8001))]).instructions).toEqual([]);
});

test('however much waits, the message about a limit fits', () => {
  const instructions = Array.from({ length: 3000 }, (_, n) =>
    anInstruction({ id: `1789912860.${n}`, excerpt: '<'.repeat(500) }),
  );
  const limit = { n: 1, perHour: 100, untilMs: NOW_MS };
  for (const { message } of threadMessages(aThread({ instructions, limit })))
    expect(mistakesIn(message.blocks, 'message')).toEqual([]);
});

describe('a thread that is written full', () => {
  const redis = redisForTests();

  const sizeOf = async (world: ReturnType<typeof createAgentWorld>) =>
    redis.client.hstrlen(keys.run(world.id), 'json');

  test('keeps a small record under 800 replies of 39 KB', async () => {
    const world = createAgentWorld(redis);
    await world.follows({ mode: 'all' });
    const text = long(39_000);
    for (let index = 1; index <= 800; index += 1) await world.receives(wrote(ana, index, text));
    let largest = 0;
    while ((await redis.client.llen(keys.inbox(world.id))) > 0) {
      await world.step();
      largest = Math.max(largest, await sizeOf(world));
    }
    expect(largest).toBeLessThan(10_000);
    expect(world.prompts).toEqual([]);
    expect(world.ephemerals[0]).toBe(
      `U0ANA: That is 38,999 characters; the agent gets up to 8,000 at once. Split it into several replies.\n"${text.slice(0, 54)}…"`,
    );
  });

  test('keeps no more than may wait, while nothing goes out', async () => {
    const world = createAgentWorld(redis);
    world.context.settings.limits.instructionsWaiting = 20;
    await world.follows({ mode: 'all' });
    const limit = {
      n: 1,
      perHour: 1,
      untilMs: NOW_MS + 3_600_000,
    };
    await world.runs.saveStep({ ...(await world.thread()), limit });
    for (let index = 1; index <= 300; index += 1)
      await world.receives(wrote(ben, index, `Instruction ${index}`));
    while ((await redis.client.llen(keys.inbox(world.id))) > 0) await world.step();
    expect((await world.thread()).instructions).toHaveLength(20);
    expect(world.ephemerals).toContainEqual(
      `U0BEN: 20 requests of this thread are already waiting or held, so I didn't take this one. Send it again later.\n"Instruction 21"`,
    );
  });
});

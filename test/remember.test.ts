import { expect, test } from 'vitest';
import { remember } from '../src/remember.ts';

const MINUTE = 60_000;

/** What is asked for in each of these minutes, believed for five of them. */
async function loadsAt(minutes: number[]): Promise<number> {
  let nowMs = 0;
  let loads = 0;
  const look = remember({ timeoutMs: 1000, cacheMs: 5 * MINUTE, now: () => nowMs }, async () => {
    loads += 1;
  });
  for (const minute of minutes) {
    nowMs = minute * MINUTE;
    await look('U0ANA');
  }
  return loads;
}

test('an answer is believed for a while', async () => {
  expect(await loadsAt([60, 61, 64])).toBe(1);
  expect(await loadsAt([60, 65])).toBe(2);
});

test('an answer from before the clock was set back is not believed any longer', async () => {
  expect(await loadsAt([120, 60])).toBe(2);
});

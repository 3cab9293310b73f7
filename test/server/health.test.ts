import { describe, expect, test } from 'vitest';
import { createHealth, shareHealth } from '../../src/server/health.ts';
import type { HealthSnapshot, HealthStore } from '../../src/store/health.ts';

function setting() {
  const clock = { ms: 10_000 };
  const health = createHealth(() => clock.ms);
  return { clock, health };
}

test('nothing is known before the first call', () => {
  const { health } = setting();
  expect(health.stateOf('docs')).toBe('unknown');
  expect(health.snapshots()).toEqual({});
});

test('the last call counts, and when it was', () => {
  const { clock, health } = setting();
  health.record('docs', true);
  clock.ms += 5;
  health.record('docs', false);
  health.record('slack', true);
  expect([health.stateOf('docs'), health.stateOf('slack')]).toEqual(['down', 'up']);
  expect(health.snapshots()).toEqual({
    docs: { answered: false, atMs: 10_005 },
    slack: { answered: true, atMs: 10_005 },
  });
});

test('a token that Slack refuses is kept apart from one that gets no answer', () => {
  const { clock, health } = setting();
  const changes: boolean[] = [];
  health.subscribe((_, __, changed) => changes.push(changed));
  for (const refused of [false, true, true, false]) health.record('slack', false, refused);
  health.record('slack', false, true);
  expect(changes).toEqual([true, true, false, true, true]);
  expect(health.snapshots().slack).toEqual({ answered: false, refused: true, atMs: clock.ms });
  expect(health.stateOf('slack')).toBe('down');
});

describe('the others are informed', () => {
  /** A store whose writes are counted, and wait when they are to. */
  function told(before: () => Promise<void> = async () => {}) {
    const writes: (HealthSnapshot & { part: string })[] = [];
    const store: HealthStore = {
      async save(part, seen) {
        writes.push({ part, ...seen });
        await before();
      },
      load: async () => ({}),
    };
    return { writes, store };
  }
  const never = () => {};
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  test('at once of a change, and every few seconds of what stays', async () => {
    const { clock, health } = setting();
    const { writes, store } = told();
    shareHealth(health, store, never);
    for (let second = 0; second < 10; second += 1) {
      health.record('docs', true);
      await settled();
      clock.ms += 1000;
    }
    expect(writes.map(({ atMs }) => atMs)).toEqual([10_000, 13_000, 16_000, 19_000]);
    health.record('docs', false);
    await settled();
    expect(writes.at(-1)).toEqual({ part: 'docs', answered: false, atMs: 20_000 });
  });

  test('of what was seen before they could be', async () => {
    const { health } = setting();
    const { writes, store } = told();
    health.record('slack', true);
    shareHealth(health, store, never);
    expect(writes).toEqual([{ part: 'slack', answered: true, atMs: 10_000 }]);
  });

  test('again with the next call when it failed', async () => {
    const { health } = setting();
    const problems: string[] = [];
    const { writes, store } = told(() => Promise.reject(new Error('Redis is away')));
    shareHealth(health, store, ({ message }) => void problems.push(message));
    health.record('docs', true);
    await settled();
    health.record('docs', true);
    await settled();
    expect(writes).toHaveLength(2);
    expect(problems).toEqual(['Redis is away', 'Redis is away']);
  });
});

import { expect, test } from 'vitest';
import { createHealth } from '../../src/server/health.ts';
import type { HealthSnapshot } from '../../src/store/values.ts';
import { keptLog } from '../support/runtime/log.ts';

function setting() {
  const clock = { ms: 10_000 };
  const { log } = keptLog('silent', []);
  const health = createHealth({ log, now: () => clock.ms, afterMs: 60_000 });
  return { clock, health };
}

test('the last call counts, and when it was', () => {
  const { clock, health } = setting();
  expect(health.stateOf('docs')).toBe('unknown');
  health.record('docs', true);
  clock.ms += 5;
  health.record('docs', false);
  health.record('slack', false, true);
  expect([health.stateOf('docs'), health.stateOf('slack')]).toEqual(['down', 'down']);
  expect(health.snapshots()).toEqual({
    docs: { answered: false, atMs: 10_005 },
    slack: { answered: false, refused: true, atMs: 10_005 },
  });
});

test('other processes learn a change at once, and a state that stays every few seconds', () => {
  const { clock, health } = setting();
  const writes: (HealthSnapshot & { part: string })[] = [];
  const save = async (part: string, seen: HealthSnapshot) => void writes.push({ part, ...seen });
  health.record('slack', true);
  health.shareIn({ save, load: async () => ({}) }, () => {});
  expect(writes.splice(0)).toEqual([{ part: 'slack', answered: true, atMs: 10_000 }]);
  for (let second = 0; second < 10; second += 1) {
    health.record('docs', true);
    clock.ms += 1000;
  }
  expect(writes.map(({ atMs }) => atMs)).toEqual([10_000, 13_000, 16_000, 19_000]);
  health.record('docs', false);
  expect(writes.at(-1)).toEqual({ part: 'docs', answered: false, atMs: 20_000 });
});

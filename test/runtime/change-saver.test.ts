import { expect, test } from 'vitest';
import { createChangeSaver } from '../../src/runtime/cached.ts';

test('only what changed is saved, and what stays as it is once in a while', () => {
  let nowMs = 1000;
  const saved: string[] = [];
  const save = createChangeSaver({
    ...{ everyMs: 3_600_000, now: () => nowMs, onError: () => {} },
    save: async (name: string, state: boolean) => saved.push(`${name} ${state}`),
  });
  for (const state of [true, true, false, false]) save('one', state);
  save('two', false);
  expect(saved.splice(0)).toEqual(['one true', 'one false', 'two false']);
  nowMs += 3_600_000;
  for (const state of [false, true, true]) save('one', state);
  expect(saved).toEqual(['one false', 'one true']);
});

test('what could not be saved is saved by the next call', async () => {
  const problems: Error[] = [];
  let calls = 0;
  const save = createChangeSaver({
    ...{ everyMs: 3_600_000, now: () => 0, onError: (problem: Error) => void problems.push(problem) },
    async save(_name: string, _state: boolean) {
      calls += 1;
      if (calls === 1) throw new Error('Redis is away');
    },
  });
  save('one', true);
  await expect.poll(() => problems.length).toBe(1);
  save('one', true);
  save('one', true);
  expect(calls).toBe(2);
});

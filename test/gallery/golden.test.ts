import { describe, expect, test } from 'vitest';
import { goldenFiles, keptGoldenFiles } from './golden.ts';

/** `npm run golden` makes the files anew, for a message that changes on purpose. */
describe('what Slack gets is what the golden files have:', () => {
  const kept = keptGoldenFiles();
  const made = goldenFiles();

  test('each family of messages has a file, and there is no other', () => {
    expect(Object.keys(made).sort()).toEqual(Object.keys(kept).sort());
  });

  test.each(Object.keys(kept))('%s', (file) => {
    const [now, before] = [byState(made[file]), byState(kept[file])];
    for (const state of new Set([...now.keys(), ...before.keys()]))
      expect.soft(now.get(state), state).toBe(before.get(state));
  });
});

/** Returns the states of a file, by their first lines. */
const byState = (text = ''): Map<string | undefined, string> =>
  new Map(text.split(/\n\n(?=\S)/).map((state) => [state.split('\n')[0], state]));

import { expect, test } from 'vitest';
import { handledMessage, retryStale } from '../../src/commands/intake.ts';

test('a click on a record that changed since it was read is tried again, and at last says so', async () => {
  const left = ['stale', 'stale', 'done'] as const;
  let tries = 0;
  expect(await retryStale('link', async () => left[tries++] ?? 'done')).toBe('done');
  expect(tries).toBe(3);
  const given = await retryStale('export', async () => {
    tries += 1;
    return 'stale';
  });
  expect(given).toMatchObject({ text: 'This export is changing too fast right now. Click again.' });
  expect(tries).toBe(8);
});

test('a late click learns who was first, and whoever clicked twice nothing', () => {
  const first = { id: 'U0ANA', name: 'ana', did: 'chose to leave it' };
  expect(handledMessage(first, 'U0BEN')?.text).toBe('ana already chose to leave it.');
  expect(handledMessage(first, 'U0ANA')).toBeUndefined();
  expect(handledMessage(undefined, 'U0ANA')?.text).toMatch(/^Already handled/);
});

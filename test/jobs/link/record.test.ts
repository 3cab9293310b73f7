import { expect, test } from 'vitest';
import { linkRun, renewLink } from '../../../src/jobs/link/record.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aLinkRun } from '../../support/jobs/link/builders.ts';

test.each(['sent', 'over', 'failed'] as const)('another link may be made of one that is %s', (state) => {
  const before = aLinkRun({ state, link: 'l.1', failures: 7 });
  expect(renewLink(before, NOW_MS + 1)).toEqual({
    ...before,
    state: 'making',
    sinceMs: NOW_MS + 1,
    nextLookAtMs: NOW_MS + 1,
    made: 2,
    failures: 0,
    ...(state === 'over' && { over: true }),
  });
});

test('one that has ended counts as ended until there is another', () => {
  const failed = aLinkRun({ state: 'failed', link: 'l.1', over: true });
  expect(renewLink(failed, NOW_MS)?.over).toBe(true);
});

test('none is made while one is being made', () => {
  expect(renewLink(aLinkRun(), NOW_MS)).toBeUndefined();
});

test('a record is read as it was stored', () => {
  const run = aLinkRun({ state: 'sent', link: 'l.1', linkEndsAtMs: NOW_MS });
  expect(linkRun.parse(JSON.parse(JSON.stringify(run)))).toEqual(run);
});

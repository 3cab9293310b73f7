import { describe, expect, test } from 'vitest';
import { aThread } from '../../../support/jobs/agent/builders.ts';
import { applyEvents, ben, deleted, edited, outcomesOf, wrote } from '../../../support/jobs/agent/events.ts';

describe('an edit', () => {
  test('that comes before its message is what counts', () => {
    const thread = applyEvents(aThread({ hasOtherAuthors: true }), [
      edited(ben, 1, 'two'),
      edited(ben, 1, 'ask <@U0ANA>'),
      wrote(ben, 1, '<@U0DOCKET> one'),
    ]);
    expect(outcomesOf(thread)).toEqual(['held: ask @ana']);
  });
});

describe('a deletion', () => {
  test('that comes before its message keeps it from going out, whatever edit comes late', () => {
    const thread = applyEvents(aThread(), [
      deleted(1),
      edited(ben, 1, 'two'),
      wrote(ben, 1, '<@U0DOCKET> one'),
    ]);
    expect(outcomesOf(thread)).toEqual([]);
    expect(thread).toMatchObject({ hasOtherAuthors: true, ephemerals: [] });
  });
});

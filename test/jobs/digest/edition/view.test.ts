import { expect, test } from 'vitest';
import type { EditionRun } from '../../../../src/jobs/digest/edition/record.ts';
import { editionMessages } from '../../../../src/jobs/digest/edition/view.ts';
import { anEdition } from '../../../support/jobs/digest/builders.ts';
import { reads } from '../../../support/slack/rendering.ts';

const DIFFERS = 'The list of pages adds up to 1,200 of 1,300 views.';
const BEFORE_DIFFERS =
  'The list of pages of the days before adds up to 500 of 700 views, so changes of pages may be wrong.';
const csv = { state: 'done', fileId: 'F1', failures: 0, attempt: 1 } as const;

const { pages } = anEdition();

test.each<[string, Partial<EditionRun>, number[]]>([
  ['the pages', { sections: ['pages'] }, [0, 1]],
  ['the pages and the file', { sections: ['pages', 'csv'], csv }, [0, 1]],
  ['neither', { sections: [] }, [0]],
])('a list that does not add up to the totals is told once, with %s', (_, changes, times) => {
  const differing = (differs: Partial<EditionRun>, text: string) =>
    editionMessages(anEdition({ hasChart: false, readers: {}, ...differs, ...changes })).map(
      ({ message }) => reads(message).split(text).length - 1,
    );
  expect(differing({ totals: { human: 1000, ai: 300 } }, DIFFERS)).toEqual(times);
  const before = {
    ...(pages && { pages: { ...pages, sumBefore: { human: 400, ai: 100 } } }),
    totalsBefore: { human: 600, ai: 100 },
  };
  expect(differing(before, BEFORE_DIFFERS)).toEqual(times);
  expect(differing(before, DIFFERS).every((count) => count === 0)).toBe(true);
  expect(differing({ ...before, totalsBefore: { human: 300, ai: 200 } }, 'adds up')).toEqual(
    times.map(() => 0),
  );
});

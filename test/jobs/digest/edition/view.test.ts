import { expect, test } from 'vitest';
import type { EditionRun } from '../../../../src/jobs/digest/edition/record.ts';
import { editionMessages } from '../../../../src/jobs/digest/edition/view.ts';
import { anEdition } from '../../../support/jobs/digest/builders.ts';
import { reads } from '../../../support/slack/rendering.ts';

const DIFFERS = 'The list of pages adds up to 1,200 of 1,300 views.';
const csv = { state: 'done', fileId: 'F1', failures: 0, attempt: 1 } as const;

test.each<[string, Partial<EditionRun>, number[]]>([
  ['the pages', { sections: ['pages'] }, [0, 1]],
  ['the pages and the file', { sections: ['pages', 'csv'], csv }, [0, 1]],
  ['the file alone', { sections: ['csv'], csv }, [1]],
  ['the file that could not be had', { sections: ['csv'], csv: { ...csv, state: 'failed' } }, [0]],
  ['neither', { sections: [] }, [0]],
])('a list that does not add up to the totals is told once, with %s', (_, changes, times) => {
  const messages = editionMessages(
    anEdition({ chart: 'none', readers: {}, totals: { human: 1000, ai: 300 }, ...changes }),
  );
  expect(messages.map(({ message }) => reads(message).split(DIFFERS).length - 1)).toEqual(times);
});

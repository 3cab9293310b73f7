import type { EditionRun } from '../../../../src/jobs/digest/edition/record.ts';
import { spansOf } from '../../../../src/jobs/digest/weeks.ts';
import { anEdition, aPage } from '../../../support/jobs/digest/builders.ts';

const spans = spansOf(anEdition().range).map((span, index) => ({
  ...span,
  human: 120 + 9 * index,
  ai: 40 + index,
}));
const busiest = aPage('/guides/webhooks', { human: 320, ai: 730, before: { human: 310, ai: 320 } });

/** A weekly digest with every line that one can have. */
export const whole = (changes: Partial<EditionRun> = {}) => {
  const { pages } = anEdition();
  return anEdition({
    timetable: 'Mondays 09:00 Europe/Berlin',
    spans,
    totalsBefore: { human: 918, ai: 222 },
    ...(pages && {
      pages: {
        ...pages,
        biggest: { page: busiest, by: 'ai' },
        risingAi: [busiest],
        fallingAi: [busiest],
        rising: [busiest],
        fresh: [aPage('/guides/passkeys', { before: { human: 0, ai: 0 } })],
        aiRead: [aPage('/api/errors', { human: 4, ai: 96 })],
      },
    }),
    readers: {
      ...anEdition().readers,
      questions: { asked: 410, unanswered: 64, category: 'Authentication' },
      visitors: { total: 3120 },
    },
    readersBefore: { questions: { asked: 390, unanswered: 47 }, visitors: { total: 3000 } },
    followUps: [
      {
        subject: '/guides/sso',
        kind: 'thumbs',
        prLink: 'https://github.com/acme/docs/pull/131',
        before: 9,
        after: 1,
      },
      { subject: 'sso okta', kind: 'search', ending: 'noPr', before: 41, after: 'unlisted' },
      {
        subject: 'questions that the assistant could not answer',
        kind: 'questions',
        ending: 'noPr',
        before: 47,
        after: 64,
      },
      { subject: '/guides/webhooks', kind: 'thumbs', ending: 'failed', before: 4, after: 5 },
      { subject: '/quickstart', kind: 'page', ending: 'unknown', before: 100, after: 120 },
      { subject: '/start', kind: 'page', ending: 'archived', before: 90, after: 80 },
    ],
    ...changes,
  });
};

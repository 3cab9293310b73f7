import type { EditionRun } from '../../../../src/jobs/digest/edition/record.ts';
import { spansOf } from '../../../../src/jobs/digest/weeks.ts';
import { anEdition, aPage } from '../../../support/jobs/digest/builders.ts';

const spansIn = (range: EditionRun['range']) =>
  spansOf(range).map((span, index) => ({ ...span, human: 120 + 9 * index, ai: 40 + index }));
const rising = aPage('/guides/mcp', { human: 140, before: { human: 90, ai: 10 } });
const falling = aPage('/quickstart', { human: 96, before: { human: 401, ai: 10 } });
const fallingAi = aPage('/api/limits', { ai: 60, before: { human: 90, ai: 130 } });
const busiest = aPage('/guides/webhooks', { human: 320, ai: 730, before: { human: 310, ai: 320 } });

/** What the platform says questions were about. */
export const TOPICS = [
  { name: 'Authentication', asked: 90, unanswered: 31 },
  { name: 'Billing', asked: 60, unanswered: 12 },
  { name: 'Search', asked: 8, unanswered: 2 },
];

/** A weekly digest with every line that one can have. */
export const whole = (changes: Partial<EditionRun> = {}) => {
  const { pages } = anEdition();
  return anEdition({
    spans: spansIn(anEdition().range),
    totalsBefore: { human: 918, ai: 222 },
    ...(pages && {
      pages: {
        ...pages,
        biggest: { page: busiest, by: 'ai' },
        risingAi: [busiest],
        fallingAi: [fallingAi],
        rising: [rising],
        falling: [falling],
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
        subject: { kind: 'thumbs', name: '/guides/sso', value: 9 },
        prLink: 'https://github.com/acme/docs/pull/131',
        pullRequest: 'merged',
        after: 1,
      },
      { subject: { kind: 'search', name: 'sso okta', value: 41 }, ending: 'noPr', after: 'unlisted' },
      {
        subject: { kind: 'questions', name: 'unanswered questions', value: 47 },
        ending: 'noPr',
        after: 64,
      },
      { subject: { kind: 'thumbs', name: '/guides/webhooks', value: 4 }, ending: 'failed', after: 5 },
      { subject: { kind: 'page', name: '/quickstart', value: 100 }, ending: 'unknown', after: 120 },
      { subject: { kind: 'page', name: '/start', value: 90 }, ending: 'archived', after: 80 },
    ],
    ...changes,
  });
};

const september = { from: '2026-09-01', to: '2026-10-01' };
const changed = { page: falling, by: 'human' as const };

/** What a monthly digest has instead. The month before has a day more. */
export const monthly: Partial<EditionRun> = {
  kind: 'monthly',
  week: '2026-09',
  range: september,
  insideWeeks: 2,
  spans: spansIn(september),
  inside: [
    { range: { from: '2026-09-14', to: '2026-09-21' }, page: busiest, by: 'ai' },
    { range: { from: '2026-09-07', to: '2026-09-14' }, ...changed },
  ],
};

import { expect, test } from 'vitest';
import type { DocsApi } from '../../../../src/docs-api/client.ts';
import { requestReaders, withoutHalf, withPart } from '../../../../src/jobs/digest/figures/requests.ts';

const range = { from: '2026-09-14', to: '2026-09-21' };
const none = { done: [], figures: { visitors: { total: 5 } }, categories: {} };

/** A platform that tells of 250 questions at a time, one of them unanswered, as often as that. */
function platformWith(times: number) {
  let asked = 0;
  const docs = {
    async getAssistantConversations() {
      asked += 1;
      const conversations = Array.from({ length: 250 }, (_, index) => ({
        resolutionStatus: index === 0 ? 'unanswered' : 'answered',
        queryCategory: 'Billing',
      }));
      const hasMore = asked < times;
      return { conversations, hasMore, ...(hasMore && { nextCursor: `c${asked}` }) };
    },
  } as unknown as DocsApi;
  return { docs, projectId: 'p', signal: new AbortController().signal };
}

test('questions are counted over several requests', async () => {
  const source = platformWith(2);
  const half = await requestReaders(none, 'questions', range, source);
  expect(half).toMatchObject({ done: [], cursor: 'c1', figures: { questions: { asked: 250 } } });
  const whole = await requestReaders(half, 'questions', range, source);
  expect(whole).toEqual({
    done: ['questions'],
    figures: { visitors: { total: 5 }, questions: { asked: 500, unanswered: 2, category: 'Billing' } },
    categories: {},
  });
  expect(withoutHalf(whole)).toBe(whole);
});

test('questions of which only a part was counted are left out', async () => {
  const half = await requestReaders(none, 'questions', range, platformWith(9));
  expect(withoutHalf(half).figures).toEqual({ visitors: { total: 5 } });
  expect(withPart(half, 'questions')).toEqual({ ...none, done: ['questions'] });
});

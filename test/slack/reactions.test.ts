import { expect, test } from 'vitest';
import { createReactions } from '../../src/slack/reactions.ts';
import type { ReactionStore } from '../../src/store/reactions.ts';

const subject = { teamId: 'T0ACME', runId: 'run-1', channel: 'C0DOCS' };
const wanted = new Map([
  ['1.1', { name: 'eyes' as const }],
  ['1.2', undefined],
]);

test.each([
  ['somebody is told to deliver what is not shown', true, ['kept', 'run-1']],
  ['nobody is told when everything is shown', false, ['kept']],
])('%s', async (_, undelivered, order) => {
  const happened: string[] = [];
  const heard: Parameters<ReactionStore['setWanted']>[] = [];
  const reactions = createReactions({
    store: {
      async setWanted(...args) {
        heard.push(args);
        happened.push('kept');
        return undelivered;
      },
    },
    wake: async (runId) => void happened.push(runId),
    now: () => 5000,
  });
  await reactions.publish(subject, wanted, 7);
  expect(heard).toEqual([[subject, wanted, 7, 5000]]);
  expect(happened).toEqual(order);
});

import { expect, test } from 'vitest';
import { createModalOpener } from '../../src/commands/bind.ts';
import type { UserFacingError } from '../../src/commands/intake.ts';
import { message } from '../../src/slack/blocks.ts';
import { noticeView } from '../../src/slack/modals.ts';
import { aCaller } from '../support/commands/builders.ts';
import { keptLog } from '../support/runtime/log.ts';

const notOpened =
  "Slack didn't open the form. Try again in a moment, or type the whole command. Add help to see how.";
const view = noticeView('Test', message([['Done']]));

type Parts = Parameters<typeof createModalOpener>[0];

function openerWith(changes: Partial<Parts> = {}) {
  const opened: unknown[][] = [];
  const open = createModalOpener({
    slack: {
      openModal: async (...what) => void opened.push(what),
      updateModal: async (...what) => void opened.push(['update', ...what]),
    },
    timeoutMs: 1200,
    monotonicMs: () => 500,
    log: keptLog().log,
    ...changes,
  });
  return { open, opened };
}

test('takes less time for a request that was received long ago, so that the answer is not late', async () => {
  const { open, opened } = openerWith({ monotonicMs: () => 3000 });
  await open(aCaller({ receivedAtMs: 1000 }), view);
  expect(opened).toEqual([['1.2.a', view, 300]]);
});

test('is not even tried for a request that has taken too long already, and says so', async () => {
  const { open, opened } = openerWith({ monotonicMs: () => 3300 });
  const error = await open(aCaller({ receivedAtMs: 1000 }), view).catch((thrown: unknown) => thrown);
  expect((error as UserFacingError).reply.text).toBe(notOpened);
  expect(opened).toEqual([]);
});

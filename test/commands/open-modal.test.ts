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

test.each([
  ['takes less time for a request that was received long ago', 3000, [['1.2.a', view, 300]], undefined],
  ['is not even tried for a request that has taken too long already', 3300, [], notOpened],
])('%s', async (_, nowMs, calls, refusal) => {
  const opened: unknown[][] = [];
  const openModal = async (...what: unknown[]) => void opened.push(what);
  const slack = { openModal, updateModal: openModal };
  const open = createModalOpener({ slack, timeoutMs: 1200, monotonicMs: () => nowMs, log: keptLog().log });
  const failed = await open(aCaller({ receivedAtMs: 1000 }), view).catch((error: unknown) => error);
  expect(opened).toEqual(calls);
  expect((failed as UserFacingError | undefined)?.reply.text).toBe(refusal);
});

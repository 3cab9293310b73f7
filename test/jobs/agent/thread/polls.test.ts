import { expect, test } from 'vitest';
import type { AgentJob } from '../../../../src/docs-api/operations.ts';
import { applyPoll } from '../../../../src/jobs/agent/thread/rounds.ts';
import { applySendResult } from '../../../../src/jobs/agent/thread/send.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aThread } from '../../../support/jobs/agent/builders.ts';

const GRACE_MS = 60_000;
const job = (status: AgentJob['status']): AgentJob => ({ id: 'aj', status, rawStatus: status });

test.each([
  ['answered with "completed", within the grace period', 'completed', [], 1000, true],
  ['answered with "completed", after the grace period', 'completed', [], GRACE_MS, false],
  ['answered with "active"', 'active', [], 1000, false],
  ['seen active by a poll', 'completed', ['active'], 1000, false],
  ['with a status that nobody knows', 'completed', ['unknown'], 1000, true],
] as const)('a round that was %s: the poll that shows "completed"', (_, answer, polls, afterMs, isOpen) => {
  const one = anInstruction({ state: 'sending' });
  const sending = aThread({ instructions: [one] });
  const sent = applySendResult(sending, one, job(answer), NOW_MS);
  const shown = [...polls, 'completed' as const].reduce(
    (thread, status) => applyPoll(thread, job(status), NOW_MS + afterMs, GRACE_MS),
    sent,
  );
  expect(shown.rounds.at(-1)?.ending === undefined).toBe(isOpen);
});

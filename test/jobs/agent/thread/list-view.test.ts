import { expect, test } from 'vitest';
import type { ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { threadLine } from '../../../../src/jobs/agent/thread/view.ts';
import { message } from '../../../../src/slack/blocks.ts';
import { anInstruction, aRound, aThread } from '../../../support/jobs/agent/any-thread.ts';
import { reads, THREAD } from '../../../support/jobs/export/reading.ts';

const line = (changes: Partial<ThreadRun> = {}, address?: string) =>
  reads(message([threadLine(aThread(changes), address)]));

test('says what, where it stands and who, with the way there for those who can open it', () => {
  const words = 'acme/docs @ agent/quickstart — Idle · followed by @ana';
  expect(line()).toBe(words);
  expect(line({}, THREAD)).toBe(`${words} · <${THREAD}|Open thread>`);
});

test('says what waits', () => {
  expect(line({ rounds: [aRound()], instructions: [anInstruction({ id: '2' })] })).toBe(
    'acme/docs @ agent/quickstart — Working · 1 instruction waiting · followed by @ana',
  );
});

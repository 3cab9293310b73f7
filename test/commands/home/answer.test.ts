import type { KnownBlock } from '@slack/types';
import { expect, test } from 'vitest';
import { answerHomeButton } from '../../../src/commands/home/answer.ts';
import { scheduleRun } from '../../../src/jobs/digest/schedule/record.ts';
import { answerButtonOf } from '../../../src/jobs/home/answer.ts';
import type { RunBase } from '../../../src/store/runs.ts';
import { aCaller } from '../../support/commands/builders.ts';
import { type CommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { anInstruction, aThread } from '../../support/jobs/agent/builders.ts';
import { aSchedule } from '../../support/jobs/digest/builders.ts';
import { aRun } from '../../support/jobs/export/builders.ts';
import { reads } from '../../support/slack/rendering.ts';

let world: CommandWorld;
onFreshWorlds((fresh) => {
  world = fresh;
});

const onHome = aCaller({ channel: { id: '', name: '' }, responseUrl: undefined });

/** What the modal says that [Answer] opens. */
async function answer(run: Pick<RunBase, 'id'>, id: string, caller = onHome): Promise<string> {
  const { value = '' } = answerButtonOf(run, { user: caller.user.id, id });
  expect(await answerHomeButton.run(JSON.parse(value), caller, world.tools)).toBeUndefined();
  const [view] = world.opened.splice(0);
  return reads({ text: '', blocks: (view?.blocks ?? []) as KnownBlock[] });
}

test('asks again what waits', async () => {
  const unclear = await world.given(aRun({ state: 'unknown', attempt: 2 }));
  expect(await answer(unclear, 'start 2')).toContain('[Start again] [Leave it]');
});

test('tells what came of it instead, once it is settled', async () => {
  const run = await world.given(
    aRun({ attempt: 3, answer: { attempt: 2, by: 'Ben', byId: 'U0BEN', action: 'startAgain' } }),
  );
  expect(await answer(run, 'start 2')).toContain('Ben started it again.');
});

test('asks nobody else', async () => {
  const ben = { id: 'U0BEN', name: 'ben' };
  const held = anInstruction({ id: '1.1', by: ben, state: 'held', excerpt: 'a secret' });
  const thread = await world.followed(aThread({ crowd: true, instructions: [held] }));
  expect(await answer(thread, 'held 1.1')).toBe('Already handled: its thread shows the result.');
});

test('says that it does not remember a run that is gone, or that asks nobody', async () => {
  const gone = 'I no longer have this question: it was answered, or it is too old.';
  expect(await answer({ id: 'gone' }, 'start 1')).toBe(gone);
});

test('asks the owner of a digest that failed, until it was sent again', async () => {
  const failure = { why: 'place' as const, code: 'not_in_channel', week: '2026-W38' };
  const schedule = await world.given(aSchedule({ failures: 1, failure }));
  expect(await answer(schedule, 'failed 2026-W38')).toContain('[Send now] [Remove]');
  const known = await world.runs.load(schedule.id, scheduleRun);
  if (known === undefined) throw new Error('not kept');
  await world.runs.save({ ...known, posting: { run: 'r1', week: '2026-W38', sinceMs: 0 } });
  expect(await answer(schedule, 'failed 2026-W38')).toBe('This digest is on its way.');
});

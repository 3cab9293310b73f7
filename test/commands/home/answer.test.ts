import type { KnownBlock } from '@slack/types';
import { expect, test } from 'vitest';
import { answerHomeButton } from '../../../src/commands/home/home.ts';
import { answerButtonOf } from '../../../src/jobs/home/view.ts';
import type { RunBase } from '../../../src/store/runs.ts';
import { aCaller } from '../../support/commands/builders.ts';
import { type CommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { anInstruction, aThread } from '../../support/jobs/agent/builders.ts';
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

test('asks nobody else', async () => {
  const ben = { id: 'U0BEN', name: 'ben' };
  const held = anInstruction({ id: '1.1', by: ben, state: 'held', excerpt: 'a secret' });
  const thread = await world.followed(aThread({ hasOtherAuthors: true, instructions: [held] }));
  expect(await answer(thread, 'held 1.1')).toBe('Already handled: its thread shows the result.');
});

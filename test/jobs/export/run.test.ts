import { expect, test } from 'vitest';
import type { Caller, CommandTools } from '../../../src/commands/command.ts';
import { buttons } from '../../../src/commands/index.ts';
import {
  type ExportRun,
  exportActions,
  type TransitionName,
  transitions,
} from '../../../src/jobs/export/run.ts';
import { anEnding, aRun, NOW_MS } from './any-run.ts';

const ben = { id: 'U0BEN', name: 'ben' };
const ended = (ending: ExportRun['ending']) => aRun({ state: 'ended', ending });

/** A run that each button does something to. */
const moved: Record<TransitionName, ExportRun> = {
  startAgain: aRun({ state: 'unknown' }),
  leave: aRun({ state: 'unknown' }),
  tryAgain: ended(anEnding.lost),
  checkNow: ended(anEnding.noLink),
  newLink: ended(anEnding.done),
  notify: aRun(),
  refresh: aRun({ looks: [{ atMs: NOW_MS - 60_000 }] }),
};

test.each(Object.keys(moved) as TransitionName[])(
  '%s keeps the name under which others are kept from starting the same',
  (name) => {
    expect(transitions[name](moved[name], ben, NOW_MS)).toMatchObject({ claim: moved[name].claim });
  },
);

test('a new try after a further link is rendered as a try of its own', () => {
  const failed = ended(anEnding.lost);
  expect(transitions.tryAgain({ ...failed, relinked: 2 }, ben, NOW_MS)).toMatchObject({
    relinked: 0,
    state: 'carding',
  });
});

test('a mention is promised only to those who get one', async () => {
  const notify = buttons.find(({ action }) => action === exportActions.notify);
  const many = Array.from({ length: 20 }, (_, index) => ({ id: `U${index}`, name: `n${index}` }));
  const told = async (watchers: ExportRun['watchers']) => {
    const run = aRun({ watchers });
    const tools = { intake: { load: async () => run }, now: () => NOW_MS } as unknown as CommandTools;
    const value = { v: 1, run: run.id, attempt: run.attempt, resumed: run.resumed, domain: run.domain };
    return (await notify?.run(value, { user: ben } as Caller, tools))?.text;
  };
  expect(await told([ben])).toBe("I'll mention you when it ends.");
  expect(await told(many)).toBe(
    '20 more people are mentioned when it ends already; look into this thread then.',
  );
});

import { describe, expect, test } from 'vitest';
import { digestCommand } from '../../../src/commands/digest/command.ts';
import { UserFacingError } from '../../../src/commands/intake.ts';
import { type EditionRun, editionRun, weeklyId } from '../../../src/jobs/digest/edition/record.ts';
import { type FiguresRun, figuresRun } from '../../../src/jobs/digest/figures/record.ts';
import type { Message } from '../../../src/slack/blocks.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aCaller } from '../../support/commands/builders.ts';
import { acmeDocs, onDigestWorlds, WEEK, WEEK_TEXT } from '../../support/commands/digest.ts';
import type { CommandWorld } from '../../support/commands/world.ts';

let world: CommandWorld;
const kept = onDigestWorlds([acmeDocs], (fresh) => {
  world = fresh;
});

let requests = 0;
/** Types a command, each time as a new request. */
async function type(text: string, caller = aCaller()): Promise<Message | undefined> {
  requests += 1;
  const request = { ...caller, requestId: `${caller.requestId} ${requests}` };
  try {
    return await digestCommand.run(text, request, world.tools);
  } catch (error) {
    if (error instanceof UserFacingError) return error.reply;
    throw error;
  }
}
const said = async (text: string, caller = aCaller()) =>
  (await type(text, caller))?.text.replace(/<!date[^>]*>/g, 'TIME');
const weekly = (project = 'acme') => weeklyId('T0ACME', 'C0DOCS', project, WEEK);
const edition = () => world.runs.load(weekly(), editionRun);
/** As the job of the digest leaves it. */
async function ends(ended: EditionRun['ended'], changes: Partial<EditionRun> = {}): Promise<void> {
  const run = await edition();
  if (run === undefined) throw new Error('no digest is there');
  await world.runs.save({ ...run, ...changes, state: 'ended' as const, ended });
}
async function figuresEnd(changes: Partial<FiguresRun> = {}): Promise<void> {
  for (const run of await kept.figures()) await world.runs.save({ ...run, state: 'ended', ...changes });
}
async function editionsEnd(): Promise<void> {
  for (const run of await kept.editions()) await world.runs.save({ ...run, state: 'ended' as const });
}
const ON_ITS_WAY = `On its way · the digest of docs.acme.com in <#C0DOCS>\n${WEEK_TEXT}`;

describe('the digest of last week, now', () => {
  test('that is there without its pages is completed', async () => {
    await kept.scheduled();
    await type('run');
    await figuresEnd({ failed: 'platform' });
    await ends({ why: 'done' }, { totals: { human: 1, ai: 1 }, noPages: 'failed' });
    expect(await said('run')).toBe(ON_ITS_WAY);
    const again = await edition();
    expect(again).toMatchObject({ state: 'posted' });
    expect(again?.attempt).toBeUndefined();
    expect(again?.noPages).toBeUndefined();
    expect((await kept.figures()).map(({ state }) => state)).toEqual(['collecting', 'collecting']);
  });

  test('waits until the numbers of the week are final', async () => {
    await kept.scheduled();
    world.tools.now = () => Date.UTC(2026, 8, 21, 0, 59);
    expect(await said('run')).toBe(
      'Too early · the platform may still count the last views of the week\nSend it after TIME.\n14–20 Sep 2026 (Mon–Sun, UTC)',
    );
    expect(await kept.editions()).toEqual([]);
    world.tools.now = () => Date.UTC(2026, 8, 21, 1);
    expect(await said('run')).toContain('On its way');
  });
});

describe('any dates', () => {
  test('that were not over when they were read are read anew', async () => {
    await type('2026-09-20');
    const run = (await kept.figures()).find(({ range }) => range.from === '2026-09-20');
    await figuresEnd({ requests: 9 });
    await editionsEnd();
    world.tools.now = () => NOW_MS + 3_600_000;
    await type('2026-09-20');
    expect(run && (await world.runs.load(run.id, figuresRun))).toMatchObject({
      state: 'collecting',
      requests: 0,
    });
  });

  test('that are over are read once', async () => {
    await type('14d');
    await figuresEnd({ requests: 9 });
    await type('14d');
    expect((await kept.figures()).map(({ state }) => state)).toEqual(['ended', 'ended']);
    expect(await kept.editions()).toHaveLength(2);
  });
});

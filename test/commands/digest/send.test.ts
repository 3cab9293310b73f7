import { describe, expect, test } from 'vitest';
import { digestCommand } from '../../../src/commands/digest/command.ts';
import { UserFacingError } from '../../../src/commands/intake.ts';
import { weeklyId } from '../../../src/jobs/digest/edition/record.ts';
import type { Message } from '../../../src/slack/blocks.ts';
import { aCaller } from '../../support/commands/builders.ts';
import { acmeDocs, onDigestWorlds, WEEK, WEEK_TEXT } from '../../support/commands/digest.ts';
import type { CommandWorld } from '../../support/commands/world.ts';
import { anEdition } from '../../support/jobs/digest/builders.ts';

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
const weekly = (project = 'acme') => weeklyId({ teamId: 'T0ACME', channel: 'C0DOCS', project }, WEEK);
const ON_ITS_WAY = `On its way · the digest of docs.acme.com in <#C0DOCS>\n${WEEK_TEXT}`;

describe('the digest of last week, now', () => {
  test('that is there without its pages is resumed by the schedule; a complete one is there already', async () => {
    const schedule = await kept.scheduled();
    const known = anEdition({ id: weekly(), noPages: 'failed' });
    await world.given(known);
    expect(await said('run')).toBe(ON_ITS_WAY);
    expect((await kept.latest(schedule))?.posting).toMatchObject({
      accepted: false,
      sentBy: ['U0ANA'],
    });
    await world.runs.save({ ...known, noPages: undefined });
    expect(await said('run')).toContain('Already posted');
  });

  test('waits until the numbers of the week are final', async () => {
    await kept.scheduled();
    world.tools.now = () => Date.UTC(2026, 8, 21, 0, 59);
    expect(await said('run')).toBe(
      'Too early · the platform may still count the last views of the week\nSend it after TIME.\n14–20 Sep 2026 (Mon–Sun, UTC)',
    );
    expect((await kept.schedules())[0]?.posting).toBeUndefined();
    world.tools.now = () => Date.UTC(2026, 8, 21, 1);
    expect(await said('run')).toContain('On its way');
  });
});

import { describe, expect, test } from 'vitest';
import { runButtons } from '../../../src/commands/export/buttons.ts';
import { startAnotherButton } from '../../../src/commands/export/command.ts';
import type { Caller, CommandTools } from '../../../src/commands/intake.ts';
import type { ButtonAction } from '../../../src/commands/registry.ts';
import { runButtonOf } from '../../../src/jobs/export/progress-view.ts';
import { type ExportRun, exportActions, type UseDomain } from '../../../src/jobs/export/record.ts';
import { aCaller, acme, ben } from '../../support/commands/builders.ts';
import { type CommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { anEnding, aRun } from '../../support/jobs/export/builders.ts';

let world: CommandWorld;
onFreshWorlds(
  (fresh) => {
    world = fresh;
  },
  { projects: [acme] },
);

const byBen = (requestId = '1.9.z') => aCaller({ requestId, user: ben });
const button = (action: string) => runButtons.find((one) => one.action === action) as ButtonAction;
/** A click on a button that was shown for the run as it was then. */
const click = (
  action: ButtonAction,
  shownFor: ExportRun,
  caller: Caller = byBen(),
  tools: CommandTools = world.tools,
) => action.run(action.value.parse(JSON.parse(runButtonOf(shownFor, '', '').value ?? '')), caller, tools);

describe('a button of a run whose record is gone', () => {
  const gone = aRun({ id: 'a0a0a0a0a0a0a0a0a0a0a0a0', project: 'acme', domain: 'docs.acme.com' });

  test('watches an export with a label by its job alone: its domain would not start the same again', async () => {
    await click(button(exportActions.checkNow), { ...gone, version: '1.2' });
    expect(await world.exports()).toMatchObject([{ joined: true, jobId: gone.jobId, domain: '' }]);
  });

  test('keeps a link for one person to one person', async () => {
    await click(button(exportActions.newLink), { ...gone, privately: true });
    expect(await world.exports()).toMatchObject([{ joined: true, privately: true }]);
  });

  test('keeps it so where only the ending was for one person', async () => {
    const ending = { ...anEnding.done, privately: true } as ExportRun['ending'];
    await click(button(exportActions.newLink), { ...gone, ending });
    expect(await world.exports()).toMatchObject([{ joined: true, privately: true }]);
  });
});

describe('[Start another]', () => {
  const another = (changes: Partial<UseDomain> = {}) =>
    startAnotherButton.run(
      { v: 1, domain: 'docs.acme.com', project: 'acme', privately: false, request: '1.2.b', ...changes },
      byBen(),
      world.tools,
    );

  test('with a domain that is refused when it is typed is refused as well', async () => {
    expect((await another({ domain: 'localhost' }))?.text).toMatch(/isn't a host name/);
    expect(await world.exports()).toEqual([]);
  });
});

import { beforeEach, expect, test } from 'vitest';
import { runButtons } from '../../../src/commands/export/buttons.ts';
import { exportCommand, exportCommands } from '../../../src/commands/export/command.ts';
import { exportModal } from '../../../src/commands/export/modal.ts';
import { exportScheduleButtons } from '../../../src/commands/export/schedule.ts';
import { type Caller, UserFacingError } from '../../../src/commands/intake.ts';
import type { ButtonAction } from '../../../src/commands/registry.ts';
import { defaultConfigFile } from '../../../src/config/file.ts';
import { runButtonOf } from '../../../src/jobs/export/progress-view.ts';
import { type ExportRun, endRun, exportActions, exportRun } from '../../../src/jobs/export/record.ts';
import { exportSchedule, exportScheduleActions } from '../../../src/jobs/export-schedule/record.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aCaller, ben, noDetails } from '../../support/commands/builders.ts';
import { type CommandWorld, createCommandWorld } from '../../support/commands/world.ts';
import { anEnding, aRun } from '../../support/jobs/export/builders.ts';
import { anExportSchedule } from '../../support/jobs/export-schedule/builders.ts';
import { redisForTests } from '../../support/redis.ts';

let world: CommandWorld;
const redis = redisForTests();
beforeEach(() => {
  world = limitedTo({ exportsPerPerson: 2, exportsPerChannel: 3 });
});

const limitedTo = (limits: Partial<typeof defaultConfigFile.limits>) =>
  createCommandWorld(redis, { limits: { ...defaultConfigFile.limits, ...limits } });

let requests = 0;
const asks = (changes: Partial<Caller> = {}) => aCaller({ requestId: `1.2.${requests++}`, ...changes });
const byBen = (changes: Partial<Caller> = {}) => asks({ user: ben, ...changes });

/** Types an export of this label; returns the answer. */
const types = (version: string, caller: Caller, { tools }: CommandWorld = world) =>
  exportCommand.run(`docs.acme.com --version "${version}"`, caller, tools);

/** Starts an export of its own; returns the refusal. */
const starts = (caller = asks(), where = world) => said(types(`version ${requests}`, caller, where));

const said = (answer: Promise<unknown>) =>
  answer.then(
    () => 'accepted',
    (error: unknown) => {
      if (!(error instanceof UserFacingError)) throw error;
      return error.reply.text;
    },
  );

const MINE = 'You have 2 exports running; start more when one has ended.';
const running = async () => (await world.exports()).filter(({ state }) => state !== 'ended');
const saved = async (run: ExportRun, changes: Partial<ExportRun>) =>
  (await world.runs.saveStep({ ...run, ...changes }, { release: changes.state === 'ended' }))?.run ?? run;

test('one person has so many exports at once, wherever they asked for them', async () => {
  expect(await starts()).toBe('accepted');
  expect(await starts(asks({ channel: { id: 'C0OTHER', name: 'other' } }))).toBe('accepted');
  expect(await starts()).toBe(MINE);
  expect(await running()).toHaveLength(2);
  expect(await starts(byBen())).toBe('accepted');
});

test('in one channel run so many, whoever asked for them', async () => {
  world = limitedTo({ exportsPerPerson: 1, exportsPerChannel: 2 });
  await starts();
  await starts(byBen());
  const cleo = { user: { id: 'U0CLEO', name: 'cleo', fullMember: true } };
  expect(await starts(asks(cleo))).toBe('2 exports run in this channel; start more when one has ended.');
  expect(await starts(asks({ ...cleo, channel: { id: 'C0OTHER', name: 'other' } }))).toBe('accepted');
});

test('those who ask at once, in several processes, get no more than there are', async () => {
  const worlds = [world, limitedTo({ exportsPerPerson: 2 }), limitedTo({ exportsPerPerson: 2 })];
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, index) => starts(asks(), worlds[index % worlds.length])),
  );
  expect(answers.filter((answer) => answer === 'accepted')).toHaveLength(2);
  expect(await running()).toHaveLength(2);
});

test.each<[string, (run: ExportRun) => Promise<unknown>]>([
  ['has ended', (run) => saved(run, endRun(run, { kind: 'lost' }, NOW_MS))],
  ['has ended, while its link is watched', (run) => saved(run, { state: 'ended', ending: anEnding.done })],
  ['waits for a person', async (run) => world.runs.markIdle(await saved(run, { state: 'unknown' }), false)],
])('an export that %s counts no more', async (_, happens) => {
  for (let time = 0; time < 2; time += 1) await starts();
  const [first] = await running();
  await happens(first as ExportRun);
  expect(await starts()).toBe('accepted');
  expect(await starts()).toBe(MINE);
});

test('the limit holds for dialogs, for exports that are only watched, and for [Start another]', async () => {
  for (const jobId of ['se_1', 'se_2'])
    expect(await said(exportCommand.run(`watch ${jobId}`, asks(), world.tools))).toBe('accepted');
  expect(await said(exportCommand.run('watch se_3', asks(), world.tools))).toBe(MINE);
  const entered = { domain: 'docs.acme.com', link: 'thread' };
  expect(await said(exportModal.submit(entered, asks(), world.tools, noDetails))).toBe(MINE);
  const value = { v: 1, domain: 'docs.acme.com', privately: false, request: '1.2.z' };
  const { startAnother } = exportActions;
  const button = exportCommands.buttons.find(({ action }) => action === startAnother) as ButtonAction;
  expect(await said(button.run(value, asks(), world.tools))).toBe(MINE);
});

const click = (label: string, run: ExportRun, caller: Caller) => {
  const button = runButtons.find(({ action }) => action === label) as ButtonAction;
  const value = button.value.parse(JSON.parse(runButtonOf(run, '', '').value ?? ''));
  return said(button.run(value, caller, world.tools));
};

test.each<[string, Partial<ExportRun>]>([
  [exportActions.startAgain, { state: 'unknown' }],
  [exportActions.tryAgain, { state: 'ended', ending: anEnding.failed }],
])('the limit of whoever asked for it first holds for %s', async (action, changes) => {
  const run = await world.given(aRun({ rev: 1, claim: undefined, ...changes }));
  for (let time = 0; time < 2; time += 1) await starts();
  expect(await click(action, run, asks())).toBe(MINE);
  expect(await click(action, run, byBen())).toBe('ana has 2 exports running; start more when one has ended.');
  expect((await world.runs.load(run.id, exportRun))?.attempt).toBe(1);
  const other = (await running()).find(({ id }) => id !== run.id) as ExportRun;
  await saved(other, endRun(other, { kind: 'lost' }, NOW_MS));
  expect(await click(action, run, asks())).toBe('accepted');
  expect((await world.runs.load(run.id, exportRun))?.attempt).toBe(2);
  expect(await starts()).toBe(MINE);
});

test('one person has so many export schedules, also by taking them over; one that is removed counts no more', async () => {
  world = limitedTo({ exportSchedulesPerPerson: 1 });
  const clicks = async (action: string, schedule: string) =>
    said(
      (async () =>
        exportScheduleButtons
          .find((one) => one.action === action)
          ?.run({ schedule }, byBen(), world.tools))(),
    );
  const left = { ownerLeft: true, state: 'paused', pausedBy: 'permission' } as const;
  for (const id of ['s1', 's2']) await world.given(anExportSchedule({ ...left, id, claim: id }));
  expect(await clicks(exportScheduleActions.takeOver, 's1')).toBe('accepted');
  const refused =
    /^You have 1 export schedule, and nobody may have more\. Remove one that you no longer need/;
  expect(await clicks(exportScheduleActions.takeOver, 's2')).toMatch(refused);
  expect((await world.runs.load('s2', exportSchedule))?.owner.id).toBe('U0ANA');
  await clicks(exportScheduleActions.remove, 's1');
  const removed = await world.runs.load('s1', exportSchedule);
  if (removed) await world.runs.markIdle(removed, true);
  expect(await clicks(exportScheduleActions.takeOver, 's2')).toBe('accepted');
});

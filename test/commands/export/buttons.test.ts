import { describe, expect, test } from 'vitest';
import { ownLinkButton, runButtons } from '../../../src/commands/export/buttons.ts';
import { startAnotherButton } from '../../../src/commands/export/command.ts';
import { startExport } from '../../../src/commands/export/start.ts';
import type { ButtonAction } from '../../../src/commands/registry.ts';
import type { Caller, CommandTools } from '../../../src/commands/tools.ts';
import { exportActions, type UseDomain } from '../../../src/jobs/export/buttons.ts';
import { runButtonOf } from '../../../src/jobs/export/phrases.ts';
import { type ExportRun, exportRun, newExportRun } from '../../../src/jobs/export/record.ts';
import { linkRun } from '../../../src/jobs/link/record.ts';
import { linkMessages } from '../../../src/jobs/link/view.ts';
import { keys } from '../../../src/store/keys.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aCaller, acme, ben } from '../../support/commands/builders.ts';
import { type CommandWorld, createCommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { anEnding, aRun } from '../../support/jobs/export/builders.ts';

let world: CommandWorld;
const redis = onFreshWorlds(
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
const given = (changes: Partial<ExportRun>) => world.given(aRun({ rev: 1, project: 'acme', ...changes }));
const stored = (id: string) => world.runs.load(id, exportRun);
const links = () => world.runs.activeOf(linkRun, 'link');

describe('a button of a run', () => {
  test('sets it going, has it stepped, and leaves an audit line', async () => {
    const run = await given({ state: 'ended', ending: anEnding.gaveUp });
    expect(await click(button(exportActions.checkNow), run)).toBeUndefined();
    expect(await stored(run.id)).toMatchObject({ state: 'watching', resumed: 1 });
    expect(world.woken).toEqual([run.id]);
    expect(world.audited).toEqual([{ subject: 'docs.acme.com', job: run.jobId, result: 'accepted' }]);
  });

  test('clicked twice, by whoever, counts once', async () => {
    const run = await given({ state: 'ended', ending: anEnding.failed, claim: undefined });
    await Promise.all([
      click(button(exportActions.tryAgain), run),
      click(button(exportActions.tryAgain), run, aCaller()),
    ]);
    expect(await stored(run.id)).toMatchObject({ attempt: 2 });
    const told = await click(button(exportActions.tryAgain), run);
    expect(told?.text).toBe('Already handled: see the latest message in this thread.');
    expect(world.audited).toHaveLength(1);
  });

  test('that starts names another run that is busy with the same', async () => {
    const { tools } = world;
    const what = {
      domain: 'docs.acme.com',
      project: 'acme',
      version: undefined,
      paths: undefined,
      privately: false,
    };
    const { claim } = newExportRun(what, aCaller(), tools);
    const run = await given({ state: 'ended', ending: anEnding.failed, claim });
    await world.runs.save(run, true);
    await startExport(what, aCaller({ requestId: 'other' }), tools);
    const told = await click(button(exportActions.tryAgain), (await stored(run.id)) as ExportRun);
    expect(told?.text).toMatch(/^docs\.acme\.com is already being exported/);
    expect((await stored(run.id))?.state).toBe('ended');
  });

  test('that asks for what was looked at just now says what that was, and has nothing stepped', async () => {
    const run = await given({ looks: [{ atMs: NOW_MS, fraction: 0.42 }] });
    expect((await click(button(exportActions.refresh), run))?.text).toBe('Still 42%, checked just now.');
    const linking = await given({ id: 'c'.repeat(24), claim: 'c2', state: 'bundling' });
    expect((await click(button(exportActions.refresh), linking))?.text).toBe(
      "I'm making a link right now. Click again in a moment.",
    );
    expect([world.woken, world.audited]).toEqual([[], []]);
  });

  test('of an earlier start says nothing of the one that runs now', async () => {
    const looks = [{ atMs: NOW_MS, fraction: 0.42 }];
    const run = await given({ looks, attempt: 2 });
    for (const action of [exportActions.refresh, exportActions.notify])
      expect((await click(button(action), { ...run, attempt: 1 }))?.text).toBe(
        'That was an earlier attempt. The export has been started again since.',
      );
    expect(await stored(run.id)).toMatchObject({ watchers: [] });
  });

  test('of a start that is watched once more counts', async () => {
    const run = await given({ resumed: 1 });
    await click(button(exportActions.refresh), { ...run, resumed: 0 });
    expect(world.woken).toEqual([run.id]);
    const told = await click(button(exportActions.notify), { ...run, resumed: 0 });
    expect(told?.text).toBe("I'll mention you when it ends.");
  });

  test('after the end says how it ended', async () => {
    const run = await given({ state: 'ended', ending: anEnding.gaveUp });
    for (const action of [exportActions.refresh, exportActions.notify])
      expect((await click(button(action), run))?.text).toBe(
        'Nothing new: no longer watched. See the latest message in the thread.',
      );
  });

  test('for a run that was only watched starts it from here', async () => {
    const run = await given({ joined: true, state: 'ended', ending: anEnding.failed });
    await click(button(exportActions.tryAgain), run);
    expect(await stored(run.id)).toMatchObject({ joined: false, state: 'carding', attempt: 2 });
  });
});

describe('a button of a run in a conversation that one is not in', () => {
  const asked = { channel: 'C0PRIVATE', joinable: true, isPublic: false, atMs: NOW_MS };
  const text = "This export is somebody else's, in a conversation that you can't see. Ask them.";

  test.each<[string, ButtonAction, Partial<ExportRun>]>([
    ['[Refresh]', button(exportActions.refresh), {}],
    ['[Notify me too]', button(exportActions.notify), {}],
    ['[Start again]', button(exportActions.startAgain), { state: 'unknown' }],
    ['[Leave it]', button(exportActions.leave), { state: 'unknown' }],
    ['[Try again]', button(exportActions.tryAgain), { state: 'ended', ending: anEnding.failed }],
    ['[Check now]', button(exportActions.checkNow), { state: 'ended', ending: anEnding.gaveUp }],
    ['[New link]', button(exportActions.newLink), { state: 'ended', ending: anEnding.done }],
    ['[Get my own link]', ownLinkButton, { state: 'ended', ending: anEnding.done }],
  ])('%s changes nothing and gives nothing: such a click is made up', async (_, action, changes) => {
    const run = await given({ asked, ...changes });
    expect((await click(action, run))?.text).toBe(text);
    expect(await stored(run.id)).toEqual(run);
    expect([await links(), world.woken, world.audited]).toEqual([[], [], []]);
  });

  test('but works for those who are in it', async () => {
    const run = await given({ asked, state: 'ended', ending: anEnding.done });
    const channel = { id: 'C0PRIVATE', name: 'privategroup' };
    await click(ownLinkButton, run, aCaller({ user: ben, channel }));
    expect(await links()).toHaveLength(1);
  });
});

describe('a button of a run whose record is gone', () => {
  const gone = aRun({ id: 'a0a0a0a0a0a0a0a0a0a0a0a0', project: 'acme', domain: 'docs.acme.com' });

  test('watches its job again, from where it was clicked', async () => {
    const caller = { ...byBen(), channel: { id: 'C0HERE', name: 'here' } };
    expect(await click(button(exportActions.checkNow), gone, caller)).toBeUndefined();
    expect(await world.exports()).toMatchObject([
      {
        joined: true,
        jobId: gone.jobId,
        domain: 'docs.acme.com',
        project: 'acme',
        requester: { id: 'U0BEN' },
        asked: { channel: 'C0HERE' },
      },
    ]);
  });

  test('watches an export with a label by its job alone: its domain would not start the same again', async () => {
    await click(button(exportActions.checkNow), { ...gone, version: '1.2' });
    expect(await world.exports()).toMatchObject([{ joined: true, jobId: gone.jobId, domain: '' }]);
  });

  test('clicked twice watches once, and nobody is notified of themselves', async () => {
    await click(button(exportActions.checkNow), gone);
    const later = { requestId: 'later' };
    expect(await click(button(exportActions.checkNow), gone, { ...byBen(), ...later })).toBeUndefined();
    const told = await click(button(exportActions.checkNow), gone, aCaller(later));
    expect(told?.text).toMatch(/docs\.acme\.com is already being exported: watched by ben/);
    expect(await world.exports()).toHaveLength(1);
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

  test('has a link for everybody where it had one', async () => {
    await click(button(exportActions.newLink), { ...gone, ending: anEnding.done });
    expect(await world.exports()).toMatchObject([{ joined: true, privately: false }]);
  });

  test('that asks for a link of one’s own gets it alone', async () => {
    await click(ownLinkButton, gone);
    expect(await world.exports()).toMatchObject([{ joined: true, privately: true }]);
  });

  test.each([
    ['never had a job', { ...gone, jobId: undefined }],
    ['belongs to a project that is gone', { ...gone, project: 'beta' }],
  ])('that %s cannot be watched: how to start a new one is told', async (_, run) => {
    const told = await click(button(exportActions.tryAgain), run);
    expect(told?.text).toBe(
      'I no longer remember this export. To start a new one, type /docs-export docs.acme.com.',
    );
    expect(await world.exports()).toEqual([]);
  });

  test('and whose domain nobody knew, says so', async () => {
    const told = await click(button(exportActions.tryAgain), { ...gone, domain: '', jobId: undefined });
    expect(told?.text).toBe('I no longer remember this export.');
  });

  test('and which an older version showed, without a project, means the one that there was', async () => {
    const value = { v: 1, run: gone.id, attempt: 1, resumed: 0, domain: 'docs.acme.com', job: gone.jobId };
    const { tools } = createCommandWorld(redis);
    const checkNow = button(exportActions.checkNow);
    await checkNow.run(checkNow.value.parse(value), byBen(), tools);
    expect(await world.exports()).toMatchObject([{ project: 'default' }]);
  });
});

describe('[Start another]', () => {
  const another = (changes: Partial<UseDomain> = {}) =>
    startAnotherButton.run(
      { v: 1, domain: 'docs.acme.com', project: 'acme', privately: false, request: '1.2.b', ...changes },
      byBen(),
      world.tools,
    );

  test('starts the same once more for whoever asks, and leaves the claim to the first', async () => {
    const first = await given({ version: '1.2', paths: ['/api'], claim: 'first' });
    expect(await another({ version: '1.2', paths: ['/api'] })).toBeUndefined();
    const second = (await world.exports()).find(({ id }) => id !== first.id);
    expect(second).toMatchObject({
      domain: 'docs.acme.com',
      project: 'acme',
      version: '1.2',
      paths: ['/api'],
      requester: { id: 'U0BEN' },
    });
    expect(second?.claim).toBeUndefined();
    expect(await redis.client.get(keys.claim('first'))).toBe(first.id);
  });

  test('clicked twice starts one', async () => {
    await given({});
    await another();
    await another();
    expect(await world.exports()).toHaveLength(2);
  });

  test('with a domain that is refused when it is typed is refused as well', async () => {
    expect((await another({ domain: 'localhost' }))?.text).toMatch(/isn't a host name/);
    expect(await world.exports()).toEqual([]);
  });
});

describe('[Get my own link]', () => {
  const done = { ...anEnding.done, privately: true } as ExportRun['ending'];
  const ended = (changes: Partial<ExportRun> = {}) =>
    given({ state: 'ended', ending: done, completedAtMs: NOW_MS, version: '1.2', ...changes });

  test('has a link made for whoever clicked', async () => {
    const run = await ended();
    const told = await click(ownLinkButton, run);
    expect(told?.text).toBe('Your own link is on its way, by direct message.');
    const [own] = await links();
    expect(own).toMatchObject({
      project: 'acme',
      exportJobId: run.jobId,
      site: 'docs.acme.com (1.2)',
      to: { id: 'U0BEN', name: 'ben' },
      state: 'making',
      made: 1,
    });
    expect(world.woken).toEqual([own?.id]);
  });

  test('clicked twice has one made, and each person gets their own', async () => {
    const run = await ended();
    await click(ownLinkButton, run);
    expect((await click(ownLinkButton, run, byBen('2')))?.text).toBe(
      'Your own link is on its way, by direct message.',
    );
    expect(await links()).toHaveLength(1);
    await click(ownLinkButton, run, aCaller({ user: { id: 'U0CLEO', name: 'cleo', fullMember: true } }));
    expect(await links()).toHaveLength(2);
  });

  test('by somebody whose link still works says until when', async () => {
    const run = await ended();
    await click(ownLinkButton, run);
    const [own] = await links();
    if (own === undefined) throw new Error('no link');
    await world.runs.save({ ...own, state: 'sent' as const, link: 'l', linkEndsAtMs: NOW_MS + 60_000 });
    expect((await click(ownLinkButton, run, byBen('2')))?.text).toMatch(
      /^I already sent you a link, and it works until <!date/,
    );
    expect(await links()).toHaveLength(1);
  });

  test('by whoever asked for the export is reminded of the one they have', async () => {
    const run = await ended();
    expect((await click(ownLinkButton, run, aCaller()))?.text).toMatch(/^I already sent you a link/);
    expect(await links()).toEqual([]);
  });

  test.each([
    ['once that has ended', { over: true }],
    ['whom it did not reach', { refusal: 'messages_tab_disabled' }],
  ])('by whoever asked, %s, has another made', async (_, changes) => {
    const run = await ended({ ending: { ...done, ...changes } as ExportRun['ending'] });
    await click(ownLinkButton, run, aCaller());
    const [own] = await links();
    expect(own && linkMessages({ ...own, state: 'failed' })[0]?.place).toEqual({ user: 'U0ANA' });
  });

  test.each<[string, Partial<ExportRun>, string]>([
    [
      'while a new link is being made',
      { state: 'bundling', relinked: 1, ending: undefined },
      "I'm making a link right now. Click again in a moment.",
    ],
    [
      'after the export was tried again',
      { state: 'ended', ending: anEnding.failed, attempt: 2 },
      'Already handled: see the latest message in this thread.',
    ],
  ])('%s makes none, and says why', async (_, changes, text) => {
    const run = await ended(changes);
    expect((await click(ownLinkButton, run))?.text).toBe(text);
    expect(await links()).toEqual([]);
  });
});

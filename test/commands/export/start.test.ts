import { describe, expect, test } from 'vitest';
import { alreadyRunningReply, startExport } from '../../../src/commands/export/start.ts';
import type { Caller } from '../../../src/commands/tools.ts';
import { cardPermalink } from '../../../src/jobs/export/permalink.ts';
import type { ExportRun } from '../../../src/jobs/export/record.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aCaller, ben, gus } from '../../support/commands/builders.ts';
import { createCommandWorld } from '../../support/commands/world.ts';
import { aRun, wholeSite } from '../../support/jobs/export/builders.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();

describe('starting', () => {
  test('keeps the run and has it stepped', async () => {
    const world = createCommandWorld(redis);
    expect(await startExport(wholeSite, aCaller(), world.tools)).toBeUndefined();
    const [run] = await world.exports();
    expect(run).toMatchObject({ domain: 'docs.acme.com', project: 'acme', state: 'accepted' });
    expect(world.woken).toEqual([run?.id]);
    expect(await world.runs.responseUrl(run?.id ?? '')).toBe('https://hooks.example/1');
  });

  test('of the same request again is the same run', async () => {
    const world = createCommandWorld(redis);
    await startExport(wholeSite, aCaller(), world.tools);
    expect(await startExport(wholeSite, aCaller(), world.tools)).toBeUndefined();
    expect(await world.exports()).toHaveLength(1);
  });

  test('what runs already says so, with the way to it, and leaves an audit line', async () => {
    const world = createCommandWorld(redis);
    await startExport({ ...wholeSite, paths: ['/b', '/a'] }, aCaller(), world.tools);
    const told = await startExport(
      { ...wholeSite, paths: ['/a', '/b'] },
      aCaller({ requestId: '1.2.b', user: ben }),
      world.tools,
    );
    expect(told?.text).toMatch(
      /^docs\.acme\.com, only \/b and 1 more, is already being exported: started by ana /,
    );
    expect(JSON.stringify(told)).toContain('https://acme.example/archives/C0DOCS/p1789914659000100');
    expect(world.audited).toEqual([{ subject: 'docs.acme.com', result: 'running already' }]);
    expect(await world.exports()).toHaveLength(1);
  });

  test('other pages of the same site goes side by side with it', async () => {
    const world = createCommandWorld(redis);
    await startExport(wholeSite, aCaller(), world.tools);
    const what = { ...wholeSite, paths: ['/a'] };
    expect(await startExport(what, aCaller({ requestId: '1.2.b' }), world.tools)).toBeUndefined();
    expect(await world.exports()).toHaveLength(2);
  });
});

describe('the answer about an export that is busy', () => {
  test.each([
    [
      'that has just ended',
      'docs.acme.com',
      'An export of docs.acme.com is just ending. Try again in a moment.',
    ],
    ['that is known by its job alone', '', 'This export is just ending. Try again in a moment.'],
  ])('%s', async (_, domain, text) => {
    const world = createCommandWorld(redis);
    const run = await world.given(aRun({ rev: 1, state: 'ended', ending: { kind: 'lost' } }));
    expect((await alreadyRunningReply(run.id, domain, aCaller(), world.tools)).text).toBe(text);
    expect((await alreadyRunningReply('gone', domain, aCaller(), world.tools)).text).toBe(text);
  });

  test('that cannot be followed from here offers no mention there, and no way to it', async () => {
    const world = createCommandWorld(redis);
    const run = await world.given(aRun({ rev: 1 }));
    const elsewhere = { channel: { id: 'C0OTHER', name: 'x' } };
    const labels = async (caller: Caller) =>
      (await alreadyRunningReply(run.id, run.domain, caller, world.tools)).blocks.flatMap((block) =>
        block.type === 'actions'
          ? block.elements.map((element) => 'text' in element && element.text?.text)
          : [],
      );
    expect(await labels(aCaller({ user: gus, ...elsewhere }))).toEqual(['Start another']);
    expect(await labels(aCaller({ user: ben, ...elsewhere }))).toEqual([
      'Open thread',
      'Notify me too',
      'Start another',
    ]);
  });
});

describe('the way to the thread', () => {
  const permalinkIn = ({ tools }: ReturnType<typeof createCommandWorld>, run: ExportRun, caller: Caller) =>
    cardPermalink(run, caller, tools, tools.workspaceUrl);
  const thread = 'https://acme.example/archives/C0DOCS/p1789914659000100';
  const from = (user: Caller['user'], channel = 'C0OTHER') =>
    aCaller({ user, channel: { id: channel, name: 'x' } });
  const privateRun = aRun({ asked: { channel: 'G0', joinable: true, isPublic: false, atMs: NOW_MS } });

  test.each([
    ['any full member, in a public channel', aRun(), from(ben), thread],
    ['no guest, in a public channel', aRun(), from(gus), undefined],
    ['guests who are in that public channel', aRun(), from(gus, 'C0DOCS'), thread],
    ['nobody else, in a private channel', privateRun, from(ben), undefined],
    ['those who are in that private channel', privateRun, from(ben, 'G0'), thread],
    ['the requester, everywhere', privateRun, from(aCaller().user), thread],
    ['nobody else, in direct messages', aRun({ inDirectMessage: true }), from(ben), undefined],
  ])('is shown to %s', async (_, run, caller, expected) => {
    expect(await permalinkIn(createCommandWorld(redis), run, caller)).toBe(expected);
  });

  test('is not there while the card is not; what cannot be read is an error, after which Home is made again', async () => {
    const waiting = createCommandWorld(redis, {
      outbox: { deliveryState: async () => ({ kind: 'waiting' }) },
    });
    const away = createCommandWorld(redis, {
      outbox: { deliveryState: () => Promise.reject(new Error('away')) },
    });
    expect(await permalinkIn(waiting, aRun(), aCaller())).toBeUndefined();
    await expect(permalinkIn(away, aRun(), aCaller())).rejects.toThrow('away');
  });
});

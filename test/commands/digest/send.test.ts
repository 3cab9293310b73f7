import { describe, expect, test } from 'vitest';
import { digestCommand } from '../../../src/commands/digest/command.ts';
import { UserFacingError } from '../../../src/commands/user-facing-error.ts';
import { type EditionRun, editionRun, weeklyId } from '../../../src/jobs/digest/edition/record.ts';
import { type FiguresRun, figuresRun } from '../../../src/jobs/digest/figures/record.ts';
import type { Message } from '../../../src/slack/blocks.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aCaller, aProject, ben } from '../../support/commands/builders.ts';
import { acmeDocs, betaDocs, onDigestWorlds, WEEK, WEEK_TEXT } from '../../support/commands/digest.ts';
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
  test('is begun with its figures, and its schedule goes on with the week after', async () => {
    const schedule = await kept.scheduled({ nextAtMs: Date.UTC(2026, 8, 20, 15) });
    expect(await said('run', aCaller({ user: ben }))).toBe(ON_ITS_WAY);
    expect(await edition()).toMatchObject({
      kind: 'weekly',
      week: WEEK,
      schedule: schedule.id,
      owner: { id: 'U0ANA' },
      state: 'collecting',
      dueAtMs: NOW_MS,
    });
    expect((await kept.figures()).map(({ range }) => range.from).toSorted()).toEqual([
      '2026-08-31',
      '2026-09-07',
    ]);
    expect(await kept.latest(schedule)).toMatchObject({
      posting: { run: weekly(), week: WEEK },
      // That of the week which ends tonight, not another of the one that is being posted.
      nextAtMs: Date.UTC(2026, 8, 21, 7),
    });
    expect(world.audited).toEqual([{ subject: 'docs.acme.com', result: `sent now: ${WEEK}` }]);
  });

  test('is one digest, however often it is wanted', async () => {
    await kept.scheduled();
    expect(await said('run')).toBe(ON_ITS_WAY);
    const first = await edition();
    expect(await said('run', aCaller({ user: ben }))).toBe(ON_ITS_WAY);
    expect(await edition()).toEqual(first);
    expect(await kept.editions()).toHaveLength(1);
    // Each of the two is answered once it is posted.
    expect(world.audited).toHaveLength(2);
  });

  test('that is there already is not posted again: the answer leads to it', async () => {
    await kept.scheduled();
    await type('run');
    await ends({ why: 'done' });
    const told = await type('run');
    expect(told?.text).toBe(
      `Already posted · the digest of docs.acme.com in <#C0DOCS>\nNothing was posted again.\n${WEEK_TEXT}`,
    );
    expect(JSON.stringify(told?.blocks)).toContain('https://acme.example/archives/C0DOCS/p1789914659000100');
    expect(await edition()).toMatchObject({ state: 'ended' });
  });

  test('is there without a way to it where its message is not', async () => {
    await kept.scheduled();
    await type('run');
    await ends({ why: 'done' });
    world.tools.outbox = { deliveryState: async () => ({ kind: 'waiting' }) };
    expect((await type('run'))?.blocks.map(({ type }) => type)).toEqual(['rich_text', 'context']);
  });

  test('that could not be collected is begun again, with what of its figures failed', async () => {
    const schedule = await kept.scheduled();
    await type('run');
    await figuresEnd({ failed: 'platform' });
    await ends({ why: 'platform' });
    const later = await kept.latest(schedule);
    await world.runs.save({ ...(later ?? schedule), posting: undefined });
    expect(await said('run')).toBe(ON_ITS_WAY);
    expect(await edition()).toMatchObject({ state: 'collecting' });
    expect((await edition())?.ended).toBeUndefined();
    expect((await kept.figures()).map(({ state, failed }) => [state, failed])).toEqual([
      ['collecting', undefined],
      ['collecting', undefined],
    ]);
    expect(await kept.latest(schedule)).toMatchObject({ posting: { run: weekly() } });
  });

  test('that could not be collected is begun with the sections that its schedule has by now', async () => {
    const schedule = await kept.scheduled();
    await type('run');
    await figuresEnd({ failed: 'platform' });
    await ends({ why: 'platform' });
    const before = await edition();
    const later = await kept.latest(schedule);
    await world.runs.save({ ...(later ?? schedule), posting: undefined, sections: ['csv'] });
    expect(await said('run')).toBe(ON_ITS_WAY);
    const after = await edition();
    expect(after?.sections).toEqual(['csv']);
    expect(after?.figures).not.toBe(before?.figures);
    const collecting = (await kept.figures()).filter(({ state }) => state === 'collecting');
    expect(collecting.map(({ id }) => id).toSorted()).toEqual(
      [after?.figures, after?.figuresBefore].toSorted(),
    );
  });

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

  test('that Slack refused is tried again, as the same message', async () => {
    await kept.scheduled();
    await type('run');
    await ends({ why: 'place', code: 'not_in_channel' }, { totals: { human: 1, ai: 1 } });
    expect(await said('run')).toBe(ON_ITS_WAY);
    expect(await edition()).toMatchObject({ state: 'posted', attempt: 2 });
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

  test('works for one that is paused', async () => {
    const schedule = await kept.scheduled({ state: 'paused', pausedByFailures: true, failures: 3 });
    expect(await said('run')).toBe(ON_ITS_WAY);
    expect(await kept.latest(schedule)).toMatchObject({ state: 'paused', posting: { run: weekly() } });
  });
});

test('a preview is what comes next, for whoever wants it alone', async () => {
  const schedule = await kept.scheduled({ sections: ['pages'] });
  expect(await said('preview', aCaller({ user: ben }))).toBe(
    `On its way · a preview of the digest of docs.acme.com\nI'll send it as a direct message; nobody else sees it.\n${WEEK_TEXT}`,
  );
  expect(await kept.editions()).toMatchObject([
    { kind: 'preview', week: WEEK, owner: { id: 'U0BEN' }, sections: ['pages'], site: 'docs.acme.com' },
  ]);
  expect(await kept.latest(schedule)).toEqual(schedule);
});

describe('any dates', () => {
  test.each([
    ['last week', '2026-09-07', '2026-09-14', WEEK_TEXT],
    ['14d', '2026-09-06', '2026-09-20', '6–19 Sep 2026 (UTC)'],
    ['2026-09-01..2026-09-15', '2026-09-01', '2026-09-16', '1–15 Sep 2026 (UTC)'],
    ['  2026-09-01 .. 2026-09-15 --project acme', '2026-09-01', '2026-09-16', '1–15 Sep 2026 (UTC)'],
    ['--project ACME Last  Week', '2026-09-07', '2026-09-14', WEEK_TEXT],
  ])('%s', async (typed, from, to, text) => {
    expect(await said(typed)).toBe(
      `On its way · the digest of docs.acme.com\nI'll post it here in a moment.\n${text}`,
    );
    expect(await kept.editions()).toMatchObject([
      { kind: 'asked', channel: 'C0DOCS', range: { from, to }, project: 'acme', owner: { id: 'U0ANA' } },
    ]);
    const requests = (await kept.figures()).map(({ maxRequests = 0 }) => maxRequests);
    expect(requests.reduce((all, some) => all + some, 0)).toBe(20);
    expect(world.woken).toHaveLength(3);
  });

  test.each([
    ['a direct message', { id: 'D0ANA', name: 'directmessage' }],
    ['a conversation of a few', { id: 'G0MPIM', name: 'mpdm-ana--ben-1' }],
  ])('in %s come to direct messages: the app cannot join it', async (_, channel) => {
    expect(await said('14d', aCaller({ channel }))).toBe(
      "On its way · the digest of docs.acme.com\nI'll send it as a direct message in a moment.\n6–19 Sep 2026 (UTC)",
    );
    expect(await kept.editions()).toMatchObject([{ kind: 'asked', inDirectMessage: true }]);
  });

  test.each([
    ['lst', "I don't know that range."],
    ['2026-09-01..2026-09-31', '2026-09-31 is not a day.'],
    ['93d', 'That is 93 days, and I can read 92 at once.'],
    ['2026-09-01..2026-09-21', '2026-09-21 has not begun yet in UTC.'],
    ['x'.repeat(40_000), "I don't know that range."],
    [`2026-09-01..${'9'.repeat(39_000)}`, "I don't know that range."],
  ])('that make no range are answered with what does: %s', async (typed, told) => {
    const answer = await said(typed);
    expect(answer?.startsWith(told)).toBe(true);
    expect(answer?.split('\n').at(-1)).toBe('/docs-digest help lists all commands.');
    expect(answer?.length).toBeLessThan(400);
    expect(await kept.figures()).toEqual([]);
  });

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

describe('one person has two on their way', () => {
  const FULL = '2 of your digests are on their way. Ask again when they have arrived.';
  const asks = (n: number, caller = aCaller()) => said(`2026-08-0${n}`, caller);

  test('and gets no third, for which nothing is read', async () => {
    for (const n of [1, 2]) expect(await asks(n)).toContain('in a moment');
    const before = await kept.figures();
    expect(await asks(3)).toBe(FULL);
    expect(await kept.figures()).toEqual(before);
    expect(await kept.editions()).toHaveLength(2);
    expect(world.audited).toEqual([{ subject: 'acme', result: 'refused: too many at once' }]);
  });

  test('also of previews, and of dates that are read already', async () => {
    await kept.scheduled();
    for (const _ of [1, 2]) await asks(1);
    await figuresEnd();
    for (const _ of [1, 2]) await said('preview');
    expect(await said('preview')).toBe(FULL);
  });

  test('while others have theirs, and until one has ended', async () => {
    for (const n of [1, 2]) await asks(n);
    expect(await asks(3, aCaller({ user: ben }))).toContain('in a moment');
    await figuresEnd();
    expect(await asks(4)).toBe(FULL);
    await editionsEnd();
    expect(await asks(5)).toContain('in a moment');
  });
});

describe('which project is meant', () => {
  const withProjects = (...projects: CommandWorld['tools']['projects']) => {
    world.tools.projects = projects;
  };

  test('says the channel, or the person', async () => {
    withProjects(acmeDocs, betaDocs);
    expect(await said('14d')).toBe(
      'Which project: acme, beta? For example: \n/docs-digest 14d --project acme',
    );
    expect(await said('14d --project Beta')).toContain('in a moment');
    await said('14d', aCaller({ channel: { id: 'C0BETA', name: 'beta' }, user: ben }));
    expect((await kept.editions()).map(({ project, site }) => [project, site])).toEqual([
      ['beta', 'docs.beta.io'],
      ['beta', 'docs.beta.io'],
    ]);
  });

  test.each(['14d', 'list', 'create', 'pause'])(
    '%s names what there is for one that is not there',
    async (typed) => {
      withProjects(acmeDocs, aProject({ name: 'gamma' }));
      expect(await said(`${typed} --project ${'z'.repeat(9000)}`)).toMatch(
        /^No project "z{59}…"\. Available: acme\.$/,
      );
      expect(await said(`${typed} --project gamma`)).toBe(
        "My settings have no projectId for gamma, so I can't read its numbers.",
      );
    },
  );

  test('is none where no project has an id', async () => {
    withProjects(aProject());
    for (const typed of ['14d', 'create'])
      expect(await said(typed)).toMatch(/^My settings have no projectId, so I can't read/);
    expect(world.opened).toEqual([]);
  });
});

test('nothing that is typed, or help, is answered with what there is', async () => {
  for (const typed of ['', ' ', 'help']) {
    const told = await said(typed);
    expect(told).toContain('Set up a weekly digest: /docs-digest create\n');
    expect(told).toContain('Post a digest for any dates here: /docs-digest 2026-11-01..2026-11-15');
  }
});

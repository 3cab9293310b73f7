import { beforeEach, expect, test } from 'vitest';
import { pageShortcut } from '../../../src/commands/digest/page.ts';
import { figuresOf } from '../../../src/jobs/digest/edition/record.ts';
import type { FiguresRun } from '../../../src/jobs/digest/figures/record.ts';
import { editionKindOf, periodAt, type ScheduleRun } from '../../../src/jobs/digest/schedule/record.ts';
import { lastCompleteWeek } from '../../../src/jobs/digest/weeks.ts';
import { createFiguresStore } from '../../../src/store/figures.ts';
import { keys } from '../../../src/store/keys.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aCaller, aProject } from '../../support/commands/builders.ts';
import { type CommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { aSchedule } from '../../support/jobs/digest/builders.ts';

let world: CommandWorld;
const projects = ['acme', 'beta'].map((name) =>
  aProject({ name, projectId: name, domains: [`docs.${name}.com`, `help.${name}.com`] }),
);
const redis = onFreshWorlds(
  (fresh) => {
    world = fresh;
  },
  { projects },
);
const { range } = lastCompleteWeek(NOW_MS);
const clicked = (rate: number) => [{ query: 'sso', hits: 9, page: '/sso', rate }];

/** A project's digest with the figures of last week. */
async function given(project: string, changes: Partial<FiguresRun>, more: Partial<ScheduleRun> = {}) {
  const schedule = aSchedule({ id: project, project, site: `docs.${project}.com`, ...more });
  await world.given(schedule);
  const { range } = periodAt(schedule, NOW_MS);
  const [run] = figuresOf({ ...schedule, kind: editionKindOf(schedule), range }, NOW_MS);
  if (run) await world.given({ ...run, state: 'ended', pages: { offset: 2, isComplete: true }, ...changes });
  const pages = [
    { path: '/sso', human: 310, ai: 0 },
    { path: '/sso/', human: 10, ai: 0 },
  ];
  await createFiguresStore(redis.client).addPages({ teamId: 'T0ACME', project }, range, 0, pages, true);
}

const readers = (rate: number) => ({ readers: { done: [], figures: {}, clicked: clicked(rate) } });
const answer = async (...links: string[]) => {
  const content = { text: links.map((link) => `<https://${link}>`).join(' ') };
  const reply = await pageShortcut.run({ ts: '1.1', chosenTs: '1.2', content }, aCaller(), world.tools);
  return reply?.text.split('\n') ?? [];
};
const asks = async (...links: string[]) => (await answer(...links)).slice(0, -1);

beforeEach(() => given('beta', {}));

test('a channel that has only a monthly digest gets the numbers of the month', async () => {
  await given('acme', {}, { timetable: { monthly: true, time: '09:00', zone: 'UTC' } });
  expect(await asks('docs.acme.com/sso')).toEqual(['/sso · people 320 during August 2026, AI 0%']);
});

test.each([
  ['a share', 0.62, ' 62%'],
  ['a percentage', 62, ' 62%'],
  ['more than all', 620, ' 100%'],
  ['none', -1, ' under 1%'],
])('a click rate on an unknown scale: %s', async (_, rate, shown) => {
  await given('acme', readers(rate));
  expect(await asks('docs.acme.com/sso')).toEqual([
    '/sso · people 320 last week, AI 0%',
    `Searches that led here most often, with their click rate: "sso"${shown}`,
  ]);
});

test('thumbs of both spellings are added, and not known where the platform has more', async () => {
  const thumbs = ['/sso', '/sso/'].map((path) => ({ path, up: 1, down: 2 }));
  await given('acme', { readers: { done: [], figures: { thumbs, cut: { thumbs: true } } } });
  expect((await asks('docs.acme.com/sso'))[1]).toBe('4 thumbs down, 2 up');
  expect((await asks('docs.acme.com/other'))[1]).toBe('thumbs not known');
});

test('figures from before click rates were kept have none', async () => {
  expect(await asks('docs.beta.com/sso')).toEqual(['/sso · people 320 last week, AI 0%']);
});

test('a list that is incomplete, or no longer stored, says of no page that nobody read it', async () => {
  await given('acme', { pages: { offset: 250, isComplete: false } });
  const notNow = [expect.stringContaining('its digest is paused')];
  expect(await answer('docs.acme.com/other')).toEqual(notNow);
  await redis.client.del(keys.pageFigures('T0ACME', 'beta', `${range.from}..${range.to}`));
  expect(await answer('docs.beta.com/other')).toEqual(notNow);
});

test('a path with an e-mail address is in no list, so it counts as no page', async () => {
  expect(await asks('docs.beta.com/ana@acme.com')).toEqual([expect.stringContaining('No link here leads')]);
});

test('links to two sites, one of which no digest has numbers of', async () => {
  expect(await asks('docs.acme.com/sso', 'help.beta.com/sso', 'docs.beta.com/sso')).toEqual([
    '/sso · help.beta.com · people 320 last week, AI 0%',
    '/sso · docs.beta.com · people 320 last week, AI 0%',
    'No digest that you can see here has collected numbers of docs.acme.com yet.',
    expect.stringContaining('help.beta.com · '),
  ]);
});

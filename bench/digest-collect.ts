import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createStandInSlack } from '../demo/slack/slack.ts';
import { editionRun, figuresOf, newEdition, scheduledId } from '../src/jobs/digest/edition/record.ts';
import { lastCompleteWeek, type Period } from '../src/jobs/digest/weeks.ts';
import { aSchedule } from '../test/support/jobs/digest/builders.ts';
import { type ServedCall, startPlatform } from './parts/platform.ts';
import { printTable, type Row, seconds } from './parts/table.ts';
import { openRuns, startWorld } from './parts/world.ts';

/**
 * The digests of two weeks of a large site, one after the other: requests, the time that collecting takes beside what
 * the platform itself takes, and the memory of the bot.
 */
const WALL_RATIO = 1.2;
const MOST_MB = 80;
const PROJECT = 'acme';
const PAGE_LIMIT = 250;
const WEEK_MS = 7 * 86_400_000;
const SAMPLE_EVERY_MS = 20;
/** For memory of the start to be given back, and for the first connections. */
const SETTLE_MS = 5000;

const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '25000' },
    delay: { type: 'string', default: '30' },
  },
});
const [pages, delayMs] = [Number(values.pages), Number(values.delay)];

const slack = createStandInSlack({ transport: 'http' });
const platform = await startPlatform(pages, delayMs);
const world = await startWorld(
  slack,
  platform,
  `projects: { ${PROJECT}: { projectId: ${platform.projectId} } }\nlimits: { analyticsPerHour: 10000 }\n`,
);
const { bot } = world;
const runs = openRuns(world.redisUrl);

/** Of the resident memory of the bot, in MB. */
const residentMb = () =>
  (Number(readFileSync(`/proc/${bot.pid}/statm`, 'utf8').split(' ')[1]) * 4096) / 2 ** 20;

/** Has the digest of a week posted, and returns what that took. */
async function post(week: Period, channel: string) {
  const where = { teamId: slack.team.id, channel: slack.channel(channel).id, project: PROJECT };
  const { site, owner, sections } = aSchedule();
  const plan = { ...where, site, owner, sections, range: week.range, kind: 'weekly' } as const;
  const nowMs = Date.now();
  const id = scheduledId(where, week.name);
  const edition = newEdition({ ...plan, id }, nowMs);
  let peakMb = 0;
  const timer = setInterval(() => {
    peakMb = Math.max(peakMb, residentMb());
  }, SAMPLE_EVERY_MS);
  for (const run of [...figuresOf(edition, nowMs), edition]) await runs.start(run);
  let ended = await runs.load(edition.id, editionRun);
  while (ended?.state !== 'ended') {
    await pause(100);
    ended = await runs.load(edition.id, editionRun);
  }
  clearInterval(timer);
  const served = (await platform.served()).filter(({ name }) => name.includes('/analytics/'));
  return { ended, served, peakMb };
}

type Posted = Awaited<ReturnType<typeof post>>;

/** How long it took the platform, where it served one after the other; what it served at once counts once for each. */
const sumMs = (calls: readonly ServedCall[]) =>
  calls.reduce((sum, { beganAtMs, endedAtMs }) => sum + endedAtMs - beganAtMs, 0);
const wallMs = (calls: readonly ServedCall[]) =>
  Math.max(...calls.map(({ endedAtMs }) => endedAtMs)) - Math.min(...calls.map(({ beganAtMs }) => beganAtMs));

await pause(SETTLE_MS);
const idleMb = residentMb();
const week = lastCompleteWeek(Date.now());
console.log(
  `A site of ${pages} pages, and a platform that takes ${delayMs} ms for each answer, in a process of its own.\n`,
);
const first = await post(lastCompleteWeek(Date.now() - WEEK_MS), '#docs');
const second = await post(week, '#docs');
await bot.stop();

const isReaders = ({ name }: ServedCall) => !name.endsWith('/views');
const weekRows = (name: string, days: number, lists: number, { served, ended, peakMb }: Posted): Row[] => {
  const views = served.filter((call) => !isReaders(call)).length;
  const expected = days + lists * Math.ceil(pages / PAGE_LIMIT);
  const ratio = wallMs(served) / sumMs(served);
  const grownMb = peakMb - idleMb;
  return [
    { what: `${name} week: requests (${expected})`, figure: String(views), held: views === expected },
    {
      what: `${name} week: requests for optional sections`,
      figure: String(served.filter(isReaders).length),
    },
    {
      what: `${name} week: time to collect / sum of the platform's own (≤ ${WALL_RATIO})`,
      figure: `${seconds(wallMs(served))} / ${seconds(sumMs(served))} = ${ratio.toFixed(2)}`,
      held: ratio <= WALL_RATIO,
    },
    {
      what: `${name} week: pages`,
      figure: `${ended.pages?.count} of ${pages}`,
      held: ended.pages?.count === pages,
    },
    {
      what: `${name} week: peak memory above idle (≤ ${MOST_MB} MB)`,
      figure: `${grownMb.toFixed(0)} MB`,
      held: grownMb <= MOST_MB,
    },
  ];
};
printTable([
  { what: 'memory of the idle bot', figure: `${idleMb.toFixed(0)} MB` },
  ...weekRows('first', 14, 2, first),
  ...weekRows('second', 7, 1, second),
  { what: 'errors in the log', figure: String(bot.complaints().length) },
]);

await runs.close();
platform.stop();
await world.stop();

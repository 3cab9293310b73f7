import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createStandInPlatform } from '../demo/docs-platform/platform.ts';
import { createStandInSlack, type StandInSlack } from '../demo/slack/slack.ts';
import { editionRun, figuresOf, scheduledId } from '../src/jobs/digest/edition/record.ts';
import { figuresRun } from '../src/jobs/digest/figures/record.ts';
import { lastCompleteWeek, type Period } from '../src/jobs/digest/weeks.ts';
import { aSchedule } from '../test/support/jobs/digest/builders.ts';
import { addChannels, channelOf } from './parts/channels.ts';
import { median, quantile } from './parts/figures.ts';
import { domainsFor, followThreads, watchPeople, workText } from './parts/people.ts';
import { printTable, type Row, seconds } from './parts/table.ts';
import { openRuns, startWorld } from './parts/world.ts';

/**
 * Many digests that are due at the same moment, while people ask for exports and reply to the agent: from a command to
 * its card, and from a reply to the platform, against the same without digests. Their figures have been collected
 * before, as always; Slack has its real limits.
 */
const SLOWER = 1.2;
const PROJECTS = ['api', 'app', 'cli', 'sdk', 'web'];
const SECTIONS = ['pages' as const, 'readers' as const, 'csv' as const];
/** For what the start left to do. */
const SETTLE_MS = 3000;
/** How long all digests may take. */
const GRACE_MS = 900_000;

const { values } = parseArgs({
  options: { schedules: { type: 'string', default: '200' }, seconds: { type: 'string', default: '120' } },
});
const schedules = Number(values.schedules);
const channels = Math.ceil(schedules / PROJECTS.length);
const forMs = Number(values.seconds) * 1000;
const domains = domainsFor(forMs);
const place = (index: number) => channelOf(index, channels);

type Runs = ReturnType<typeof openRuns>;

/** What people noticed, in milliseconds, and what became of the digests; without `rush`, none is due. */
async function measure(rush: boolean) {
  const slack = createStandInSlack({ transport: 'http' });
  addChannels(slack, channels);
  const platform = createStandInPlatform({
    domains,
    analyticsPerHour: Infinity,
    followUpsPerHour: 10_000,
    exportPlan: { durationMs: 600_000, pages: 200 },
    agentPlan: { durationMs: 600_000 },
  });
  const { url, close: closePlatform } = await platform.listen();
  const { apiKey, projectId } = platform;
  const world = await startWorld(slack, { url, apiKey, projectId }, configOf(projectId));
  const runs = openRuns(world.redisUrl);
  const threads = await followThreads({ slack, platform }, place, 'api');
  const week = lastCompleteWeek(Date.now());
  if (rush) await collectFigures(slack.team.id, week, runs);
  await pause(SETTLE_MS);

  const people = watchPeople({ slack, platform });
  const dueAtMs = Date.now();
  const editions = rush ? await makeDue(slack, week, dueAtMs, runs) : [];
  await people.workFor(forMs, GRACE_MS, { domains, threads, channelOf: place });
  const ended = await awaitComplete(editions, dueAtMs + GRACE_MS, runs);
  const completeMs = Date.now() - dueAtMs;

  await world.bot.stop();
  await runs.close();
  await Promise.all([world.stop(), closePlatform()]);
  const roots = slack.messages.filter(({ from, text }) => from === 'docket' && text.startsWith('Digest of'));
  return {
    cards: people.cards,
    replies: people.replies,
    ended,
    completeMs,
    edits: roots.reduce((sum, message) => sum + message.edits.length, 0),
    postedMs: roots.map(({ ts }) => Number(ts) * 1000 - dueAtMs),
    limited: slack.limited.length,
    violations: slack.violations,
    complaints: world.bot.complaints(),
  };
}

/** All projects are one of the platform's; the first has the sites that are exported. */
function configOf(projectId: string): string {
  const limits = `exportsPerPerson: 1000, exportsPerChannel: 1000, followUpsPerHour: 10000, analyticsPerHour: 10000`;
  const projects = PROJECTS.map(
    (name, index) =>
      `  ${name}: { projectId: ${projectId}, domains: [${index === 0 ? domains.join(', ') : ''}] }\n`,
  );
  // People reply while the agent works.
  return `whileWorking: send\nprojects:\n${projects.join('')}limits: { ${limits} }\n`;
}

/** Has the figures of all projects collected, as a schedule does in time. */
async function collectFigures(teamId: string, week: Period, runs: Runs): Promise<void> {
  const figures = PROJECTS.flatMap((project) =>
    figuresOf({ teamId, project, kind: 'weekly', range: week.range, sections: SECTIONS }, Date.now()),
  );
  for (const wanted of figures) await runs.start(wanted);
  const ids = figures.map(({ id }) => id);
  while ((await runs.loadAll(ids, figuresRun)).some(({ state }) => state !== 'ended')) await pause(200);
}

/** Sets up all schedules, due at this moment. Returns the ids of their digests. */
async function makeDue(slack: StandInSlack, week: Period, dueAtMs: number, runs: Runs): Promise<string[]> {
  const teamId = slack.team.id;
  const editions: string[] = [];
  for (let index = 0; index < schedules; index += 1) {
    const { id: channel } = slack.channel(place(index));
    const project = PROJECTS[Math.floor(index / channels)] ?? '';
    const times = { sinceMs: dueAtMs, nextAtMs: dueAtMs, prepared: week.name };
    const of = { id: `bench-${index}`, teamId, sections: SECTIONS, project, channel };
    await runs.start(aSchedule({ ...of, ...times }));
    editions.push(scheduledId({ teamId, channel, project }, week.name));
  }
  return editions;
}

/** Waits until all digests are complete, or until then. Returns how many are. */
async function awaitComplete(editions: string[], untilMs: number, runs: Runs): Promise<number> {
  for (;;) {
    const loaded = await runs.loadAll(editions, editionRun);
    const complete = loaded.filter(({ ended }) => ended?.why === 'done').length;
    if (complete === editions.length || Date.now() >= untilMs) return complete;
    await pause(1000);
  }
}

console.log(`${schedules} digests of ${PROJECTS.length} projects in ${channels} channels, due at the same moment; meanwhile, for ${seconds(forMs)},
${workText(seconds)}.
`);
const without = await measure(false);
const rushed = await measure(true);

const compare = (what: string, of: 'cards' | 'replies'): Row[] =>
  [0.5, 0.99].map((q) => {
    const [mine, bare] = [quantile(rushed[of], q), quantile(without[of], q)];
    const isBound = q === 0.99;
    return {
      what: `${what}: ${q * 100} %${isBound ? ` (≤ ${SLOWER} times)` : ''}`,
      figure: `${mine.toFixed(0)} ms / ${bare.toFixed(0)} ms = ${(mine / bare).toFixed(2)}`,
      ...(isBound && { held: mine / bare <= SLOWER }),
    };
  });
const refused = without.limited + rushed.limited;
printTable([
  {
    what: 'digests posted once',
    figure: `${rushed.postedMs.length} of ${schedules}`,
    held: rushed.postedMs.length === schedules,
  },
  { what: 'digests complete', figure: `${rushed.ended} of ${schedules}`, held: rushed.ended === schedules },
  {
    what: 'due → posted: median, last',
    figure: `${seconds(median(rushed.postedMs))}, ${seconds(Math.max(...rushed.postedMs))}`,
  },
  { what: 'due → all complete', figure: seconds(rushed.completeMs) },
  { what: 'edits of a digest', figure: (rushed.edits / schedules).toFixed(2) },
  { what: 'HTTP 429 from Slack (0)', figure: String(refused), held: refused === 0 },
  {
    what: 'rules of Slack broken (0)',
    figure: String(rushed.violations.length),
    held: rushed.violations.length === 0,
  },
  ...compare(`command → card (${rushed.cards.length})`, 'cards'),
  ...compare(`reply → platform (${rushed.replies.length})`, 'replies'),
  { what: 'warnings in the log', figure: String(rushed.complaints.length) },
]);
for (const line of [...rushed.violations, ...rushed.complaints].slice(0, 3)) console.log(line);

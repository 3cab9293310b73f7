import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createStandInPlatform } from '../demo/docs-platform/platform.ts';
import { createStandInSlack } from '../demo/slack/slack.ts';
import { weeklyFigures } from '../src/jobs/digest/edition/new-edition.ts';
import { editionRun, weeklyId } from '../src/jobs/digest/edition/record.ts';
import { figuresRun } from '../src/jobs/digest/figures/record.ts';
import { lastCompleteWeek } from '../src/jobs/digest/weeks.ts';
import { enqueueRun } from '../src/jobs/index.ts';
import { createQueues } from '../src/jobs/queue.ts';
import { defaultTiming } from '../src/runtime/timing.ts';
import { connectForWork } from '../src/store/redis/connections.ts';
import { createRunStore } from '../src/store/runs.ts';
import { aSchedule } from '../test/support/jobs/digest/builders.ts';
import { startTestRedis } from '../test/support/redis.ts';
import { startBot } from './parts/bot.ts';
import { median, quantile } from './parts/figures.ts';
import { printTable, type Row, seconds } from './parts/table.ts';

/**
 * Many digests that are due at the same moment, while people ask for exports and reply to the agent: from a command to
 * its card, and from a reply to the platform, against the same without digests. Their figures have been collected
 * before, as always; Slack has its real limits.
 */
const SLOWER = 1.2;
const PROJECTS = ['api', 'app', 'cli', 'sdk', 'web'];
const THREADS = 8;
const EXPORT_EVERY_MS = 2000;
const REPLY_EVERY_MS = 500;
/** How long all digests may take. */
const GRACE_MS = 900_000;
const SEND = 'POST /v2/agent/{projectId}/job/{jobId}/message';

const { values } = parseArgs({
  options: { schedules: { type: 'string', default: '200' }, seconds: { type: 'string', default: '120' } },
});
const schedules = Number(values.schedules);
const channels = Math.ceil(schedules / PROJECTS.length);
const forMs = Number(values.seconds) * 1000;
const exports = Math.floor(forMs / EXPORT_EVERY_MS);
const domains = Array.from({ length: exports }, (_, index) => `site-${index}.acme.com`);
const channelOf = (index: number) => `#bench-${(index % channels) + 1}`;

/** What people noticed, in milliseconds, and what became of the digests. */
async function run(rush: boolean) {
  const slack = createStandInSlack({ transport: 'http' });
  const members = slack.workspace.users.filter(({ name }) => ['docket', 'ana', 'ben'].includes(name));
  for (let index = 0; index < channels; index += 1)
    slack.workspace.addChannel({
      label: channelOf(index),
      name: channelOf(index).slice(1),
      kind: 'public',
      members: new Set(members.map(({ id }) => id)),
      archived: false,
      shared: false,
    });
  const platform = createStandInPlatform({
    domains,
    analyticsPerHour: Infinity,
    followUpsPerHour: 10_000,
    exportPlan: { durationMs: 600_000, pages: 200 },
    agentPlan: { durationMs: 600_000 },
  });
  const redis = await startTestRedis();
  const folder = mkdtempSync(join(tmpdir(), 'docket-bench-'));
  const config = join(folder, 'docket.yml');
  const project = (name: string, index: number) =>
    `  ${name}: { projectId: ${platform.projectId}, domains: [${index === 0 ? domains.join(', ') : ''}] }\n`;
  const limits = `exportsPerPerson: 1000, exportsPerChannel: 1000, followUpsPerHour: 10000, analyticsPerHour: 10000`;
  writeFileSync(config, `projects:\n${PROJECTS.map(project).join('')}limits: { ${limits} }\n`);
  const [slackServer, platformServer] = await Promise.all([slack.listen(), platform.listen()]);
  const bot = await startBot({
    SLACK_BOT_TOKEN: slack.tokens.bot,
    SLACK_SIGNING_SECRET: slack.tokens.signingSecret,
    SLACK_API_URL: `${slackServer.url}/api/`,
    DOCS_API_URL: platformServer.url,
    DOCS_API_KEY: platform.apiKey,
    DOCKET_CONFIG: config,
    REDIS_URL: redis.url,
  });
  slack.botUrl = `http://127.0.0.1:${bot.port}/slack/events`;
  const connection = connectForWork({ url: redis.url }, defaultTiming, () => {});
  const queues = createQueues(connection, () => {});
  const runs = createRunStore(connection);

  const ana = slack.person('ana');
  const threads: { channel: string; ts: string }[] = [];
  for (let index = 0; index < THREADS; index += 1) {
    const channel = channelOf(index);
    await ana.types(
      channel,
      `/docs-agent follow ${platform.agent.add({ ref: `agent/t${index}.` })} --project api`,
    );
    const card = await slack.until(() =>
      slack.messages.find((message) => slack.read(message).includes(`agent/t${index}.`)),
    );
    threads.push({ channel, ts: card.ts });
  }

  // The figures are collected in time.
  const week = lastCompleteWeek(Date.now());
  const of = { teamId: slack.team.id, sections: ['pages' as const, 'readers' as const, 'csv' as const] };
  const figures = PROJECTS.flatMap((name) => weeklyFigures({ ...of, project: name }, week, Date.now()));
  for (const wanted of rush ? figures : []) {
    await runs.accept(wanted, Number.MAX_SAFE_INTEGER, 0, undefined);
    await enqueueRun(queues, wanted);
  }
  const figureIds = rush ? figures.map(({ id }) => id) : [];
  while ((await runs.loadAll(figureIds, figuresRun)).some(({ state }) => state !== 'ended')) await pause(200);
  await pause(3000);

  const askedAtMs = new Map<string, number>();
  const sentAtMs = new Map<string, number>();
  const [cards, replies]: [number[], number[]] = [[], []];
  slack.workspace.onChange(() => {
    const message = slack.messages.at(-1);
    if (message === undefined || message.from !== 'docket') return;
    const domain = /site-\d+\.acme\.com/.exec(message.text)?.[0] ?? '';
    const atMs = askedAtMs.get(domain);
    askedAtMs.delete(domain);
    if (atMs !== undefined) cards.push(performance.now() - atMs);
  });
  platform.wire.onCall((call, phase) => {
    if (call.name !== SEND || phase !== 'before') return;
    const { prompt } = call.detail.body as { prompt: string };
    const atMs = sentAtMs.get(prompt);
    sentAtMs.delete(prompt);
    if (atMs !== undefined) replies.push(performance.now() - atMs);
  });
  let [asked, written] = [0, 0];
  function ask() {
    const domain = domains[asked] ?? '';
    askedAtMs.set(domain, performance.now());
    void slack.person('ben').types(channelOf(asked), `/docs-export ${domain}`);
    asked += 1;
  }
  function reply() {
    const { channel = '', ts = '' } = threads[written % THREADS] ?? {};
    const text = `n${written} please improve the page about errors`;
    sentAtMs.set(text, performance.now());
    void ana.says(channel, text, { threadTs: ts });
    written += 1;
  }

  const dueAtMs = Date.now();
  const editions: string[] = [];
  for (let index = 0; index < (rush ? schedules : 0); index += 1) {
    const { id: channel } = slack.channel(channelOf(index));
    const project = PROJECTS[Math.floor(index / channels)] ?? '';
    const schedule = aSchedule({
      ...of,
      id: `bench-${index}`,
      project,
      channel,
      sinceMs: dueAtMs,
      nextAtMs: dueAtMs,
      prepared: week.name,
    });
    await runs.accept(schedule, Number.MAX_SAFE_INTEGER, 0, undefined);
    await enqueueRun(queues, schedule);
    editions.push(weeklyId(of.teamId, channel, project, week.name));
  }
  const timers = [setInterval(ask, EXPORT_EVERY_MS), setInterval(reply, REPLY_EVERY_MS)];
  await pause(forMs);
  for (const timer of timers) clearInterval(timer);
  await slack.until(() => askedAtMs.size + sentAtMs.size === 0, GRACE_MS, 'the last cards and replies');

  const loadEnded = async () =>
    (await runs.loadAll(editions, editionRun)).filter(({ ended }) => ended?.why === 'done').length;
  while ((await loadEnded()) < editions.length && Date.now() < dueAtMs + GRACE_MS) await pause(1000);
  const completeMs = Date.now() - dueAtMs;
  const ended = await loadEnded();
  const roots = slack.messages.filter(({ from, text }) => from === 'docket' && text.startsWith('Digest of'));
  const edits = roots.reduce((sum, message) => sum + message.edits.length, 0);
  await bot.stop();
  await queues.close();
  connection.disconnect();
  slack.stop();
  await Promise.all([slackServer.close(), platformServer.close(), redis.close()]);
  rmSync(folder, { recursive: true, force: true });
  return {
    cards,
    replies,
    ended,
    completeMs,
    edits,
    postedMs: roots.map(({ ts }) => Number(ts) * 1000 - dueAtMs),
    limited: slack.limited.length,
    violations: slack.violations,
    complaints: bot.complaints(),
  };
}

console.log(`${schedules} digests of ${PROJECTS.length} projects in ${channels} channels, due at the same moment; meanwhile, for ${seconds(forMs)},
an export every ${seconds(EXPORT_EVERY_MS)} in the same channels, and a reply every ${seconds(REPLY_EVERY_MS)} in ${THREADS} threads.
`);
const without = await run(false);
const rushed = await run(true);

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

import { createStandInSlack } from '../demo/slack/slack.ts';
import { defaultTiming } from '../src/runtime/timing.ts';
import { connectForWork } from '../src/store/redis/connections.ts';
import { createRunStore, type RunBase } from '../src/store/runs.ts';
import { aRun } from '../test/support/jobs/export/builders.ts';
import { anExportSchedule } from '../test/support/jobs/export-schedule/builders.ts';
import { startTestRedis } from '../test/support/redis.ts';
import { startBot } from './parts/bot.ts';
import { median } from './parts/figures.ts';
import { printTable } from './parts/table.ts';
import { usageOf } from './parts/usage.ts';

/**
 * The processor time of `/docs-status` and of its [Details], and how long the answer takes, in a workspace with 3,000
 * running exports and as many export schedules. Docket is a `web` process, so nobody works on them.
 */
const RUNS = Number(process.env.RUNS ?? 3000);
const CALLS = 50;
const MOST_MS = 20;

const redis = await startTestRedis();
const slack = createStandInSlack({ transport: 'http', rateLimits: false });
const server = await slack.listen();
const bot = await startBot({
  SLACK_BOT_TOKEN: slack.tokens.bot,
  SLACK_SIGNING_SECRET: slack.tokens.signingSecret,
  SLACK_API_URL: `${server.url}/api/`,
  DOCS_API_URL: 'http://127.0.0.1:9',
  DOCS_API_KEY: 'adm_0123456789abcdef',
  DOCS_PROJECT_ID: 'prj_1',
  REDIS_URL: redis.url,
  DOCKET_ROLE: 'web',
});
slack.botUrl = `http://127.0.0.1:${bot.port}/slack/events`;

const connection = connectForWork({ url: redis.url }, defaultTiming, () => {});
const runs = createRunStore(connection);
const { id: channel } = slack.channel('#docs');
const ofTeam = { teamId: slack.team.id, people: [] };
const all: RunBase[] = Array.from({ length: RUNS }, (_, n) => [
  aRun({
    ...ofTeam,
    id: `export-${n}`,
    claim: `export-${n}`,
    asked: { channel, joinable: true, isPublic: true },
  }),
  anExportSchedule({ ...ofTeam, id: `schedule-${n}`, claim: `schedule-${n}`, channel }),
]).flat();
for (let from = 0; from < all.length; from += 500)
  await Promise.all(all.slice(from, from + 500).map((run) => runs.accept(run)));

const ana = slack.person('ana');
async function ask() {
  const { ephemeral } = await ana.types('#docs', '/docs-status');
  if (ephemeral === undefined) throw new Error('no status');
  return ephemeral;
}

/** Returns the row of what somebody does: its processor time, and the median time until its answer. */
async function rowOf(what: string, mostMs: number, act: () => Promise<unknown>) {
  const tookMs: number[] = [];
  // The code is compiled first.
  for (let call = 0; call < CALLS; call += 1) await act();
  const before = usageOf(bot.pid).cpuMs;
  for (let call = 0; call < CALLS; call += 1) {
    const atMs = performance.now();
    await act();
    tookMs.push(performance.now() - atMs);
  }
  const cpuMs = (usageOf(bot.pid).cpuMs - before) / CALLS;
  return {
    what: `${what}: processor time (≤ ${mostMs} ms), until its answer`,
    figure: `${cpuMs.toFixed(1)}, ${median(tookMs).toFixed(0)} ms`,
    held: cpuMs <= mostMs,
  };
}

printTable([
  { what: 'exports and schedules', figure: `${RUNS} each` },
  await rowOf('/docs-status', MOST_MS, ask),
  await rowOf('the same, then [Details]', 2 * MOST_MS, async () => ana.clicks(await ask(), 'Details')),
]);
await bot.stop();
slack.stop();
connection.disconnect();
await Promise.all([server.close(), redis.close()]);

import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { aRun } from '../test/support/jobs/export/builders.ts';
import { startTestRedis } from '../test/support/redis.ts';
import type { AgentProcess } from './parts/agent-process.ts';
import { quantile } from './parts/figures.ts';
import type { LiftedProcess } from './parts/lifted-process.ts';
import type { PollFloor } from './parts/poll-floor-process.ts';
import { startRemote } from './parts/remote.ts';
import type { SlackProcess } from './parts/slack-process.ts';
import { printTable } from './parts/table.ts';
import { usageOf } from './parts/usage.ts';
import { openRuns } from './parts/world.ts';

/**
 * Thousands of exports that one worker process watches, with the platform's limit lifted and Slack's as they are: each has
 * a card and progress, which the outbox posts and edits. How late are polls, and what does the process take? Beside it
 * bare BullMQ polls as many jobs as often.
 */
const LATE_MS = 1000;
const MEMORY_MB = 300;
const FLOOR_SETTLE_MS = 5000;

const { values } = parseArgs({
  options: {
    exports: { type: 'string', default: '5000' },
    settle: { type: 'string', default: '90' },
    seconds: { type: 'string', default: '45' },
  },
  strict: false,
});
const [count, settleMs, forMs] = [
  Number(values.exports),
  Number(values.settle) * 1000,
  Number(values.seconds) * 1000,
];
const file = (name: string) => new URL(`./parts/${name}.ts`, import.meta.url).pathname;

const redis = await startTestRedis();
const slack = startRemote<SlackProcess>(file('slack-process'));
const platform = startRemote<AgentProcess>(file('agent-process'));
const [{ apiUrl, token, signingSecret }, { url, apiKey, projectId }] = [
  await slack.listen(),
  await platform.listen(),
];
const jobIds = await platform.startExports(count);
const { teamId, channels, people } = await slack.places();

const docket = startRemote<LiftedProcess>(file('lifted-process'), {
  DOCKET_ROLE: 'worker',
  HEALTH_PORT: '0',
  SLACK_BOT_TOKEN: token,
  SLACK_SIGNING_SECRET: signingSecret,
  SLACK_API_URL: apiUrl,
  DOCS_API_URL: url,
  DOCS_API_KEY: apiKey,
  DOCS_PROJECT_ID: projectId,
  REDIS_URL: redis.url,
});
await docket.port();
const restMb = usageOf(docket.pid).residentMb;
const runs = openRuns(redis.url);
for (const [index, jobId] of jobIds.entries()) {
  const nowMs = Date.now();
  const requester = { id: `U1P${index % people}`, name: `person${index % people}` };
  const asked = {
    channel: channels[index % channels.length] ?? '',
    joinable: true,
    isPublic: true,
    atMs: nowMs,
  };
  await runs.start(
    aRun({
      id: jobId,
      rev: 1,
      teamId,
      claim: `watch-${jobId}`,
      people: [requester.id],
      domain: `site-${index}.acme.com`,
      requester,
      asked,
      sinceMs: nowMs,
      attemptAtMs: nowMs,
      startedAtMs: nowMs,
      nextLookAtMs: nowMs,
      jobId,
    }),
  );
}
await pause(settleMs);
await docket.lateness();
const before = usageOf(docket.pid).cpuMs;
let mostMb = 0;
const untilMs = performance.now() + forMs;
while (performance.now() < untilMs) {
  mostMb = Math.max(mostMb, usageOf(docket.pid).residentMb);
  await pause(500);
}
const late = await docket.lateness();
const cpu = (usageOf(docket.pid).cpuMs - before) / forMs;
await runs.close();
docket.stop();

await redis.client.flushall();
const floor = startRemote<PollFloor>(file('poll-floor-process'), {
  REDIS_URL: redis.url,
  API_KEY: apiKey,
  PLATFORM_URL: url,
});
await floor.start(jobIds, (count * forMs) / Math.max(1, late.length));
await pause(FLOOR_SETTLE_MS);
await floor.lateness();
const floorBefore = usageOf(floor.pid).cpuMs;
await pause(forMs / 2);
const floorLate = await floor.lateness();
const floorCpu = (usageOf(floor.pid).cpuMs - floorBefore) / (forMs / 2);
const floorMb = usageOf(floor.pid).residentMb;

const both = (spell: (of: { late: number[]; cpu: number; mb: number }) => string) =>
  `${spell({ late, cpu, mb: mostMb })} / ${spell({ late: floorLate, cpu: floorCpu, mb: floorMb })}`;
printTable([
  { what: 'exports, polls', figure: `${count}, ${both((of) => String(of.late.length))}` },
  { what: 'lateness: 50 %', figure: both((of) => `${quantile(of.late, 0.5)} ms`) },
  {
    what: `lateness: 99 % (≤ ${LATE_MS} ms)`,
    figure: both((of) => `${quantile(of.late, 0.99)} ms`),
    held: quantile(late, 0.99) <= LATE_MS,
  },
  { what: 'lateness: longest', figure: both((of) => `${quantile(of.late, 1)} ms`) },
  { what: 'of a core', figure: both((of) => `${(of.cpu * 100).toFixed(0)} %`) },
  {
    what: `memory, at most (≤ ${MEMORY_MB} MB)`,
    figure: both((of) => `${of.mb.toFixed(0)} MB`),
    held: mostMb <= MEMORY_MB,
  },
  { what: 'memory before', figure: `${restMb.toFixed(0)} MB` },
]);
for (const child of [slack, platform, floor]) child.stop();
await redis.close();

import { describe, expect, test, vi } from 'vitest';
import type { Call, Phase } from '../../demo/wire.ts';
import { newSchedule } from '../../src/jobs/schedule/record.ts';
import { createRunStore } from '../../src/store/runs.ts';
import { addSite } from '../support/flows/site.ts';
import { type HeldCall, holdAt, lose } from '../support/flows/strike-at.ts';
import { type BotOptions, createWorld, type World } from '../support/flows/world.ts';

const START = 'POST /v1/static-export/jobs';
const POLL = 'GET /v1/static-export/jobs/{jobId}';
/** Every outside call of a scheduled export; the calls for a thread have its address. */
const MOMENTS = [
  'chat.postMessage',
  'chat.postMessage in the thread',
  START,
  POLL,
  'POST /v1/static-export/jobs/{jobId}/bundle',
  'chat.update',
  'chat.update of a card',
];
const labelOf = ({ name, detail }: Call) => {
  if (name === 'chat.postMessage' && detail.thread_ts) return `${name} in the thread`;
  return name === 'chat.update' && /\nScheduled by /.test(String(detail.text)) ? `${name} of a card` : name;
};
const SITES = 12;
/** Those whose first post, card or start stands still. */
const NOT_STARTED = 3;
const wait = { timeout: 60_000, interval: 20 };
const limits = { slackCallMs: 20_000, docsCallMs: 60_000 };

/** A world with a schedule in each of some channels, all due now. */
async function dueWorld() {
  const world = await createWorld({
    slack: { rateLimits: false },
    platform: { exportPlan: { durationMs: 300 } },
    mayViolate: /: no answer (?:in time|within 3000 ms)$/,
  });
  const { slack } = world;
  const runs = createRunStore(world.redis.client);
  const { id, name } = slack.person('ana');
  const channels: string[] = [];
  for (let n = 0; n < SITES; n += 1) {
    const { domain: site, where } = addSite(world, `site-${n}`);
    const channel = slack.channel(where).id;
    const wanted = {
      ...{ job: 'export-schedule' as const, project: 'default', site, channel },
      ...{ isPublic: true, privately: false, deployments: [], timetable: { time: '06:00', zone: 'UTC' } },
    };
    const request = { teamId: slack.team.id, requestId: channel, user: { id, name, fullMember: true } };
    const nowMs = Date.now();
    const due = { state: 'active', nextAtMs: nowMs - 1000 };
    await runs.accept({ ...newSchedule(wanted, request, nowMs), ...due });
    channels.push(channel);
  }
  const bot = (timing: BotOptions['timing'] = {}): BotOptions => ({
    config: 'limits: { exportStatusPerSecond: 100 }\n',
    timing: { postsPerMinute: 6000, editsPerMinute: 6000, readsPerMinute: 6000, ...timing },
    process: true,
  });
  return { world, bot, channels };
}

/**
 * The first call for each moment stands still, before it takes effect or after. Once all stand, `act` is awaited; then all
 * go on. Ends when every channel has one message with one export in its thread, or the question about it.
 */
async function play(
  { world, channels }: { world: World; channels: string[] },
  phase: Phase,
  act: (held: HeldCall[]) => Promise<void>,
) {
  const { slack, platform } = world;
  const { held, allStand, goOn } = holdAt(
    [slack, platform],
    MOMENTS.map((label) => [label, { call: (call) => labelOf(call) === label, phase }]),
  );
  await allStand();
  await act([...held.values()]);
  goOn();

  const shownIn = (channel: string) =>
    slack.messages
      .filter((message) => message.channel === channel && !message.deleted)
      .map(({ text, threadTs }) => `${threadTs ? '> ' : ''}${text.split('\n')[0]}`);
  const DONE = [/^Exported .*12 pages$/, /^> Exported · site-\d+\.acme\.com · 12 pages, /];
  const ASKED = [/^Needs an answer · /, /^> Needs an answer · site/, /^> Did the export of/];
  await vi.waitFor(() => {
    for (const channel of channels) {
      const shown = shownIn(channel);
      const wanted = shown.length === DONE.length ? DONE : ASKED;
      expect(shown).toEqual(wanted.map((pattern) => expect.stringMatching(pattern)));
    }
  }, wait);
  const asked = channels.filter((channel) => shownIn(channel).length === ASKED.length);
  const started = platform.starts.map(({ domain }) => domain);
  expect(new Set(started).size).toBe(started.length);
  expect(started.length).toBeGreaterThanOrEqual(SITES - asked.length);
  return asked.length;
}

describe.each(['before', 'after'] as const)(
  'scheduled exports, %s each outside call took effect',
  (phase) => {
    test('kill -9 of the bot', { timeout: 180_000 }, async () => {
      const due = await dueWorld();
      const { world, bot } = due;
      await world.startBot(bot({ slackCallMs: 8000, docsCallMs: 30_000 }));
      const { calls } = world.platform.wire;
      const polled = () =>
        new Set(calls.filter(({ name }) => name === POLL).map(({ detail }) => detail.jobId));
      const asked = await play(due, phase, async (held) => {
        // What is polled has its start's answer; another start that is under way would be in doubt, too.
        await vi.waitFor(() => expect(polled().size).toBeGreaterThanOrEqual(SITES - NOT_STARTED), wait);
        if (phase === 'before') lose([world.slack, world.platform], held);
        await Promise.all(world.bots.map((one) => one.kill()));
        await world.startBot(bot());
      });
      // Only the start that stood still is in doubt.
      expect(asked).toBe(1);
      await world.close();
    });

    test('kill -9 of Redis', { timeout: 180_000 }, async () => {
      const due = await dueWorld();
      const { world, bot } = due;
      await world.startBot(bot({ lockMs: 30_000, ...limits }));
      const asked = await play(due, phase, async () => {
        await world.redis.kill();
        await world.redis.start();
      });
      expect(asked).toBe(0);
      await world.close();
    });
  },
);

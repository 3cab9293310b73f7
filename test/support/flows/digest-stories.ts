import { expect, vi } from 'vitest';
import type { SentMessage } from '../../../demo/slack/workspace.ts';
import type { Call, Phase } from '../../../demo/wire.ts';
import { SECTIONS } from '../../../src/jobs/digest/model.ts';
import type { ScheduleRun } from '../../../src/jobs/digest/schedule/record.ts';
import { newSchedule } from '../../../src/jobs/schedule/record.ts';
import type { Timing } from '../../../src/runtime/timing.ts';
import { createRunStore } from '../../../src/store/runs.ts';
import { type HeldCall, holdAt } from './strike-at.ts';
import { type BotOptions, createWorld, type World } from './world.ts';

/** A channel with a weekly digest. */
interface Place {
  where: string;
  channel: string;
  project: string;
}

/** Digests of so many places at once, which must not wait for each other. */
export interface DigestWorld {
  world: World;
  places: Place[];
  /** What its bots are started with. */
  bot(timing?: Pick<Partial<Timing>, 'slackCallMs' | 'docsCallMs' | 'lockMs' | 'digestWaitMs'>): BotOptions;
}

const SHARED = 'shared';
/** A Monday: last week is to be had by hand, which it is not in the first hour of one. */
const START_MS = Date.UTC(2026, 8, 21, 12);
/** Enough places that every call can stand still in some of them. Those with a project of their own collect figures. */
const PLACES = 16;
const PROJECTS = 4;

/** A world whose Slack refuses charts, so that each digest is posted a second time without. */
export async function digestWorld(): Promise<DigestWorld> {
  const world = await createWorld({
    startMs: START_MS,
    slack: { rateLimits: false },
    platform: { pages: 300, analyticsPerHour: Number.POSITIVE_INFINITY },
    // What a bot owes that is killed or frozen, or whose Redis is.
    mayViolate: /: no answer (?:in time|within 3000 ms)$/,
  });
  const { slack, platform } = world;
  slack.refuses.charts = true;
  const places = Array.from({ length: PLACES }, (_, n): Place => {
    const name = `digest-${n}`;
    const members = new Set([slack.workspace.bot.userId, slack.person('ana').id]);
    const rest = { label: `#${name}`, kind: 'public' as const, archived: false, shared: false };
    const { id } = slack.workspace.addChannel({ name, members, ...rest });
    return { where: `#${name}`, channel: id, project: n < PROJECTS ? `own-${n}` : SHARED };
  });
  const runs = createRunStore(world.redis.client);
  for (const place of places) await runs.accept(scheduleOf(world, place));
  const projects = Map.groupBy(places, ({ project }) => project);
  const config = [
    'limits: { exportStatusPerSecond: 100, analyticsPerHour: 10000 }',
    'projects:',
    ...[...projects].map(([name, its]) => {
      const channels = its.map(({ channel }) => channel).join(', ');
      return `  ${name}: { projectId: ${platform.projectId}, channels: [${channels}] }`;
    }),
    '',
  ].join('\n');
  const many = { postsPerMinute: 6000, editsPerMinute: 6000, readsPerMinute: 6000 };
  return { world, places, bot: (timing) => ({ config, timing: { ...many, ...timing }, process: true }) };
}

/** A weekly digest as it stands once it has been set up; the modal is not what is tested. */
function scheduleOf({ slack, now }: World, { channel, project }: Place): ScheduleRun {
  const { id, name } = slack.person('ana');
  const chosen = {
    timetable: { weekday: 1, time: '09:00', zone: 'UTC' },
    sections: [...SECTIONS],
    alerts: false,
    isPublic: true,
  };
  const request = { teamId: slack.team.id, requestId: channel, user: { id, name, fullMember: true } };
  const wanted = { job: 'digest-schedule' as const, project, site: project, channel, ...chosen };
  return { ...newSchedule(wanted, request, now()), state: 'active' };
}

const VIEWS = 'GET /v1/analytics/{projectId}/views';
const COLLECTING = [
  `${VIEWS} totals`,
  'GET /v1/analytics/{projectId}/visitors',
  'GET /v1/analytics/{projectId}/searches',
  'GET /v1/analytics/{projectId}/feedback/by-page',
  'GET /v1/analytics/{projectId}/assistant',
  `${VIEWS} pages`,
  `${VIEWS} more pages`,
];
/** Every outside call of a digest. A file is looked up only after an unclear completion. */
const MOMENTS = [
  ...COLLECTING,
  'chat.postMessage digest with chart',
  'chat.postMessage digest',
  'chat.postMessage pages',
  // The answer to whoever had it sent.
  'chat.postMessage Posted',
  ...['getUploadURLExternal', 'upload', 'completeUploadExternal'].map((step) => `files.${step}`),
];
/** The message in the thread: first what needs work, then the pages. */
const PAGES = /^\d+ things? needs? work on .+\nTop pages of /s;
/** Calls that may be one; others find out who somebody is, or answer a command. */
const OF_DIGESTS = /^(?:GET|POST|chat\.(?!postEphemeral|update)|files\.(?!info))/;

/** What an outside call is for; calls for the same have the same label. */
function labelOf({ name, detail }: Call): string {
  if (name.endsWith('/views')) {
    const { limit, offset } = detail.query as Record<string, string>;
    return limit === '1' ? `${name} totals` : `${name} ${offset === '0' ? 'pages' : 'more pages'}`;
  }
  const text = String(detail.text ?? '');
  if (PAGES.test(text)) return `${name} pages`;
  if (!text.startsWith('Digest of ')) return text === '' ? name : `${name} ${/^\S+/.exec(text)?.[0]}`;
  return `${name} digest${JSON.stringify(detail.blocks).includes('data_visualization') ? ' with chart' : ''}`;
}

/**
 * Has the digest of each place posted. The first call for each moment stands still, before it takes effect or after.
 * Once all stand, `act` is awaited; then all go on. Ends when all is there, complete and once.
 */
export async function tellDigests(
  { world, places }: DigestWorld,
  phase: Phase,
  act: (held: HeldCall[]) => Promise<void>,
): Promise<void> {
  const { slack, platform } = world;
  const others = new Set<string>();
  for (const { wire } of [slack, platform])
    wire.onCall((call) => {
      const label = labelOf(call);
      if (!MOMENTS.includes(label) && OF_DIGESTS.test(label)) others.add(label);
    });
  const { held, allStand, goOn } = holdAt(
    [slack, platform],
    MOMENTS.map((label) => [label, { call: (call) => labelOf(call) === label, phase }]),
  );
  /** Asks for the digest of last week until the answer is this; people ask again when told that it did not work. */
  const asksUntil = (where: string, answer: string) =>
    vi.waitFor(
      async () => {
        const { ephemeral } = await slack.person('ana').types(where, '/docs-digest run');
        expect(ephemeral && slack.read(ephemeral)).toContain(answer);
      },
      { timeout: 60_000, interval: 250 },
    );

  // Figures that others wait for as well would stand in the way of all.
  for (const { where, project } of places) if (project !== SHARED) await asksUntil(where, 'On its way');
  await allStand(COLLECTING);
  for (const { where, project } of places) if (project === SHARED) await asksUntil(where, 'On its way');
  await allStand();
  await act([...held.values()]);
  goOn();

  const expectAll = () => {
    for (const { channel } of places) {
      const messages = slack.messages.filter((message) => message.channel === channel);
      expect(messages.map(roleOf).toSorted()).toEqual(['Digest of', 'csv', 'pages']);
      expect(messages.find((message) => roleOf(message) === 'Digest of')?.text).toContain('Biggest change');
    }
  };
  await vi.waitFor(expectAll, { timeout: 60_000, interval: 50 });
  // What people see is there before its run has ended: an upload whose outcome is not known is looked up for a while.
  for (const { where } of places) await asksUntil(where, 'Already posted');
  expectAll();
  expect(slack.files).toHaveLength(places.length);
  expect([...others]).toEqual([]);
}

/** What a message is, by what it begins with. */
function roleOf({ text, files }: SentMessage): string {
  if (files !== undefined) return 'csv';
  return PAGES.test(text) ? 'pages' : (/^Digest of/.exec(text)?.[0] ?? text);
}

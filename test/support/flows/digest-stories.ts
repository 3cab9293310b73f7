import { expect, vi } from 'vitest';
import type { SentMessage } from '../../../demo/slack/workspace.ts';
import type { Call, Phase } from '../../../demo/wire.ts';
import { SECTIONS } from '../../../src/jobs/digest/model.ts';
import { newSchedule, type ScheduleRun } from '../../../src/jobs/digest/schedule/record.ts';
import type { Timing } from '../../../src/runtime/timing.ts';
import { createRunStore } from '../../../src/store/runs.ts';
import { ASKED, CLICK, labelOf, type Moments, OF_DIGESTS, SAME_MESSAGES } from './digest-moments.ts';
import { type Bot, type BotOptions, createWorld, type World } from './world.ts';

/** A channel with a weekly digest. */
export interface Place {
  where: string;
  channel: string;
  project: string;
}

/** A call that stands still at its moment. */
export interface Held {
  label: string;
  call: Call;
  bot: Bot;
  goOn(): void;
}

/** Digests of so many places at once, which must not wait for each other. */
export interface DigestWorld {
  world: World;
  /** Whether Slack takes its chart. */
  takesCharts: boolean;
  places: Place[];
  /** What its bots are started with. */
  bot(timing?: Pick<Partial<Timing>, 'slackCallMs' | 'docsCallMs' | 'lockMs' | 'digestWaitMs'>): BotOptions;
}

const SHARED = 'shared';

const START_MS = Date.UTC(2026, 8, 21, 12);

/** Projects of their own have figures of their own; the other places share theirs. */
export async function digestWorld(options: {
  places: number;
  projects: number;
  takesCharts: boolean;
}): Promise<DigestWorld> {
  const world = await createWorld({
    // A Monday: last week is to be had by hand, which it is not in the first hour of one.
    startMs: START_MS,
    slack: { rateLimits: false },
    platform: { pages: 300, analyticsPerHour: Number.POSITIVE_INFINITY, agentPlan: { durationMs: 200 } },
    // What a bot owes that is killed or frozen, or whose Redis is.
    mayViolate: /: no answer (?:in time|within 3000 ms)$/,
  });
  const { slack, platform } = world;
  if (!options.takesCharts) slack.refuses.charts = true;
  const places = Array.from({ length: options.places }, (_, n): Place => {
    const name = `digest-${n}`;
    const members = new Set([slack.workspace.bot.userId, slack.person('ana').id]);
    const rest = { label: `#${name}`, kind: 'public' as const, archived: false, shared: false };
    const { id } = slack.workspace.addChannel({ name, members, ...rest });
    return { where: `#${name}`, channel: id, project: n < options.projects ? `own-${n}` : SHARED };
  });
  const runs = createRunStore(world.redis.client);
  for (const place of places)
    await runs.accept(scheduleOf(world, place), Number.MAX_SAFE_INTEGER, 0, undefined);
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
  const limits = {
    postsPerMinute: 6000,
    editsPerMinute: 6000,
    readsPerMinute: 6000,
    fileCallsPerMinute: 6000,
  };
  return {
    world,
    places,
    takesCharts: options.takesCharts,
    bot: (timing) => ({ config, timing: { ...limits, ...timing } }),
  };
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
  const made = newSchedule({ project, site: project, channel, ...chosen }, request, now());
  return { ...made, state: 'active' };
}

/** Has the digest of last week posted now; asks again, as a person would, when told that it did not work. */
async function send(world: World, places: Place[]): Promise<void> {
  for (const { where } of places)
    await vi.waitFor(async () => expect(await run(world, where)).toContain(ON_ITS_WAY), { timeout: 60_000 });
}

const ON_ITS_WAY = 'On its way';

async function run({ slack }: World, where: string): Promise<string> {
  const { ephemeral } = await slack.person('ana').types(where, '/docs-digest run');
  return ephemeral === undefined ? '' : slack.read(ephemeral);
}

/** What befalls digests: the first call for each of `labels` stands still before it takes effect, or after. */
export interface Strike extends Moments {
  phase: Phase;
  /** Awaited once all stand; then all go on. */
  act(held: Held[]): Promise<void>;
}

/**
 * Has the digest of each place posted, and the agent asked under it, and strikes meanwhile. Returns the labels of calls
 * that came before and are no moment.
 */
export async function tellDigests({ world, places }: DigestWorld, strike: Strike): Promise<string[]> {
  const { slack, platform } = world;
  const { labels, collecting, phase, act } = strike;
  const held = new Map<string, Held>();
  const others = new Set<string>();
  const onCall = (call: Call, at: Phase) => {
    if (at !== phase) return undefined;
    const label = labelOf(call);
    const bot = world.bots.find((one) => one.made(call));
    if (!labels.includes(label) && OF_DIGESTS.test(label) && !SAME_MESSAGES.test(label)) others.add(label);
    if (bot === undefined || !labels.includes(label) || held.has(label)) return undefined;
    const gate = Promise.withResolvers<void>();
    held.set(label, { label, call, bot, goOn: gate.resolve });
    return gate.promise;
  };
  const listening = [slack.wire.onCall(onCall), platform.wire.onCall(onCall)];
  const allStand = (wanted: string[]) =>
    vi.waitFor(() => expect(wanted.filter((label) => !held.has(label))).toEqual([]), {
      timeout: 60_000,
      interval: 10,
    });

  // Figures that others wait for as well would stand in the way of all.
  const isOwn = ({ project }: Place) => project !== SHARED;
  await send(world, places.filter(isOwn));
  await allStand(collecting);
  await send(
    world,
    places.filter((place) => !isOwn(place)),
  );
  // Whoever clicks has to wait for the call, and not for long: that is left for last.
  const last = labels.includes(CLICK) ? 1 : 0;
  const asker = createAsker(world, places, last);
  await allStand(labels.filter((label) => label !== CLICK));
  // Nobody else asks while it strikes: what may have arrived would be asked twice.
  asker.leave = last === 1 ? 0 : places.length;
  await (last === 1 ? allStand(labels) : asker.asking());
  const seen = [...others];
  await act([...held.values()]);
  for (const { goOn } of held.values()) goOn();
  asker.leave = 0;
  await asker.done;
  for (const stop of listening) stop();
  return seen;
}

/** Asks the agent under each digest as soon as that can be, but for as many as it is to `leave`. */
function createAsker(world: World, places: Place[], leave: number) {
  const open = new Set(places);
  let asking: Promise<unknown> = Promise.resolve();
  const asker = { leave, done: Promise.resolve(), asking: () => asking };
  asker.done = askAll();
  // It is awaited later.
  asker.done.catch(() => {});
  return asker;

  async function askAll() {
    while (open.size > 0) {
      const place = await world.slack.until(
        () => {
          const ready = [...open].filter((one) => pagesOf(world, one));
          return ready.length > asker.leave && ready[0];
        },
        60_000,
        'a digest to ask about',
      );
      const asked = ask(world, place);
      asking = asked;
      if (await asked) open.delete(place);
    }
  }
}

/** Asks the agent about a page that is the place's own. Returns whether that was accepted. */
async function ask(world: World, place: Place): Promise<boolean> {
  const ana = world.slack.person('ana');
  const pages = pagesOf(world, place);
  // Also a modal that says what went wrong.
  const isForm = () => ana.modal()?.definition.submit !== undefined;
  while (ana.modal() !== undefined) await ana.closes();
  if (
    pages === undefined ||
    !(await ana.clicks(pages, 'Ask the agent', { below: 'Top pages' })).ok ||
    !isForm()
  )
    return false;
  if (!(await ana.submits({ 'Another page': pageOf(place) })).ok || !isForm()) return false;
  // Told that it did not work, she presses it again: the same modal starts one job, also when it was accepted before.
  await vi.waitFor(async () => expect((await ana.submits()).ok).toBe(true), { timeout: 60_000 });
  if (ana.modal() === undefined) return true;
  if (!ana.reads(ana.modal()).includes("I can't tell whether I accepted this")) return false;
  // "If nothing appears here within a minute, try again."
  const isAsked = ({ channel, text }: SentMessage) => channel === place.channel && ASKED.test(text);
  return vi
    .waitFor(() => expect(world.slack.messages.some(isAsked)).toBe(true), { timeout: 60_000 })
    .then(
      () => true,
      () => false,
    );
}

const pageOf = ({ channel }: Pick<Place, 'channel'>) => `/of/${channel}`;

const pagesOf = ({ slack }: World, { channel }: Place): SentMessage | undefined =>
  slack.messages.find((message) => message.channel === channel && message.text.startsWith('Top pages'));

/** What a message is, by what it begins with. */
function roleOf({ text, files }: SentMessage): string {
  if (files !== undefined) return 'csv';
  if (ASKED.test(text)) return 'asked';
  const roles =
    /^(?:Digest of|Top pages|Docs agent|Finished|The agent opened|ana chose not|ana chose|Check the page)/u;
  return roles.exec(text)?.[0] ?? text;
}

const DIGEST = ['Digest of', 'Top pages', 'csv', 'asked', 'Docs agent', 'Check the page'];
const ENDED = ['Finished', 'The agent opened'];

type Answers = Map<string, 'Leave it' | 'Send again'>;

/**
 * Waits until all is there, complete and once. Where nobody knows whether the agent's job was made, ana looks at the
 * platform and decides; returns where she was asked that.
 */
export async function expectOnce(digests: DigestWorld, answers: Answers = new Map()): Promise<Answers> {
  const { world, places } = digests;
  await vi.waitFor(
    async () => {
      await answerQuestions(world, answers);
      for (const place of places) expectDigest(digests, place, answers.get(place.channel));
    },
    { timeout: 60_000, interval: 50 },
  );
  // What people see is there before its run has ended: an upload whose outcome is not known is looked up for a while.
  for (const { where } of places)
    await vi.waitFor(async () => expect(await run(world, where)).toContain('Already posted'), {
      timeout: 60_000,
      interval: 250,
    });
  for (const place of places) expectDigest(digests, place, answers.get(place.channel));
  expect(world.slack.files).toHaveLength(places.length);
  return answers;
}

async function answerQuestions({ slack, platform }: World, answers: Answers) {
  for (const message of slack.messages) {
    const { channel } = message;
    if (answers.has(channel) || !message.text.includes('created? The platform gave no clear answer.'))
      continue;
    const isMade = platform.agent.messages.some(({ prompt }) => prompt.includes(pageOf({ channel })));
    const answer = isMade ? 'Leave it' : 'Send again';
    answers.set(channel, answer);
    expect(await slack.person('ana').clicks(message, answer)).toMatchObject({ ok: true });
  }
}

function expectDigest(
  { world, takesCharts }: DigestWorld,
  { channel }: Pick<Place, 'channel'>,
  answer: 'Leave it' | 'Send again' | undefined,
) {
  const { slack, platform } = world;
  const messages = slack.messages.filter((message) => message.channel === channel);
  const roles = messages.map(roleOf);
  const asked = answer === undefined ? [] : [answer === 'Leave it' ? 'ana chose not' : 'ana chose'];
  const ended = answer === 'Leave it' ? [] : ENDED;
  expect(roles.toSorted()).toEqual([...DIGEST, ...asked, ...ended].toSorted());
  const line = messages.find(({ text }) => ASKED.test(text));
  expect(line?.text).toContain(answer === 'Leave it' ? 'may not have reached' : 'The agent opened');
  const root = messages.find(({ text }) => text.startsWith('Digest of'));
  expect(root?.text).toContain('Biggest change');
  const charts = root?.blocks.filter(({ type }) => type === 'data_visualization');
  expect(charts).toHaveLength(takesCharts ? 1 : 0);
  expect(platform.agent.messages.filter(({ prompt }) => prompt.includes(pageOf({ channel })))).toHaveLength(
    1,
  );
}

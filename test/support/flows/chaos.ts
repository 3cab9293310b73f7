import { setTimeout as pause } from 'node:timers/promises';
import type { Ephemeral, SentMessage } from '../../../demo/slack/workspace.ts';
import type { Call, Fault, Phase } from '../../../demo/wire.ts';
import type { Timing } from '../../../src/runtime/timing.ts';
import { keys } from '../../../src/store/keys.ts';
import { parseMember } from '../../../src/store/run-scripts.ts';
import { seeded } from '../seeded.ts';
import { createUpdates } from './chaos-updates.ts';
import { strikeAt } from './strike-at.ts';
import { createWorld, type World } from './world.ts';

/** Slow enough that two loaded cores keep up, quick enough that a run takes minutes. */
export const chaosTiming = {
  intakeMs: 1600,
  slackCallMs: 3000,
  docsCallMs: 3000,
  callMarginMs: 500,
  editGapMs: 500,
  lockMs: 8000,
  stalledMs: 1000,
  sweepMs: 500,
  retryMinMs: 100,
  retryMaxMs: 1000,
  pollMinMs: 500,
  pollMaxMs: 2000,
  postsPerMinute: 60_000,
  editsPerMinute: 60_000,
  readsPerMinute: 60_000,
} satisfies Partial<Timing>;

export interface ChaosPlan {
  exports: number;
  /** Each with so many replies of its owner. */
  threads: number;
  replies: number;
  /** `kill -9` of web and worker processes, in turn. */
  kills: number;
  redisKills: number;
  /** SIGSTOP of workers, until their locks have lapsed. */
  freezes: number;
  /** In which all of that happens. */
  overMs: number;
  /** How long the platform works on an export, at least and at most. */
  durationMs: [number, number];
  /** Of all calls of either side. */
  faults: number;
  lockMs: number;
  seed: number;
  logLevel: 'debug' | 'info';
}

/** Calls that a bot may die at, beside random moments, and how long one is waited for. */
const START = 'POST /v1/static-export/jobs';
const STRUCK = [START, 'chat.postMessage', 'chat.update', 'POST /v2/agent/{projectId}/job/{jobId}/message'];
const STRIKE_WITHIN_MS = 4000;
/** How often people look whether there is something to answer, think about it, and try again. */
const GLANCE_MS = 250;
const THINK_MS = 2000;
const AGAIN_MS = 4000;
const ASK_AGAIN_MS = 700;
/** Nothing is under way any more so long after the last strike. */
const IDLE_DEADLINE_MS = 300_000;

type Role = 'web' | 'worker';
interface Member {
  role: Role;
  bot: World['bots'][number];
}
/** A thread that follows a job of its own, and what Ana writes there, in this order. */
interface Thread {
  name: string;
  jobId: string;
  root: SentMessage;
  replies: { text: string; message: SentMessage }[];
}
type Counts = Map<string, number>;
const count = (counts: Counts, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
const urlOf = ({ bot }: Member) => `http://127.0.0.1:${bot.port}/slack/events`;

/**
 * Exports and threads through kills of bots and of Redis, frozen processes and faults of Slack and the platform. Two bots
 * take requests and two work. Ends when nothing is under way any more; the caller closes the world.
 */
export async function runChaosPlan(plan: ChaosPlan) {
  const random = seeded(plan.seed);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const domains = Array.from(
    { length: plan.exports },
    (_, index) => `site-${String(index + 1).padStart(3, '0')}.acme.com`,
  );
  const world = await createWorld({
    processes: true,
    slack: { rateLimits: false, eventRetryDelaysMs: Array.from({ length: 100 }, () => 400) },
    platform: { followUpsPerHour: 10_000, domains },
    // What a bot whose Redis is away owes to Slack: not to accept what it cannot keep. How fast commands are answered
    // while a fleet of processes starts is not what is tested.
    mayViolate:
      /^event \w+: (answered 500|no answer in time)$|^(?:block_actions \[.+\]|view_submission.*|\/docs-(?:agent|export)): no answer within/,
  });
  const { slack, platform, redis } = world;
  const updates = await createUpdates(world, { domains, messagesOf, isExported });
  const [ana, ben] = [slack.person('ana'), slack.person('ben')];
  const answers: Counts = new Map();
  const strikes: Counts = new Map();
  const faults: Counts = new Map();
  let calls = 0;

  const start = (role: Role) =>
    world.startBot({
      timing: { ...chaosTiming, lockMs: plan.lockMs },
      env: { DOCKET_ROLE: role, LOG_LEVEL: plan.logLevel, ...updates.env },
      config: `${updates.config}limits: { followUpsPerHour: 10000, exportStatusPerSecond: 100, exportsPerPerson: ${plan.exports}, exportsPerChannel: ${plan.exports} }\n`,
    });
  const fleet: Member[] = [];
  for (const role of ['web', 'web', 'worker', 'worker'] as const)
    fleet.push({ role, bot: await start(role) });
  /** Slack's next request goes to one of those that take requests, also to one that is dead. */
  const route = () => {
    slack.botUrl = urlOf(pick(fleet.filter(({ role }) => role === 'web')));
  };

  const [shortest, longest] = plan.durationMs;
  for (const domain of domains)
    platform.plan({ domain, durationMs: shortest + random() * (longest - shortest) });
  const names = Array.from({ length: plan.threads }, (_, n) => `t${String(n + 1).padStart(2, '0')}`);
  const threads = await Promise.all(names.map(follow));
  const beganAtMs = Date.now();
  const over = new AbortController();
  const answering = answerQuestions();
  const stops = [slack, platform, updates].map(({ wire }) =>
    wire.onCall((call, phase) => {
      if (phase !== 'before') return;
      calls += 1;
      // There are few webhooks.
      if (random() >= plan.faults * (call.name === 'POST /docket' ? 6 : 1)) return;
      const [kind, fault] = aFault(call);
      count(faults, kind);
      wire.order((other) => other === call, fault);
    }),
  );
  const gapMs = plan.overMs / plan.exports;
  await Promise.all([
    strikeAsPlanned(),
    ...domains.map((domain, index) => pause(gapMs * index).then(() => askForExport(domain))),
    ...domains.map((domain) => updates.ask(domain)),
    ...threads.map((thread) => converse(thread)),
  ]);
  for (const stop of stops) stop();
  for (const { wire } of [slack, platform, updates]) wire.clear();
  const idle = await becomesIdle();
  over.abort();
  await answering;
  await updates.stop();
  return {
    ...{ world, idle, strikes, faults, calls, answers, verdict: verdict() },
    seconds: (Date.now() - beganAtMs) / 1000,
  };

  async function follow(name: string): Promise<Thread> {
    const jobId = platform.agent.add({ ref: `agent/${name}` });
    await ana.types('#docs', `/docs-agent follow ${jobId}`);
    const isRoot = (message: SentMessage) =>
      keyOf(message).endsWith('.card') && slack.read(message).includes(`agent/${name}`);
    const root = await slack.until(() => slack.messages.find(isRoot), 30_000, `the card of ${name}`);
    return { name, jobId, root, replies: [] };
  }

  /** Writes each reply only when Slack's event of the one before was accepted: Slack promises no order of repeats. */
  async function converse({ name, root, replies }: Thread) {
    for (let n = 1; n <= plan.replies; n += 1) {
      await pause((random() * 2 * plan.overMs) / plan.replies);
      route();
      const text = `${name} r${String(n).padStart(3, '0')} please improve the page about errors`;
      const before = slack.events.length;
      void ana.says('#docs', text, { threadTs: root.ts });
      const events = slack.events.slice(before);
      const message = slack.messages.findLast(({ from }) => from !== 'docket');
      if (message === undefined) throw new Error('nothing was written');
      replies.push({ text, message });
      await slack.until(() => events.every(({ ended }) => ended), 90_000, 'the end of the events');
      if (!events.every(({ accepted }) => accepted)) throw new Error('Slack gave up on an event');
    }
  }

  /** Asks for the export of a site until it is accepted, as a person would who reads the channel. */
  async function askForExport(domain: string) {
    for (;;) {
      route();
      const { ok, ephemeral } = await pick([ana, ben]).types('#docs', `/docs-export ${domain}`);
      const reply = ephemeral === undefined ? '' : slack.read(ephemeral);
      if (ok && (reply === '' || reply.includes('is already being exported'))) return;
      await pause(ASK_AGAIN_MS);
      if (messagesOf(domain, '.card').length > 0) return;
      count(answers, 'asked again');
    }
  }

  function aFault({ name }: Call): [string, Fault] {
    const when: Phase = pick(['before', 'after']);
    // Docket repeats a start after the platform's own error: then a second export is possible, and allowed.
    const failed = name === START ? 'before' : when;
    const kinds: [string, Fault][] = [
      ['reset', { kind: 'reset', when }],
      ['no answer', { kind: 'hang', when }],
      ['slow', { kind: 'delay', ms: 1000 }],
      ['5xx', { kind: 'answer', status: pick([500, 502, 503]), body: { error: 'Internal' }, when: failed }],
      [
        '429',
        {
          kind: 'answer',
          status: 429,
          headers: { 'retry-after': '1' },
          body: { ok: false, error: 'ratelimited' },
        },
      ],
      ['page', { kind: 'answer', status: 200, text: '<html>Sign in to this network</html>', when }],
    ];
    // Two pages in a row to starts are an error in the log, and rightly so.
    return pick(name === START || name === 'POST /docket' ? kinds.slice(0, -1) : kinds);
  }

  async function strikeAsPlanned() {
    const pending: Promise<unknown>[] = [];
    const kill = async (member: Member) => {
      count(strikes, `kill -9 ${member.role}`);
      const before = slack.botUrl;
      await member.bot.kill();
      const replace = async () => {
        member.bot = await start(member.role);
        slack.botUrl = urlOf(fleet.find((one) => urlOf(one) === before) ?? (fleet[0] as Member));
      };
      pending.push(replace());
    };
    const freeze = async ({ bot, role }: Member) => {
      count(strikes, `SIGSTOP ${role}`);
      bot.freeze();
      pending.push(pause(plan.lockMs + 2 * chaosTiming.stalledMs + 1000).then(() => bot.thaw()));
    };
    const killRedis = async () => {
      count(strikes, 'kill -9 Redis');
      await redis.kill();
      await pause(100 + random() * 900);
      await redis.start();
    };
    /** Strikes a bot of the role, or the one that makes the next call of some kind, before or after it took effect. */
    const hit = async (role: Role, strike: (member: Member) => Promise<void>) => {
      const running = () => fleet.filter((one) => one.role === role && one.bot.running());
      const maker = role === 'worker' ? await nextMaker(pick(STRUCK), pick(['before', 'after'])) : undefined;
      await slack.until(() => running().length > 0, 60_000, `a ${role} that runs`);
      await strike(maker?.bot.running() ? maker : pick(running()));
    };
    /** The bot that makes the next such call within some time. */
    const nextMaker = (name: string, phase: Phase) =>
      new Promise<Member | undefined>((resolve) => {
        const struck = strikeAt([slack, platform], { call: name, phase }, (call) => {
          clearTimeout(late);
          resolve(fleet.find(({ bot }) => bot.made(call)));
        });
        const late = setTimeout(() => {
          struck.stop();
          resolve(undefined);
        }, STRIKE_WITHIN_MS);
      });
    const times = <T>(length: number, of: (at: number) => T) => Array.from({ length }, (_, at) => of(at));
    const planned = [
      ...times(plan.kills, (at) => () => hit(at % 2 === 0 ? 'worker' : 'web', kill)),
      ...times(plan.redisKills, () => killRedis),
      ...times(plan.freezes, () => () => hit('worker', freeze)),
    ]
      .map((act) => ({ act, at: random() }))
      .sort((one, other) => one.at - other.at);
    for (const { act } of planned) {
      await pause((plan.overMs / (planned.length + 1)) * (0.5 + random()));
      await act();
    }
    await Promise.all(pending);
  }

  /** Answers all that people are asked, as those who look at the platform, until it is over. */
  async function answerQuestions() {
    const nextMs = new Map<string, number>();
    while (!over.signal.aborted) {
      await pause(GLANCE_MS);
      for (const { about, button } of openQuestions()) {
        const id = `${about.channel} ${about.ts} ${button}`;
        const dueMs = nextMs.get(id) ?? Date.now() + THINK_MS;
        nextMs.set(id, dueMs);
        if (Date.now() < dueMs) continue;
        nextMs.set(id, Date.now() + AGAIN_MS);
        count(answers, button);
        // The message may have changed in between, or no bot may answer.
        void answer(about, button).catch(() => {});
      }
    }
  }

  async function answer(about: SentMessage | Ephemeral, button: string) {
    await ana.clicks(about, button);
    const form = ana.modal();
    // She may answer another question at the same time, so this may be the form of that one.
    const [asked] = form ? (/\bsite-\d+\.acme\.com/.exec(ana.reads(form)) ?? []) : [];
    const { jobId } = platform.starts.find(({ domain }) => domain === asked) ?? {};
    if (form && jobId) await ana.submits({ 'Job ID': jobId });
    while (ana.modal()) await ana.closes();
  }

  /** Questions and failures that wait for a person, and the button that tells the truth. */
  function openQuestions(): { about: SentMessage; button: string }[] {
    return slack.messages.flatMap((about) => {
      const text = slack.read(about);
      const isOf = (...parts: string[]) =>
        !about.deleted && parts.some((part) => keyOf(about).includes(part));
      const tag = /t\d+ r\d+/.exec(text)?.[0];
      const sendAgain = /\[(Send anyway|Try again)\]/.exec(text)?.[1];
      if (isOf('.problem.') && tag !== undefined && sendAgain !== undefined) {
        const hasArrived = platform.agent.messages.some(({ prompt }) => prompt.startsWith(tag));
        const leave = "Don't send again";
        return [{ about, button: hasArrived && text.includes(`[${leave}]`) ? leave : sendAgain }];
      }
      const domain = domainOf(about);
      const button =
        /\[(Start anyway|Try again|Check now)\]/.exec(text)?.[1] ??
        /couldn't get .*\[(New link)\]/s.exec(text)?.[1];
      if (!isOf('.question.', '.end.') || updates.isDeployment(about)) return [];
      if (domain === undefined || button === undefined) return [];
      const isStarted = platform.starts.some((one) => one.domain === domain);
      return [{ about, button: button === 'Start anyway' && isStarted ? 'It started: watch it' : button }];
    });
  }

  function messagesOf(domain: string, part: string) {
    return slack.messages.filter(
      (message) => keyOf(message).includes(part) && !message.deleted && domainOf(message) === domain,
    );
  }

  /** Returns whether an export has its last outcome, as its thread and its card show. */
  function isExported(domain: string): boolean {
    return (
      messagesOf(domain, '.card').some((card) => slack.read(card).startsWith(`✅ Exported · ${domain}`)) &&
      messagesOf(domain, '.end.').some((end) => slack.read(end).includes(`Exported · ${domain}`))
    );
  }

  /** Waits until nothing is under way. Exports that have ended are listed until their links end. */
  async function becomesIdle(): Promise<boolean> {
    const untilMs = Date.now() + IDLE_DEADLINE_MS;
    let calmSince = Date.now();
    while (Date.now() < untilMs) {
      const listed = await redis.client.zrange(keys.activeRuns(), 0, '-1');
      const isCalm =
        listed.every((member) => ['export', 'deployment'].includes(parseMember(member).job)) &&
        updates.isSettled() &&
        (await redis.client.zcard(keys.undelivered())) === 0 &&
        openQuestions().length === 0 &&
        domains.every(isExported);
      if (!isCalm) calmSince = Date.now();
      else if (Date.now() - calmSince > 2000) return true;
      await pause(200);
    }
    return false;
  }

  /**
   * Judges by what the platform took and what Slack shows alone. Each list names what went wrong, and is empty when nothing
   * did.
   */
  function verdict() {
    const starts = (domain: string) => platform.starts.filter((one) => one.domain === domain).length;
    // Nobody deletes here but the bot, what it has replaced.
    const own = slack.messages.filter(({ from }) => from === 'docket').map(keyOf);
    const found = {
      ...updates.verdict(),
      exportsLost: domains.filter((domain) => !isExported(domain)),
      exportsStartedTwice: domains.filter((domain) => starts(domain) > 1),
      exportsAcceptedTwice: domains.filter((domain) => messagesOf(domain, '.card').length > 1),
      sendsLost: [] as string[],
      sentTwice: [] as string[],
      outOfOrder: [] as string[],
      /** The platform got what nobody wrote. */
      unwanted: [] as string[],
      /** Replies that neither a reaction nor a message tells of. */
      withoutOutcome: [] as string[],
      postedTwice: own.filter((key, at) => own.indexOf(key) < at),
      openQuestions: openQuestions().map(({ about }) => slack.read(about)),
    };
    for (const { jobId, root, replies } of threads) {
      const ofJob = platform.agent.messages.filter((message) => message.jobId === jobId);
      const taken = ofJob.map(({ prompt }) => prompt);
      const wanted = replies.map(({ text }) => text);
      found.sendsLost.push(...wanted.filter((text) => !taken.includes(text)));
      found.sentTwice.push(...taken.filter((text, at) => taken.indexOf(text) < at));
      found.unwanted.push(...taken.filter((text) => !wanted.includes(text)));
      const places = taken.map((text) => wanted.indexOf(text));
      found.outOfOrder.push(...taken.filter((_, at) => (places[at] ?? 0) < (places[at - 1] ?? -1)));
      // The status of its round, or what replaced it, says that a reply was taken, or else a reaction.
      const hasRound = slack.messages.some(
        (one) => one.threadTs === root.ts && !one.deleted && /\.(?:round|end)\./.test(keyOf(one)),
      );
      for (const { text, message } of replies) {
        const isShown = message.reactions.length === 0 ? hasRound : message.reactions[0]?.name === 'eyes';
        if (!isShown) found.withoutOutcome.push(text);
      }
    }
    return found;
  }
}

/** The site that a message is about: the last one in its first line, since others may have replaced it. */
const domainOf = ({ text }: SentMessage | Ephemeral) => /^.*\b(site-\d+\.acme\.com)/.exec(text)?.[1];
/** The bot's own name of a message. */
const keyOf = ({ metadata }: SentMessage) => String(metadata?.event_payload.key ?? '');

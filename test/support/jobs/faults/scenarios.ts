import type { Redis } from 'ioredis';
import {
  isFinished,
  newThread,
  type ThreadEvent,
  type ThreadRun,
  threadEvent,
  threadRun,
  waitingOf,
} from '../../../../src/jobs/agent/thread/record.ts';
import { type EditionRun, editionRun, rootKey } from '../../../../src/jobs/digest/edition/record.ts';
import {
  type ExportRun,
  exportRun,
  exportTransitions,
  newExportRun,
} from '../../../../src/jobs/export/record.ts';
import { exportMessages, privateKey } from '../../../../src/jobs/export/view.ts';
import { newSchedule } from '../../../../src/jobs/schedule/record.ts';
import { createMessageStore } from '../../../../src/store/messages.ts';
import { createRunStore, type RunBase } from '../../../../src/store/runs.ts';
import { createThreadStore } from '../../../../src/store/threads.ts';
import { aLinkRun } from '../export/builders.ts';
import { createEngine, type Engine } from './engine.ts';
import { pullRequestScenario } from './pull-request.ts';
import { rowScenario } from './row.ts';
import { siteScenario } from './site.ts';
import { updateScenario } from './updates.ts';
import { createUpstreams, RESPONSE_URL, SECRET, type Upstreams } from './upstreams.ts';

/** Monday, 2035-01-08 06:00 UTC: later than the real time, by which Redis lets keys expire. */
const START_MS = Date.UTC(2035, 0, 8, 6);
export const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

export const ana = { id: 'U0ANA', name: 'ana', fullMember: true };
const ben = { id: 'U0BEN', name: 'ben', fullMember: true };
export const teamId = 'T0ACME';
export const channel = { id: 'C0DOCS', name: 'docs' };

/** What people do, and what they must see in the end. */
export interface Scenario {
  begin(): Promise<unknown>;
  /** Answers an open question. Returns whether there was one. */
  answer?(): Promise<boolean>;
  /** Returns what is wrong. */
  check(): Promise<string[]>;
  untilMs?: number;
}

export type Parts = ReturnType<typeof partsOf>;

function partsOf(engine: Engine, upstreams: Upstreams) {
  const runs = createRunStore(engine.redis);
  const threads = createThreadStore(engine.redis);
  const one = <T>(choices: readonly T[]) => choices[Math.floor(engine.random() * choices.length)] as T;
  const accept = (run: RunBase) => runs.accept(run, { claimMs: DAY_MS, responseUrl: RESPONSE_URL });
  const isShown = (key: string) => upstreams.messages.some((message) => message.key === key);
  return { ...engine, ...upstreams, runs, threads, one, accept, isShown };
}

function exportScenario({
  now,
  one,
  accept,
  runs,
  platform,
  ephemerals,
  isShown,
  messages,
}: Parts): Scenario {
  const target = { project: 'acme', domain: 'docs.acme.com', version: undefined, paths: undefined };
  const privately = one([true, false, false]);
  const request = { teamId, user: ana, channel, requestId: 'r1' };
  const run = newExportRun({ ...target, privately }, request, { links: 'thread', now });
  platform.exportEnds = one(['completed', 'completed', 'failed']);
  platform.refusesStarts = one([true, false, false, false, false]);
  let allowed = 1;
  const load = async () => (await runs.load(run.id, exportRun)) as ExportRun;
  return {
    begin: () => accept(run),
    async answer() {
      const open = await load();
      if (open.state !== 'unknown' || now() < open.sinceMs + READING_MS) return false;
      const choice = one(['startAgain', 'leave'] as const);
      // A start that nobody has seen yet must not come any more.
      allowed = platform.starts + (choice === 'startAgain' ? 1 : 0);
      const next = exportTransitions[choice](open, ana, now());
      if (next !== undefined) await runs.resume(next, { claimMs: DAY_MS });
      return true;
    },
    async check() {
      const { state, ending, ...rest } = await load();
      if (state !== 'ended') return [`the export is ${state}`];
      const keys = exportMessages({ ...rest, state, ending }).flatMap((one) =>
        one.retracted ? [] : [one.key],
      );
      const missing = keys.filter((key) => !isShown(key));
      const isPrivate = keys.length === 0 && ephemerals.length === 0 && !messages.some(isDirect);
      return [
        ...missing.map((key) => `${key} is not shown`),
        ...(isPrivate ? ['nobody knows the ending'] : []),
        ...(platform.starts > allowed ? [`${platform.starts} starts, but only ${allowed} were allowed`] : []),
      ];
    },
  };
}

const isDirect = ({ channel }: { channel: string }) => channel.startsWith('D');

function linkScenario({ now, accept, runs, exports, messages, isShown }: Parts): Scenario {
  const run = aLinkRun({ sinceMs: now(), nextPollAtMs: now() });
  exports.set(run.jobId ?? '', { endsAtMs: 0 });
  return {
    begin: () => accept(run),
    async check() {
      const { state } = (await runs.load(run.id, exportRun)) as ExportRun;
      return [
        ...(state === 'ended' ? [] : [`the link is ${state}`]),
        ...(isShown(privateKey(run, 0)) ? [] : ['no link was sent']),
        ...(messages.every(isDirect) ? [] : ['the link was in a channel']),
      ];
    },
  };
}

/** How long a person reads a question, at least. */
export const READING_MS = 3000;

/** The questions of a thread, and what became of its instructions. */
function threadAnswers(run: ThreadRun, parts: Parts) {
  const { runs, one, now, plan, agentJobs, messages } = parts;
  /** How often each text may be sent. */
  const allowed = new Map<string, number>();
  const load = async () => (await runs.load(run.id, threadRun)) as ThreadRun;
  /** What was sent, without what went along. */
  const sentTexts = () =>
    [...agentJobs.values()].flatMap(({ prompts }) => prompts.map((prompt) => prompt.split('\n\n')[0] ?? ''));
  const sendsOf = (text: string) => sentTexts().filter((sent) => sent === text).length;
  /** A second click on the same question has no effect. */
  const answered = new Set<string>();
  const readAt = new Map<string, number>();

  async function answer() {
    const thread = await load();
    const open = thread.instructions.find(({ state }) => state === 'unknown' || state === 'held');
    if (thread.state === 'ended' || open === undefined) return false;
    const question = `${open.state} ${open.id} ${open.attempt}`;
    if (answered.has(question)) return false;
    const readAtMs = readAt.get(question) ?? now() + READING_MS;
    if (open.state === 'unknown' && now() < readAtMs) {
      if (!readAt.has(question)) plan(readAtMs, async () => void (await answer()));
      readAt.set(question, readAtMs);
      return true;
    }
    answered.add(question);
    const action =
      open.state === 'unknown'
        ? one(['sendAgain', 'leave'] as const)
        : open.background
          ? one(['sendWithBackground', 'sendAlone'] as const)
          : one(['send', 'notForAgent'] as const);
    // A send that nobody has seen yet must not come any more.
    if (action === 'sendAgain') allowed.set(open.text, sendsOf(open.text) + 1);
    if (action === 'leave') allowed.set(open.text, sendsOf(open.text));
    const { id, attempt, by } = open;
    const event: ThreadEvent = { kind: 'clicked', action, by, about: [id], attempt, atMs: now() };
    await runs.appendToInbox(run.job, run.id, { event, dedupeKey: question });
    return true;
  }

  return {
    load,
    answer,
    /** `inOrder`: instructions that nobody is asked about. */
    async check(inOrder: readonly string[], others: readonly string[]) {
      const thread = await load();
      const prompts = sentTexts();
      const problems: string[] = [];
      for (const text of [...inOrder, ...others]) {
        const sent = sendsOf(text);
        const [known] = thread.instructions.filter((one) => one.text === text || one.excerpt === text);
        const max = allowed.get(text) ?? 1;
        if (sent > max) problems.push(`"${text}" was sent ${sent} times, but only ${max} were allowed`);
        if (thread.state === 'ended') continue;
        const isDropped = known?.state === 'left' || known?.state === 'notForAgent';
        if (sent === 0 && known?.state !== 'failed' && !isDropped)
          problems.push(`"${text}" was lost: ${known?.state}`);
        if (known !== undefined && !isFinished(known) && known.state !== 'failed')
          problems.push(`"${text}" is ${known.state} for ever`);
        if (known?.state === 'sent' && !messages.some(({ key }) => key.startsWith(`${run.id}.end.`)))
          problems.push(`nobody knows the result of "${text}"`);
      }
      const arrived = [...new Set(prompts)].filter((prompt) => inOrder.includes(prompt));
      const isOrdered = arrived.every(
        (text, index) => index === 0 || inOrder.indexOf(arrived[index - 1] ?? '') < inOrder.indexOf(text),
      );
      if (!isOrdered) problems.push(`sent in this order: ${arrived.join(', ')}`);
      return problems;
    },
  };
}

function threadScenario(parts: Parts): Scenario {
  const { now, random, one, accept, runs, threads, plan, messages, agentJobs, faults, whileWorking } = parts;
  const agentJobId = one(['aj_old', undefined]);
  const first = 'Write a quickstart';
  const [rootTs, before] = ['2051856000.000100', '2051856000.000300'];
  const backgroundSource = one([{ channel: channel.id, rootTs, before }, undefined]);
  const run = {
    ...newThread(
      {
        id: 'thread1',
        teamId,
        project: 'acme',
        agentJobId,
        owner: { id: ana.id, name: ana.name },
        asked: { channel: channel.id, joinable: true, isPublic: true },
        mode: 'auto',
        ...(agentJobId === undefined && { instruction: { id: 'i1', text: first, backgroundSource } }),
      },
      now(),
    ),
    answers: { [ana.id]: 'always' as const },
  };
  if (agentJobId !== undefined)
    agentJobs.set(agentJobId, { prompts: [], activeUntilMs: 0, interruptions: 0 });
  const own = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, index) => `Fix page ${index + 1}`);
  const held = one([[], ['Also check the links']]);
  const { answer, check, load } = threadAnswers(run, parts);
  const posted: string[] = [];

  /** A person replies once the card is there; Slack repeats the event until it is taken. */
  async function reply(user: string, text: string): Promise<void> {
    const { place } = await load();
    if (place === undefined) return plan(now() + 5000, () => reply(user, text));
    const ts = `${(now() / 1000).toFixed(3)}${900 + posted.push(text)}`;
    const written = { channel: channel.id, ts, user, external: false, mentionsBot: false };
    const event = threadEvent.parse({
      ...{ kind: 'reply', ...written, mentionsOthers: false, content: { text }, files: false },
    });
    await threads.appendToThread({ teamId, ...place }, { event, dedupeKey: `reply ${ts}` }, true);
  }

  /** Somebody does not wait for the agent. */
  async function sendNow(n: number): Promise<void> {
    const [first] = waitingOf(await load());
    const by = { id: ben.id, name: ben.name };
    const click = { kind: 'clicked', action: 'sendNow', attempt: 1, atMs: now(), by } as const;
    const event: ThreadEvent = { ...click, about: first ? [first.id] : [] };
    await runs.appendToInbox(run.job, run.id, { event, dedupeKey: `sendNow ${n}` });
  }
  const clicks = one([0, 0, 2]);

  return {
    async begin() {
      await accept(run);
      let atMs = now();
      for (let n = 0; n < clicks; n += 1) plan(atMs + Math.round(random() * MINUTE_MS), () => sendNow(n));
      for (const text of own) {
        atMs += 5000 + Math.round(random() * 30_000);
        plan(atMs, () => reply(ana.id, text));
      }
      for (const text of held) plan(atMs - Math.round(random() * 20_000), () => reply(ben.id, text));
    },
    answer,
    async check() {
      const { state, ended } = await load();
      const unasked = posted.filter((text) => own.includes(text));
      const problems = await check([...(agentJobId === undefined ? [first] : []), ...unasked], held);
      if (messages.length === 0) problems.push('nothing is shown');
      const interruptions = [...agentJobs.values()].reduce((sum, job) => sum + job.interruptions, 0);
      const mayInterrupt = clicks > 0 || whileWorking === 'send' || faults.join().includes('docs.');
      if (interruptions > 0 && !mayInterrupt) problems.push('the agent was interrupted');
      // Somebody left the creation of the job as it was.
      if (state === 'ended' && ended?.why !== 'notMade') problems.push(`the thread ended: ${ended?.why}`);
      return problems;
    },
  };
}

function digestScenario(parts: Parts): Scenario {
  const { now, redis, accept, runs, plan, messages, isShown, files } = parts;
  const timetable = { weekday: 1, time: '09:00', zone: 'Europe/Berlin' };
  const wanted = {
    job: 'digest-schedule',
    project: 'acme',
    site: 'docs.acme.com',
    channel: channel.id,
    isPublic: true,
    timetable,
  };
  const schedule = newSchedule(
    { ...wanted, sections: ['pages', 'readers', 'csv'], alerts: false },
    { teamId, user: ana, requestId: 'r1' },
    now(),
  );
  const text = 'Improve the page about SSO';
  let asked: ReturnType<typeof threadAnswers> | undefined;
  const isRoot = ({ key }: { key: string }) => key.endsWith('.digest');

  /** Ana asks the agent under the digest, once it is there. */
  async function ask(): Promise<void> {
    const root = messages.find(isRoot);
    if (root === undefined) {
      // Without a digest, nobody asks.
      if (now() < START_MS + DAY_MS) plan(now() + 10 * MINUTE_MS, ask);
      return;
    }
    const digest = root.key.replace('.digest', '');
    const by = { id: ana.id, name: ana.name };
    const subject = { kind: 'page' as const, name: '/guides/sso', value: 100 };
    const about = { digest, under: rootKey({ id: digest }), channel: channel.id, subject };
    const thread = newThread(
      {
        id: 'asked1',
        teamId,
        project: 'acme',
        agentJobId: undefined,
        owner: by,
        asked: { channel: channel.id, joinable: true, isPublic: true },
        mode: 'auto',
        instruction: { id: 'i1', text, origin: { about: '/guides/sso', ...about } },
      },
      now(),
    );
    asked = threadAnswers(thread, parts);
    await accept(thread);
  }

  return {
    untilMs: START_MS + 2 * DAY_MS,
    async begin() {
      await accept(schedule);
      plan(now() + 130 * MINUTE_MS, ask);
    },
    answer: async () => (await asked?.answer()) ?? false,
    async check() {
      const problems = (await asked?.check([text], [])) ?? [];
      const ids = await redis.keys('{docket}:run:*');
      const all = await Promise.all(
        ids.map((key) => runs.load(key.slice('{docket}:run:'.length), editionRun).catch(() => undefined)),
      );
      const editions = all.flatMap((one): EditionRun[] => (one ? [one] : []));
      if (editions.length !== 1) problems.push(`there are ${editions.length} digests`);
      for (const { id, state, ended, csv } of editions) {
        if (state !== 'ended') problems.push(`the digest is ${state}`);
        if (ended?.why === 'done' && !isShown(rootKey({ id }))) problems.push('the digest is not shown');
        if (ended?.why !== 'done' && messages.length < 2) problems.push(`nobody knows: ${ended?.why}`);
        const there = [...files.values()].filter(({ sharedIn }) => sharedIn.length > 0).length;
        if (there > 1) problems.push(`the file is there ${there} times`);
        if (csv?.state === 'done' && there === 0) problems.push('the file is missing');
      }
      for (const [id, { completions }] of files)
        if (completions > 1) problems.push(`${id} was completed ${completions} times`);
      return problems;
    },
  };
}

const scenarios = {
  export: exportScenario,
  thread: threadScenario,
  digest: digestScenario,
  link: linkScenario,
  update: updateScenario,
  site: siteScenario,
  pullRequest: pullRequestScenario,
  row: rowScenario,
};

/** Of 33 runs; a digest takes the most steps. */
const SHARES = {
  export: 8,
  thread: 6,
  link: 5,
  digest: 1,
  update: 4,
  site: 3,
  pullRequest: 3,
  row: 3,
} as const;

/** Returns what is wrong with all that people see, whatever the scenario. */
async function checkSlack({ redis, messages, ephemerals }: Parts): Promise<string[]> {
  const problems: string[] = [];
  const stored = createMessageStore(redis);
  const byKey = Map.groupBy(messages, ({ key }) => key);
  for (const [key, posts] of byKey) {
    if (posts.length > 1) problems.push(`${key} was posted ${posts.length} times`);
    const record = await stored.load(key);
    const [post] = posts;
    const { retracted, replacedBy, text } = record?.wanted ?? {};
    if (!retracted && post?.content.text !== text)
      problems.push(`${key} shows "${post?.content.text}", not "${text}"`);
    if (retracted && !post?.isRemoved) problems.push(`${key} is still there`);
    let last = replacedBy;
    while (last !== undefined && post?.shownThen?.includes(last) === false)
      // What replaced it may have been replaced, too.
      last = (await stored.load(last))?.wanted.replacedBy;
    if (replacedBy !== undefined && post?.isRemoved && last === undefined)
      problems.push(`${key} was removed before ${replacedBy} was there`);
  }
  const repeated = ephemerals.filter((one, index) => ephemerals.indexOf(one) < index);
  problems.push(...repeated.map((one) => `twice: ${one}`));
  const late = messages.filter(
    ({ content, isRemoved }) => !isRemoved && JSON.stringify(content).includes(SECRET),
  );
  problems.push(...late.map(({ key }) => `${key} still has a link`));
  for (const key of await redis.keys('{docket}:*')) {
    if (!/^\{docket\}:(?:run|message|inbox):/.test(key)) continue;
    const isHash = (await redis.type(key)) === 'hash';
    const values = isHash ? Object.values(await redis.hgetall(key)) : await redis.lrange(key, 0, -1);
    if (values.some((value) => value.includes(SECRET))) problems.push(`${key} has a secret`);
  }
  return problems;
}

/** Answers of one person, after which nobody answers any more. */
const MAX_ANSWERS = 20;

/** How often somebody looks for a question before everything is idle. */
const MAX_VISITS = 12;

/** Plays one scenario with faults; the seed decides both. Returns what happened, and what is wrong. */
export async function playWithFaults(redis: Redis, clock: { ms: number }, seed: number) {
  await redis.flushall();
  clock.ms = START_MS;
  const engine = createEngine(redis, clock, { seed, maxFaults: 1 + (seed % 6) });
  const parts = partsOf(engine, createUpstreams(engine));
  const names = Object.entries(SHARES).flatMap(([name, share]) => Array<string>(share).fill(name));
  const name = parts.one(names) as keyof typeof scenarios;
  const scenario = scenarios[name](parts);
  await scenario.begin();
  // People also answer while faults still last.
  for (let visit = 0; visit < MAX_VISITS; visit += 1)
    engine.plan(clock.ms + Math.round(engine.random() * 5 * MINUTE_MS), async () => scenario.answer?.());
  for (let answers = 0; answers < MAX_ANSWERS; answers += 1) {
    await engine.untilIdle(scenario.untilMs ?? Infinity);
    clock.ms += 20_000 + Math.round(engine.random() * MINUTE_MS);
    if (!(await scenario.answer?.())) break;
  }
  const problems = [...engine.problems, ...(await scenario.check()), ...(await checkSlack(parts))];
  return { name, faults: engine.faults, problems };
}

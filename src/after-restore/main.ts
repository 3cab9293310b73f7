import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { ZodError } from 'zod';
import { readEnvFile } from '../config/env-file.ts';
import { readPartialSettings, redisAddressOf } from '../config/settings.ts';
import { type ThreadRun, threadRun } from '../jobs/agent/thread/record.ts';
import { addProblem } from '../jobs/agent/thread/send.ts';
import { cardKey as threadCardKey, threadMessages } from '../jobs/agent/thread/view.ts';
import { dispatchStep } from '../jobs/deployment/job.ts';
import { earlierOf, endUpdate, type UpdateRun, updateRun, withEarlier } from '../jobs/deployment/record.ts';
import { updateMessages } from '../jobs/deployment/view.ts';
import { type EditionRun, editionRun, pagesKey, rootKey, weeklyId } from '../jobs/digest/edition/record.ts';
import { editionMessages } from '../jobs/digest/edition/view.ts';
import { type ScheduleRun, scheduleRun } from '../jobs/digest/schedule/record.ts';
import { lastCompleteWeek } from '../jobs/digest/weeks.ts';
import { startStep } from '../jobs/export/job.ts';
import { type ExportRun, exportRun } from '../jobs/export/record.ts';
import { cardKey, exportMessages, privateKey, standingKey } from '../jobs/export/view.ts';
import { type ExportSchedule, exportSchedule } from '../jobs/export-schedule/record.ts';
import { activate, type Schedule } from '../jobs/schedule/record.ts';
import { siteStartStep, wakeSchedules } from '../jobs/site/job.ts';
import { type SiteRun, siteRun } from '../jobs/site/record.ts';
import { siteMessages } from '../jobs/site/view.ts';
import { OperatorError } from '../runtime/operator-error.ts';
import { defaultTiming, retention } from '../runtime/timing.ts';
import { writeIntent } from '../store/call-once.ts';
import { startEmbeddedRedis } from '../store/embedded-redis.ts';
import { keys, setTagName } from '../store/keys.ts';
import type { RedisClient } from '../store/redis/client.ts';
import { askTime } from '../store/redis/clock.ts';
import { connectForRequests, type RedisAddress, tagNameOf } from '../store/redis/connections.ts';
import { createRunStore, type LoadedRun } from '../store/runs.ts';
import { checkSchema } from '../store/schema.ts';

/** How long Redis may take to answer. */
const CONNECT_MS = 5000;

/** Closes the open work in the data of a stopped Docket, prints the counts, and ends the process. */
async function main(env: NodeJS.ProcessEnv): Promise<void> {
  try {
    const file = readEnvFile(fileURLToPath(new URL('../../.env', import.meta.url)));
    if (file.problem !== undefined) throw new OperatorError(file.problem);
    const settings = readPartialSettings({ ...file.values, ...env });
    const external = redisAddressOf(settings);
    const work = external ? await closeAt(external) : await closeEmbedded(settings.dataDir, env.PATH ?? '');
    process.stdout.write(textOf(work), () => process.exit(0));
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    process.stderr.write(`${error.message}\n`, () => process.exit(1));
  }
}

/** Docket's own Redis runs during this. If Docket is running, its folder is locked. */
async function closeEmbedded(dataDir: string, searchPath: string) {
  const log = { info() {}, warn() {}, error() {} };
  const redis = await startEmbeddedRedis({ dataDir, searchPath, log });
  try {
    return await closeAt({ socketPath: redis.socketPath });
  } finally {
    await redis.stop();
  }
}

async function closeAt(address: RedisAddress) {
  setTagName(tagNameOf(address));
  const redis = connectForRequests(address, defaultTiming, () => {});
  try {
    await once(redis, 'ready', { signal: AbortSignal.timeout(CONNECT_MS) }).catch(() => {
      throw new OperatorError('Redis cannot be reached. Start it, and run this again.');
    });
    if ((await redis.exists(keys.schema())) === 0)
      throw new OperatorError('There are no data of Docket here. Put them back first, and run this again.');
    await checkSchema(redis);
    return await closeOpenWork(redis);
  } finally {
    redis.disconnect();
  }
}

const textOf = ({ exports, instructions, skipped }: Awaited<ReturnType<typeof closeOpenWork>>) =>
  `Exports whose start people are asked about: ${exports}
Instructions to the agent that people are asked about: ${instructions}
Digests, scheduled exports, instructions, replies and clicks that are skipped: ${skipped}
Start Docket now.
`;

/** An intent older than any call can be, so the result of its call is unknown. */
const LONG_AGO = { token: 'after-restore', sinceMs: 1 };

/**
 * Changes restored data of a stopped Docket. Work may have been done since the backup, so only a person can repeat it.
 * Safe to run twice.
 */
export async function closeOpenWork(redis: RedisClient) {
  const runs = createRunStore(redis);
  const nowMs = await askTime(redis);
  // People are asked about exports and instructions. Due digests and exports, and unread events, are skipped.
  const work = { exports: 0, instructions: 0, skipped: 0 };

  /** Makes Docket search for these messages before it posts them, unless Slack is known to have or refuse them. */
  async function search(sinceMs: number, messages: readonly { key: string }[], more: readonly string[] = []) {
    for (const key of [...messages.map((one) => one.key), ...more].map(keys.message)) {
      const delivery = JSON.parse((await redis.hget(key, 'json')) ?? '{}');
      if (delivery.ts ?? delivery.refusal ?? delivery.postedAtMs) continue;
      await redis.hset(key, 'json', JSON.stringify({ ...delivery, postedAtMs: sinceMs }));
      if ((await redis.hlen(key)) === 1) await redis.pexpire(key, retention.runMs);
    }
  }

  async function closeExport(run: ExportRun) {
    const { id, attempt, resumed, joined, state } = run;
    const ends = [`${id}.end.${attempt}.${resumed}`, privateKey(run, resumed)];
    const cards = [false, true].map((inDirectMessage) => cardKey({ ...run, inDirectMessage }));
    const later = [...cards, ...ends, `${id}.progress`, `${id}.question.${attempt}`];
    await search(run.sinceMs, exportMessages(run), later);
    if (joined || !['accepted', 'postingCard', 'starting'].includes(state)) return;
    const start = (await writeIntent(redis, run, startStep(run), LONG_AGO)) ?? LONG_AGO;
    if (!('result' in start)) work.exports += 1;
  }

  async function closeThread({ run, inbox }: { run: ThreadRun; inbox: unknown[] }) {
    const open = run.rounds.filter(({ ending }) => ending === undefined);
    // The job may have been active since, in a round that the backup does not know.
    const next = (run.rounds.at(-1)?.n ?? 0) + 1;
    const rounds = [...open.map(({ n }) => n), next];
    const later = rounds.flatMap((n) => [`${run.id}.round.${n}`, `${run.id}.end.${n}`]);
    await search(run.sinceMs, threadMessages(run), [threadCardKey(run), `${run.id}.instruction`, ...later]);
    const unsent = run.instructions.filter(({ state }) => state === 'waiting' || state === 'sending');
    const asked = unsent.reduce((thread, one) => addProblem(thread, one, { why: 'unknown' }), run);
    if (asked !== run || inbox.length > 0) await runs.saveStep(asked, { consumed: inbox.length });
    work.instructions += unsent.length;
    work.skipped += inbox.length;
  }

  async function closeEdition(run: EditionRun) {
    const later = [pagesKey(run), `${run.id}.failed`, `${run.id}.late`];
    await search(run.sinceMs, editionMessages(run), later);
    if (run.state === 'collecting') {
      await runs.unlist(run, true);
      await redis.del(keys.run(run.id));
      work.skipped += 1;
    } else if (run.state !== 'ended') {
      // A file cannot be searched in Slack, so no further one is shared.
      const sections = run.sections.filter((section) => section !== 'csv');
      await runs.saveStep({ ...run, sections, ...(run.csv?.state !== 'done' && { csv: undefined }) });
    }
  }

  /** Returns an active schedule whose due times before now are skipped; undefined for others. */
  async function skipDue<S extends Schedule>(run: S, messages: readonly string[]): Promise<S | undefined> {
    await search(run.sinceMs, [], [...messages, `${run.id}.created`]);
    if (run.state !== 'active') return undefined;
    if (run.nextAtMs <= nowMs) work.skipped += 1;
    const { sinceMs, failures } = run;
    return { ...activate(run, nowMs), sinceMs, failures };
  }

  async function closeExportSchedule({ run, inbox }: LoadedRun<ExportSchedule>) {
    const next = await skipDue(run, [standingKey(run.id)]);
    work.skipped += inbox.length;
    // After the backup, the export may have been started. Nobody knows, so it is skipped.
    const latest = run.latest?.run === undefined ? undefined : run.latest;
    if (next !== undefined || latest !== run.latest || inbox.length > 0)
      await runs.saveStep({ ...(next ?? run), latest }, { consumed: inbox.length });
  }

  async function closeSchedule(run: ScheduleRun) {
    const next = await skipDue(run, [`${run.id}.test`]);
    if (next === undefined) return;
    await runs.saveStep({ ...next, alert: undefined });
    // A person may have sent it by hand.
    const { name, range } = lastCompleteWeek(next.nextAtMs);
    const edition = { id: weeklyId(run, name) };
    await search(Date.parse(range.to), [], [rootKey(edition), pagesKey(edition)]);
  }

  /**
   * A workflow must not start twice, so a person is asked. A webhook or a renewed link could bring an earlier export back:
   * its messages have a time limit, which those of workflows have not.
   */
  async function closeUpdate(run: UpdateRun) {
    const later = ['question', 'trouble'].map((name) => `${run.id}.${name}.${run.attempt}`);
    await search(run.sinceMs, updateMessages(run), later);
    const close = (one: UpdateRun) => {
      const isSent =
        ['accepted', 'linking'].includes(one.state) ||
        (one.state === 'notifying' && (one.notifyUntilMs ?? one.notifiedAtMs));
      const isRenewed = one.state === 'notified' && one.renewAtMs !== undefined;
      return isSent || isRenewed ? endUpdate(one, { kind: 'restored' }, nowMs) : one;
    };
    const earlier = earlierOf(run);
    const closed = close(earlier ? withEarlier(run, close(earlier)) : run);
    const kept = earlier || closed !== run ? (await runs.saveStep(closed))?.run : run;
    if (kept?.state === 'notifying') await writeIntent(redis, kept, dispatchStep(kept), LONG_AGO);
  }

  async function closeSite(run: SiteRun) {
    const later = [`${run.id}.line.dm`, `${run.id}.question.${run.attempt}`, `${run.id}.end`];
    await search(run.sinceMs, siteMessages(run), later);
    if (run.state === 'postingCard' || run.state === 'starting')
      await writeIntent(redis, run, siteStartStep(run), LONG_AGO);
    // The exports that follow it may have been started since: schedules get their entries now, and skip them.
    if (run.state === 'watching' && run.branch === undefined)
      await wakeSchedules(run, { runs, teamsOf: () => teams, wake: async () => {} });
  }

  async function closeLink(run: ExportRun) {
    const key = privateKey(run, 0);
    await search(run.sinceMs, [], [key, `${key}.${run.relinked + 1}`]);
  }

  const closers: Record<string, (id: string) => Promise<void>> = {
    'agent-thread': (id) => ifFound(runs.loadWithInbox(id, threadRun), closeThread),
    export: (id) => ifFound(runs.load(id, exportRun), closeExport),
    digest: (id) => ifFound(runs.load(id, editionRun), closeEdition),
    'digest-schedule': (id) => ifFound(runs.load(id, scheduleRun), closeSchedule),
    deployment: (id) => ifFound(runs.load(id, updateRun), closeUpdate),
    'export-schedule': (id) => ifFound(runs.loadWithInbox(id, exportSchedule), closeExportSchedule),
    site: (id) => ifFound(runs.load(id, siteRun), closeSite),
    link: (id) => ifFound(runs.load(id, exportRun), closeLink),
  };

  const all = await runs.active();
  const found = await Promise.all(all.map(({ id }) => redis.hget(keys.run(id), 'team')));
  const teams = [...new Set(found.flatMap((team) => team ?? []))];
  const active = Object.groupBy(all, ({ job }) => (job === 'site' ? 'first' : 'then'));
  for (const { job, id } of [...(active.first ?? []), ...(active.then ?? [])]) await closers[job]?.(id);
  for (const key of await redis.zrange(keys.undelivered(), '0', '-1'))
    await search(Number(await redis.hget(keys.message(key), 'behindSinceMs')), [{ key }]);
  return work;
}

/** A damaged record is skipped, as Docket does. */
async function ifFound<T>(loading: Promise<T | undefined>, close: (found: T) => Promise<void>) {
  const found = await loading.catch((error: unknown) => {
    if (!(error instanceof ZodError)) throw error;
  });
  if (found !== undefined) await close(found);
}

if (import.meta.main) await main(process.env);

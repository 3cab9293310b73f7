import { z } from 'zod';
import type { Policy } from '../../policy.ts';
import type { Project } from '../../projects.ts';
import type { Log } from '../../runtime/log.ts';
import type { Timing } from '../../runtime/timing.ts';
import type { Part } from '../../slack/blocks.ts';
import type { SlackApi } from '../../slack/client.ts';
import { SlackApiError } from '../../slack/errors.ts';
import type { Outbox } from '../../slack/outbox.ts';
import { editPace } from '../../slack/rate-limits.ts';
import { messageAddress } from '../../slack/text.ts';
import type { BudgetStore } from '../../store/budget.ts';
import type { Pace, PaceStore } from '../../store/rate-limit.ts';
import { type RunStore, UnreadableRun } from '../../store/runs.ts';
import type { ThreadStore } from '../../store/threads.ts';
import { threadLine } from '../agent/thread/list-view.ts';
import { type ThreadRun, threadRun } from '../agent/thread/record.ts';
import { askWhom } from '../ask-whom.ts';
import { type ExportRun, exportRun } from '../export/record.ts';
import { cardKey, exportLine } from '../export/view.ts';
import { defineJob, done, lookAgainIn, type Outcome } from '../job.ts';
import { type IsPublic, maySee } from '../may-see.ts';
import { followUpUses } from '../status/follow-up-use.ts';
import { limitLines } from '../status/view.ts';
import { homeView } from './view.ts';

export interface HomeContext {
  runs: RunStore;
  threads: Pick<ThreadStore, 'followed'>;
  policy: Policy;
  slack: Pick<SlackApi, 'publishHome'>;
  outbox: Pick<Outbox, 'state'>;
  pace: PaceStore;
  limits: { exportStatusPerSecond: number; followUpsPerHour: number };
  projects: readonly Project[];
  budgets: Pick<BudgetStore, 'use'>;
  isPublic: IsPublic;
  /** The workspace's address, with a slash at its end; nothing while Slack has not told. */
  workspaceUrl: () => string | undefined;
  now: () => number;
  random: () => number;
  timing: Timing;
  log: Log;
}

export const homeData = z.object({ teamId: z.string(), userId: z.string(), openedAtMs: z.number() });
type HomeData = z.output<typeof homeData>;

/** What somebody runs and follows. */
const homeRun = z.discriminatedUnion('job', [exportRun, threadRun]);
type HomeRun = ExportRun | ThreadRun;

/** More than these help nobody. */
const RUNNING = 15;
const ENDED = 10;

/** Followed threads of the workspace, the latest first, among which those of one person are looked for. */
const FOLLOWED = 300;

/** Publishing for longer is not worth it: Home is brought up to date when it is opened again. */
const GIVE_UP_MS = 3 * 60_000;

/** `views.publish` is tier 4, 100 in any minute for the whole workspace: Slack's rate limits page. */
const homePace = (teamId: string): Pace => ({ bucket: `home:${teamId}`, perMinute: 90, burst: 5 });

/** Brings the Home tab of one person up to date. Publishing twice does no harm. */
export const homeJob = defineJob<HomeData, HomeContext>({
  name: 'home',
  queue: 'slack-outbox',
  concurrency: 5,
  data: homeData,

  async run(data, context) {
    const { teamId, userId, openedAtMs } = data;
    const { slack, pace } = context;
    const pacer = homePace(teamId);
    const waitMs = await pace.take(pacer, { of: userId, rank: 0, sinceMs: openedAtMs });
    if (waitMs > 0) return lookAgainIn(waitMs);
    const view = await viewOf(data, context);
    try {
      await slack.publishHome(userId, view);
      return done;
    } catch (error) {
      if (!(error instanceof SlackApiError)) throw error;
      if (error.kind === 'limited') await pace.hold(pacer, error.retryAfterMs ?? context.timing.retryMaxMs);
      return afterFailure(error, data, context);
    }
  },
});

function afterFailure(error: SlackApiError, { userId, openedAtMs }: HomeData, context: HomeContext): Outcome {
  const { kind, code, pointers } = error;
  const { log, now, random } = context;
  const { retryMinMs, retryMaxMs } = context.timing;
  switch (kind) {
    case 'limited':
    case 'unreachable':
    case 'unclear':
    case 'token': {
      // Only here: a tab that was opened long ago may have been opened again since, and be looked at just now.
      const sinceMs = now() - openedAtMs;
      if (sinceMs > GIVE_UP_MS) {
        log.warn(
          { user: userId, code },
          'a Home tab was not brought up to date: Slack did not take it in time',
        );
        return done;
      }
      log.warn({ user: userId, kind, code }, 'a Home tab was not published; I try again');
      // As long again as it has taken so far: the pauses double without a count of them.
      const pauseMs = Math.min(Math.max(sinceMs, retryMinMs), retryMaxMs);
      return lookAgainIn(pauseMs * (0.75 + random() / 2));
    }
    case 'blocks':
      log.error({ user: userId, code, pointers }, 'Slack refused our Home tab');
      return done;
    case 'place':
    case 'missing':
    case 'refused':
      log.warn({ user: userId, code }, 'Slack takes no Home tab for this person');
      return done;
  }
}

async function viewOf({ teamId, userId }: HomeData, context: HomeContext) {
  const { runs, threads, policy, pace, projects, budgets, limits } = context;
  const edits = editPace(teamId, context.timing);
  const [own, followed, may, use, followUps] = await Promise.all([
    runs.ofPerson(teamId, userId),
    threads.followed(teamId),
    policy.mayList(userId),
    pace.use(edits),
    followUpUses(projects, limits.followUpsPerHour, budgets.use),
  ]);
  // What somebody asked for is forgotten in time; a thread that they follow is not.
  const ids = [...new Set([...own, ...followed.slice(0, FOLLOWED)])];
  const found = (await Promise.all(ids.map((id) => runOf(id, context)))).flatMap((run) =>
    run === undefined || (run.job === 'agent-thread' && run.owner.id !== userId) ? [] : [run],
  );
  const running = found.filter(({ state }) => state !== 'ended');
  // A thread that ended has nothing to come back to.
  const ended = found
    .filter((run) => run.job === 'export')
    .filter(({ state }) => state === 'ended')
    .toSorted((one, other) => other.sinceMs - one.sinceMs);
  const lines = (some: HomeRun[]) => Promise.all(some.map((run) => lineOf(run, userId, context)));
  const verdict = may?.includes('export') ? undefined : await policy.check(userId, 'export');
  return homeView({
    running: await lines(running.slice(0, RUNNING)),
    more: Math.max(0, running.length - RUNNING),
    ended: await lines(ended.slice(0, ENDED)),
    may,
    unseen: verdict?.kind === 'unknown' && verdict.missingScope === true,
    ask: askWhom(verdict?.kind === 'refused' ? verdict.ask : [], policy.open('export')),
    limits: limitLines({
      exportStatusPerSecond: limits.exportStatusPerSecond,
      editsPerMinute: edits.perMinute,
      edits: use,
      followUps,
    }),
  });
}

/** Nothing for runs that are gone, are of another kind, or were written by a version that we cannot read. */
async function runOf(id: string, { runs }: HomeContext): Promise<HomeRun | undefined> {
  try {
    return await runs.load(id, homeRun);
  } catch (error) {
    if (error instanceof UnreadableRun) return undefined;
    throw error;
  }
}

async function lineOf(
  run: HomeRun,
  userId: string,
  { outbox, isPublic, workspaceUrl }: HomeContext,
): Promise<Part[]> {
  const url = workspaceUrl();
  if (run.job === 'agent-thread') {
    const { place } = run;
    const address = url && place && messageAddress(url, { channel: place.channel, ts: place.rootTs });
    return threadLine(run, address);
  }
  // Whoever follows an export could read its thread where they clicked, so a public one counts as open to them.
  const viewer = { user: { id: userId, fullMember: true }, channel: { id: '' } };
  if (url === undefined || !(await maySee(run, viewer, isPublic))) return exportLine(run, undefined);
  const card = await outbox.state(cardKey(run));
  return exportLine(run, card.kind === 'shown' ? messageAddress(url, card) : undefined);
}

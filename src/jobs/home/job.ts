import { z } from 'zod';
import type { Part } from '../../slack/blocks.ts';
import { SlackApiError } from '../../slack/errors.ts';
import { editRateLimit } from '../../slack/rate-limits.ts';
import type { RateLimit } from '../../store/rate-limit.ts';
import { UnreadableRun } from '../../store/runs.ts';
import { type ThreadRun, threadRun } from '../agent/thread/record.ts';
import { threadLine } from '../agent/thread/view.ts';
import { threadPermalink } from '../agent/thread/visible.ts';
import { contactsText } from '../ask-whom.ts';
import type { JobContext } from '../context.ts';
import { cardPermalink } from '../export/permalink.ts';
import { type ExportRun, exportRun } from '../export/record.ts';
import { exportLine } from '../export/view.ts';
import { defineJob, done, type Outcome, runAgainIn } from '../job.ts';
import { loadFollowUpUsage } from '../status/follow-up-use.ts';
import { limitLines } from '../status/view.ts';
import { homeView } from './view.ts';

export const homeData = z.object({ teamId: z.string(), userId: z.string(), openedAtMs: z.number() });
type HomeData = z.output<typeof homeData>;

/** What somebody runs and follows. */
const homeRun = z.discriminatedUnion('job', [exportRun, threadRun]);
type HomeRun = ExportRun | ThreadRun;

/** More than these help nobody. */
const MAX_RUNNING = 15;
const MAX_ENDED = 10;

/** Followed threads of the workspace, the latest first, among which those of one person are looked for. */
const MAX_FOLLOWED = 300;

/** Publishing for longer is not worth it: Home is brought up to date when it is opened again. */
const GIVE_UP_MS = 3 * 60_000;

/** `views.publish` is tier 4, 100 in any minute for the whole workspace: Slack's rate limits page. */
const homeRateLimit = (teamId: string): RateLimit => ({
  name: `home:${teamId}`,
  count: 90,
  windowMs: 60_000,
  burst: 5,
});

/** Brings the Home tab of one person up to date. Publishing twice does no harm. */
export const homeJob = defineJob<HomeData>({
  name: 'home',
  queue: 'slack-outbox',
  concurrency: 5,
  data: homeData,

  async run(data, context) {
    const { teamId, userId, openedAtMs } = data;
    const { slack, rateLimiter } = context;
    const rateLimit = homeRateLimit(teamId);
    const waitMs = await rateLimiter.takeSlot(rateLimit, { id: userId, rank: 0, sinceMs: openedAtMs });
    if (waitMs > 0) return runAgainIn(waitMs);
    const view = await loadHomeView(data, context);
    try {
      await slack.publishHome(userId, view);
      return done;
    } catch (error) {
      if (!(error instanceof SlackApiError)) throw error;
      if (error.kind === 'limited')
        await rateLimiter.hold(rateLimit, error.retryAfterMs ?? context.timing.retryMaxMs);
      return handlePublishError(error, data, context);
    }
  },
});

function handlePublishError(
  error: SlackApiError,
  { userId, openedAtMs }: HomeData,
  context: JobContext,
): Outcome {
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
      return runAgainIn(pauseMs * (0.75 + random() / 2));
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

async function loadHomeView({ teamId, userId }: HomeData, context: JobContext) {
  const { runs, threads, policy, rateLimiter, projects, limits } = context;
  const edits = editRateLimit(teamId, context.timing);
  const [own, followed, permissions, editUsage, followUps] = await Promise.all([
    runs.ofPerson(teamId, userId),
    threads.followed(teamId),
    policy.permissionsOf(userId),
    rateLimiter.usage(edits),
    loadFollowUpUsage(projects, limits.followUpsPerHour, rateLimiter.usage),
  ]);
  // What somebody asked for is forgotten in time; a thread that they follow is not.
  const ids = [...new Set([...own, ...followed.slice(0, MAX_FOLLOWED)])];
  const found = (await Promise.all(ids.map((id) => loadRun(id, context)))).flatMap((run) =>
    run === undefined || (run.job === 'agent-thread' && run.owner.id !== userId) ? [] : [run],
  );
  const running = found.filter(({ state }) => state !== 'ended');
  // A thread that ended has nothing to come back to.
  const ended = found
    .filter((run) => run.job === 'export')
    .filter(({ state }) => state === 'ended')
    .toSorted((one, other) => other.sinceMs - one.sinceMs);
  const lines = (some: HomeRun[]) => Promise.all(some.map((run) => loadRunLine(run, userId, context)));
  const verdict = permissions?.includes('export') ? undefined : await policy.check(userId, 'export');
  return homeView({
    running: await lines(running.slice(0, MAX_RUNNING)),
    more: Math.max(0, running.length - MAX_RUNNING),
    ended: await lines(ended.slice(0, MAX_ENDED)),
    permissions,
    missingScope: verdict?.kind === 'unknown' && verdict.missingScope === true,
    contacts: contactsText(verdict?.kind === 'refused' ? verdict.ask : [], policy.isOpen('export')),
    limits: limitLines({
      exportStatusPerSecond: limits.exportStatusPerSecond,
      editsPerMinute: edits.count,
      edits: editUsage,
      followUps,
    }),
  });
}

/** Nothing for runs that are gone, are of another kind, or were written by a version that we cannot read. */
async function loadRun(id: string, { runs }: JobContext): Promise<HomeRun | undefined> {
  try {
    return await runs.load(id, homeRun);
  } catch (error) {
    if (error instanceof UnreadableRun) return undefined;
    throw error;
  }
}

async function loadRunLine(
  run: HomeRun,
  userId: string,
  { outbox, isPublic, workspaceUrl }: JobContext,
): Promise<Part[]> {
  const url = workspaceUrl();
  if (run.job === 'agent-thread') return threadLine(run, url && threadPermalink(run, url));
  // Whoever follows an export could read its thread where they clicked, so a public one counts as open to them.
  const viewer = { user: { id: userId, fullMember: true }, channel: { id: '' } };
  const { deliveryState } = outbox;
  const parts = url === undefined ? undefined : { deliveryState, isPublic, workspaceUrl: url };
  return exportLine(run, parts && (await cardPermalink(run, viewer, parts)));
}

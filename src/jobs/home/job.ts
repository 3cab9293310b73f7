import { wait } from '../../runtime/later.ts';
import { SlackApiError } from '../../slack/errors.ts';
import { holdWhenLimited } from '../../slack/rate-limits.ts';
import type { RateLimit } from '../../store/rate-limit.ts';
import { type RunBase, runBase } from '../../store/runs.ts';
import type { JobContext } from '../engine/context.ts';
import type { Job } from '../engine/job.ts';
import { slackRetryMs } from '../engine/polling.ts';
import { features, homeRunOf, limitsInUse } from '../features.ts';
import { TASKS } from '../help-view.ts';
import type { FeatureContext, HomeRuns } from '../shared/feature.ts';
import { answerButtonOf, type HomeParts, homeView, refusalText } from './view.ts';

/** Names the refresh of a person's Home tab, to wake it. */
export const homeRefresh = (teamId: string, userId: string) => ({ job: 'home', id: `${teamId}:${userId}` });

/** `views.publish` is tier 4, 100 in any minute for the whole workspace: Slack's rate limits page. */
const homeRateLimit = (teamId: string): RateLimit => ({ name: `home:${teamId}`, count: 5, windowMs: 3500 });

/** Refreshes the Home tab of one person. Publishing twice does no harm. */
export const homeJob: Job = {
  name: 'home',
  queue: 'slack-outbox',
  concurrency: 5,

  teamOf: (id) => id.split(':')[0],

  async run(id, context) {
    const [teamId = '', userId = ''] = id.split(':');
    const { slack } = context;
    const { rateLimiter } = context.store;
    const rateLimit = homeRateLimit(teamId);
    await rateLimiter.awaitSlot(rateLimit, { id: userId });
    const view = homeView(await loadHome(teamId, userId, context));
    try {
      await slack.publishHome(userId, view).catch(holdWhenLimited(rateLimiter, rateLimit));
      return undefined;
    } catch (error) {
      if (!(error instanceof SlackApiError)) throw error;
      const { kind, code, pointers } = error;
      const inMs = slackRetryMs(error, context);
      const about = { user: userId, kind, code, pointers };
      if (inMs === undefined) context.log.warn(about, 'Slack takes no Home tab for this person');
      else context.log.warn(about, 'a Home tab was not published');
      return inMs === undefined ? undefined : wait(inMs);
    }
  },
};

/** More do not help; each open question takes two of Home's 100 blocks. */
const MAX = { needs: 20, live: 10, running: 15, ended: 10, left: 3 };

const homeRuns = features.flatMap((feature) => feature.homeRuns ?? []);

/** What features read, from the rooms of a job. */
const featureParts = ({ store: { runs, threads }, settings, slack, outbox, timing }: JobContext) => ({
  runs,
  threads,
  outbox,
  timing,
  projects: settings.projects,
  limits: settings.limits,
  isPublic: slack.isPublic,
  workspaceUrl: slack.workspaceUrl,
});

async function loadHome(teamId: string, userId: string, context: JobContext): Promise<HomeParts> {
  const parts = featureParts(context);
  const [runs, granted] = await Promise.all([
    loadRuns(teamId, userId, context),
    context.policy.permissionsOf(userId),
  ]);
  const permitted = features.filter(({ permission }) => permission && granted?.includes(permission.name));
  const viewer = { user: { id: userId, fullMember: true }, channel: { id: '' } };
  const [refusal, limits, live] = await Promise.all([
    permitted.length > 0 ? undefined : loadRefusal(userId, context),
    Promise.all(
      permitted.map((feature) => limitsInUse(feature, teamId, parts, context.store.rateLimiter.usage)),
    ),
    Promise.all(features.map((feature) => feature.live?.(teamId, viewer, parts) ?? [])),
  ]);
  const needs = runs.flatMap(({ kind, run }) => needsOf(kind, run, userId, parts));
  const entries = runs.flatMap(({ kind, run }) => {
    // A question stands once.
    const isAsked = needsOf(kind, run, userId, parts).length > 0;
    const entry = isAsked ? undefined : kind.entry(run, userId, parts);
    return entry === undefined ? [] : [{ ...entry, kind }];
  });
  const ended = entries
    .filter(({ endedAtMs }) => endedAtMs !== undefined)
    .toSorted((one, other) => (other.endedAtMs ?? 0) - (one.endedAtMs ?? 0));
  const lines = (some: typeof entries) => Promise.all(some.map((entry) => entry.line()));
  const running = await Promise.all(
    homeRuns.map(async (known) => {
      const own = entries.filter(({ kind, endedAtMs }) => kind === known && endedAtMs === undefined);
      const shorts = own.flatMap(({ short }) => short ?? []);
      const folded = known.fold && shorts.length > 1 ? [known.fold(shorts)] : [];
      const full = folded.length > 0 ? own.filter(({ short }) => short === undefined) : own;
      return {
        title: known.title,
        lines: [...(await lines(full.slice(0, MAX.running))), ...folded],
        more: Math.max(0, full.length - MAX.running),
      };
    }),
  );
  return {
    needs: needs.slice(0, MAX.needs),
    moreNeeds: Math.max(0, needs.length - MAX.needs),
    live: live.flat().slice(0, MAX.live),
    running: [...Map.groupBy(running, ({ title }) => title)].map(([title, some]) => ({
      title,
      lines: some.flatMap((one) => one.lines),
      more: some.reduce((sum, { more }) => sum + more, 0),
    })),
    ended: await lines(ended.slice(0, MAX.ended)),
    begin: permitted.flatMap(({ begin }) => begin ?? []),
    refusal,
    left: limits.flatMap((some) => some.flatMap(({ left }) => left ?? []).slice(0, MAX.left)),
    commands: TASKS.map(({ command }) => command),
  };
}

async function loadRuns(teamId: string, userId: string, context: JobContext) {
  const [own, ...further] = await Promise.all([
    context.store.runs.ofPerson(teamId, userId),
    ...homeRuns.map((kind) => kind.further?.(teamId, userId, featureParts(context)) ?? []),
  ]);
  const ids = [...new Set([own, ...further].flat())];
  const runs = await context.store.runs.loadAll(ids, runBase.loose());
  return runs.flatMap((run) => homeRunOf(run) ?? []);
}

const needsOf = (
  { needs }: HomeRuns,
  run: RunBase,
  userId: string,
  context: Pick<FeatureContext, 'workspaceUrl'>,
) =>
  needs === undefined
    ? []
    : needs
        .of(run)
        .filter(({ user }) => user === userId)
        .map((need) => ({
          line: needs.line(run, need, context),
          button: answerButtonOf(run, need, needs.isTrouble),
        }));

async function loadRefusal(userId: string, { policy }: JobContext): Promise<string> {
  // Those whose absence a person may notice.
  const usual = features.flatMap(({ permission }) => (permission?.cannot ? [permission] : []));
  const verdict = usual[0] && (await policy.check(userId, usual[0].name));
  return refusalText(
    usual.flatMap(({ cannot }) => cannot ?? []),
    verdict,
  );
}

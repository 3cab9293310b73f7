import type { Permission } from '../../policy.ts';
import { SlackApiError } from '../../slack/errors.ts';
import type { RateLimit } from '../../store/rate-limit.ts';
import { type RunBase, runBase } from '../../store/runs.ts';
import type { JobContext } from '../context.ts';
import type { HomeEntry, HomeRuns, Need } from '../feature.ts';
import { features } from '../features.ts';
import { done, type Job, type Outcome, runAgainIn } from '../job.ts';
import { slackRetryMs } from '../retry.ts';
import { answerButtonOf, type HomeParts, homeView } from './view.ts';

/** Names the refresh of a person's Home tab, to wake it. */
export const homeRefresh = (teamId: string, userId: string) => ({ job: 'home', id: `${teamId}:${userId}` });

/** `views.publish` is tier 4, 100 in any minute for the whole workspace: Slack's rate limits page. */
const homeRateLimit = (teamId: string): RateLimit => ({ name: `home:${teamId}`, count: 5, windowMs: 3500 });

/** Refreshes the Home tab of one person. Publishing twice does no harm. */
export const homeJob: Job = {
  name: 'home',
  queue: 'slack-outbox',
  concurrency: 5,

  async run(id, context) {
    const [teamId = '', userId = ''] = id.split(':');
    const { slack, rateLimiter } = context;
    const rateLimit = homeRateLimit(teamId);
    const waitMs = await rateLimiter.takeSlot(rateLimit, { id: userId });
    if (waitMs > 0) return runAgainIn(waitMs);
    const view = homeView(await loadHome(teamId, userId, context));
    try {
      await slack.publishHome(userId, view);
      return done;
    } catch (error) {
      if (!(error instanceof SlackApiError)) throw error;
      if (error.kind === 'limited')
        await rateLimiter.hold(rateLimit, error.retryAfterMs ?? context.timing.retryMaxMs);
      return handlePublishError(error, userId, context);
    }
  },
};

function handlePublishError(error: SlackApiError, userId: string, context: JobContext): Outcome {
  const { kind, code, pointers } = error;
  const { log } = context;
  const about = { user: userId, kind, code, pointers };
  const inMs = slackRetryMs(error, context);
  if (kind === 'blocks') log.error(about, 'Slack refused our Home tab');
  else if (inMs === undefined) log.warn(about, 'Slack takes no Home tab for this person');
  else log.warn(about, 'a Home tab was not published');
  return inMs === undefined ? done : runAgainIn(inMs);
}

/** More do not help; each open question takes two of Home's 100 blocks. */
const MAX_NEEDS = 20;
const MAX_RUNNING = 15;
const MAX_ENDED = 10;

const homeRuns = features.flatMap((feature) => feature.homeRuns ?? []);
const commands = features.flatMap(({ command }) => command ?? []);
const permissions = features.flatMap(({ permission }) => permission ?? []);
/** Permissions whose absence a person may notice. */
const usual = permissions.filter(({ cannot }) => cannot !== undefined);

/** Loads the content of one person's Home tab. */
async function loadHome(teamId: string, userId: string, context: JobContext): Promise<HomeParts> {
  const [runs, granted] = await Promise.all([
    loadRuns(teamId, userId, context),
    context.policy.permissionsOf(userId),
  ]);
  const [permissionParts, left] = await Promise.all([
    loadPermissions(userId, granted, context.policy),
    loadLeft(granted, context),
  ]);
  const needs = runs.flatMap(({ feature, run }) => needsOf(feature, run, userId, context));
  const entries = runs.flatMap(({ feature, run }) => {
    const entry = feature.entry(run, userId, context);
    return entry === undefined ? [] : [{ feature, entry }];
  });
  const ended = entries
    .map(({ entry }) => entry)
    .filter(({ endedAtMs }) => endedAtMs !== undefined)
    .toSorted((one, other) => (other.endedAtMs ?? 0) - (one.endedAtMs ?? 0));
  const lines = (some: HomeEntry[]) => Promise.all(some.map((entry) => entry.line()));
  return {
    needs: needs.slice(0, MAX_NEEDS),
    moreNeeds: Math.max(0, needs.length - MAX_NEEDS),
    running: await Promise.all(
      homeRuns.map(async (known) => {
        const own = entries.flatMap(({ feature, entry }) =>
          feature === known && entry.endedAtMs === undefined ? [entry] : [],
        );
        const more = Math.max(0, own.length - MAX_RUNNING);
        return { title: known.title, lines: await lines(own.slice(0, MAX_RUNNING)), more };
      }),
    ),
    ended: await lines(ended.slice(0, MAX_ENDED)),
    begin: features.flatMap(({ begin, permission }) =>
      begin && permission && granted?.includes(permission.name) ? [begin] : [],
    ),
    ...permissionParts,
    left,
    commands,
  };
}

async function loadRuns(
  teamId: string,
  userId: string,
  context: JobContext,
): Promise<{ feature: HomeRuns; run: RunBase }[]> {
  const [own, ...lasting] = await Promise.all([
    context.runs.ofPerson(teamId, userId),
    ...homeRuns.map((feature) => feature.lasting?.(teamId, userId, context) ?? []),
  ]);
  const ids = [...new Set([own, ...lasting].flat())];
  const runs = await context.runs.loadAll(ids, runBase.loose());
  return runs.flatMap((run) => {
    const feature = homeRuns.find(({ job }) => job === run.job);
    const read = feature?.record.safeParse(run);
    return feature && read?.success ? [{ feature, run: read.data }] : [];
  });
}

function needsOf({ needs }: HomeRuns, run: RunBase, userId: string, context: JobContext): HomeParts['needs'] {
  const own: Need[] = needs?.of(run).filter(({ user }) => user === userId) ?? [];
  return own.flatMap((need) =>
    needs === undefined ? [] : [{ line: needs.line(run, need, context), button: answerButtonOf(run, need) }],
  );
}

/** Returns the remaining limits of the features that this person may use. */
async function loadLeft(granted: readonly Permission[] | undefined, context: JobContext): Promise<string[]> {
  const used = features.filter(({ permission }) => permission && granted?.includes(permission.name));
  return (await Promise.all(used.map(({ left }) => left?.(context) ?? []))).flat();
}

async function loadPermissions(
  userId: string,
  granted: readonly Permission[] | undefined,
  policy: JobContext['policy'],
) {
  const may = granted && permissions.filter(({ name }) => granted.includes(name)).map(({ may }) => may);
  const [first] = usual;
  const verdict = may?.length || first === undefined ? undefined : await policy.check(userId, first.name);
  return {
    may,
    missingScope: verdict?.kind === 'unknown' && verdict.missingScope === true,
    cannot: usual.flatMap(({ cannot }) => cannot ?? []),
    contacts: verdict?.kind === 'refused' ? verdict.ask : 'the people who run Docket',
  };
}

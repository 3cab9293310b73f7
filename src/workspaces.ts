import type { Settings } from './config/settings.ts';
import type { WorkspaceSettings } from './config/workspaces.ts';
import type { Metrics, Tracing } from './metrics/metrics.ts';
import { createPolicy } from './policy.ts';
import type { Log } from './runtime/log.ts';
import type { ShutdownHooks } from './runtime/stopping.ts';
import type { Timing } from './runtime/timing.ts';
import type { Health, Problem } from './server/health.ts';
import { createSlackApi } from './slack/client.ts';
import { createLookups } from './slack/lookups.ts';
import { postEphemeral } from './slack/response-url.ts';
import { createChannelIds, ORG_WIDE_TEXT } from './slack/web-calls.ts';
import { idOf } from './store/keys.ts';
import type { Dependency } from './store/values.ts';

interface WorkspaceParts {
  settings: Pick<Settings, 'slackApiUrl'>;
  timing: Timing;
  /** The clock of cached look-ups. */
  cacheNow: () => number;
  monotonicMs: () => number;
  health: Pick<Health, 'worked' | 'failed' | 'record' | 'takeProbe' | 'addProblems'>;
  metrics: Pick<Metrics, 'slackCalls'>;
  tracing: Pick<Tracing, 'called'>;
  closers: ShutdownHooks;
  log: Log;
}

/** Returns the name of a workspace's Slack in the health of this process. */
export const slackPartOf = ({ name }: Pick<WorkspaceSettings, 'name'>): Dependency =>
  name === undefined ? 'slack' : `slack ${name}`;

/** One workspace: Docket's app there, and everything that must not be mixed with another workspace. */
export type Workspace = ReturnType<typeof createWorkspace>;

/** Creates the parts of one workspace. Ids of people and channels are valid only there, so each has caches of its own. */
export function createWorkspace(settings: WorkspaceSettings, parts: WorkspaceParts) {
  const { timing, cacheNow, monotonicMs, health, metrics, tracing, closers } = parts;
  const { name, allow, contact, projects, docsDomain } = settings;
  const log = name === undefined ? parts.log : parts.log.child({ workspace: name });
  const slackPart = slackPartOf(settings);
  const texts = {
    slack_token: `Slack refuses ${settings.botToken.name}: nothing works until you set a new one and restart Docket.`,
    slack_limited:
      'Slack limits Docket (429), so messages come late. Check what else uses the token of this app.',
    slack_unreachable:
      'Slack does not answer, or fails (5xx): messages wait. See its status page, the proxy and the network.',
  };
  const where = name === undefined ? '' : ` Workspace: ${name}.`;
  const channelIds = createChannelIds();
  const recalled = { teamId: '' };
  closers.add(() => channelIds.stop());
  const slack = createSlackApi({
    channelIds,
    token: settings.botToken.secret,
    apiUrl: parts.settings.slackApiUrl,
    timing,
    log,
    monotonicMs,
    onCall({ method, answered, refused, error = 'ok', durationMs }) {
      const call = { of: slackPart, operation: method };
      const failure = error === 'limited' ? 'slack_limited' : answered ? undefined : 'slack_unreachable';
      const problem = refused ? 'slack_token' : failure;
      if (problem === undefined) health.worked(call);
      else health.failed(call, { name: problem, text: texts[problem] + where }, refused, error);
      health.record(slackPart, answered, refused);
      metrics.slackCalls.observe({ method, outcome: error }, durationMs);
      tracing.called(`slack ${method}`, durationMs, error);
    },
  });
  /** A problem of this workspace alone. */
  const problemHere = (problem: Problem): Problem => ({
    ...problem,
    text: problem.text + where,
    of: slackPart,
  });
  health.addProblems(() => {
    const scopes = slack.missingScopes().join(', ');
    const level = slack.refusedMethods().length > 0 ? 'error' : 'warn';
    const problems: Problem[] = [];
    if (slack.isOrgWide()) problems.push({ name: 'slack_org_wide', level: 'error', text: ORG_WIDE_TEXT });
    const text = `The app lacks ${scopes}, so what needs it fails. Replace its manifest by manifest.yml, and install it again.`;
    if (scopes !== '') problems.push({ name: 'slack_scope', level, text });
    return problems.map(problemHere);
  });
  // A cached look-up must not expire early or late because a clock is corrected.
  const lookup = { timeoutMs: timing.permissionMs, cacheMs: timing.permissionCacheMs, now: cacheNow };
  return {
    name,
    settings,
    slack,
    slackPart,
    problemHere,
    /** Asks whether Slack is there, and which scopes the app has, if nobody has called it for a while. */
    async probe() {
      if (health.takeProbe(slackPart)) await slack.identity().catch(() => {});
    },
    channelIds,
    postEphemeral: (...[responseUrl, content, timeoutMs]: Parameters<typeof postEphemeral>) =>
      postEphemeral(responseUrl, channelIds.inContent(content), timeoutMs),
    /** Empty until Slack has answered, or an earlier answer is in `recalled`: a bot token is that of one team for ever. */
    teamId: () => slack.current()?.teamId ?? recalled.teamId,
    recalled,
    tokenId: idOf(settings.botToken.secret),
    policy: createPolicy({ ...slack, ...lookup, allow, contact, log }),
    ...createLookups(slack, lookup, log),
    /** The projects that its people may use. */
    projects,
    docsDomain,
    log,
  };
}

/**
 * Returns the place of a team's workspace in the list; -1 if there is none, so that no run gets into another workspace.
 * The workspace of the environment takes everything until it knows its team. A run without a team has no record any more:
 * the first workspace drops it.
 */
export function workspaceIndex(workspaces: readonly Pick<Workspace, 'name' | 'teamId'>[], teamId: string) {
  const [first] = workspaces;
  if (teamId === '' || (first?.name === undefined && first?.teamId() === '')) return 0;
  return workspaces.findIndex((workspace) => workspace.teamId() === teamId);
}

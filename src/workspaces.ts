import type { Settings, WorkspaceSettings } from './config/settings.ts';
import type { Metrics, Tracing } from './metrics/metrics.ts';
import { createPolicy } from './policy.ts';
import type { Log } from './runtime/log.ts';
import type { ShutdownHooks } from './runtime/stopping.ts';
import type { Timing } from './runtime/timing.ts';
import { type Health, SLACK_TEXTS } from './server/health.ts';
import { createSlackApi } from './slack/client.ts';
import { createLookups } from './slack/lookups.ts';
import { createChannelIds } from './slack/web-calls.ts';

interface WorkspaceParts {
  settings: Pick<Settings, 'slackApiUrl'>;
  timing: Timing;
  /** The test's time; by default, look-ups are cached by the monotonic clock. */
  cacheNow: () => number;
  monotonicMs: () => number;
  health: Pick<Health, 'worked' | 'failed' | 'record'>;
  metrics: Pick<Metrics, 'slackCalls'>;
  tracing: Pick<Tracing, 'called'>;
  closers: ShutdownHooks;
  log: Log;
}

/** One workspace: Docket's app there, and everything that must not be mixed with another workspace. */
export type Workspace = ReturnType<typeof createWorkspace>;

/** Creates the parts of one workspace. Ids of people and channels are valid only there, so each has caches of its own. */
export function createWorkspace(settings: WorkspaceSettings, parts: WorkspaceParts) {
  const { timing, cacheNow, monotonicMs, health, metrics, tracing, closers, log } = parts;
  const { allow, contact, projects, docsDomain } = settings;
  const channelIds = createChannelIds();
  closers.add(() => channelIds.stop());
  const slack = createSlackApi({
    channelIds,
    token: settings.botToken,
    apiUrl: parts.settings.slackApiUrl,
    timing,
    log,
    monotonicMs,
    onCall({ method, answered, refused, error = 'ok', durationMs }) {
      const call = { of: 'slack', operation: method };
      const failure = error === 'limited' ? 'slack_limited' : answered ? undefined : 'slack_unreachable';
      const name = refused ? 'slack_token' : failure;
      if (name === undefined) health.worked(call);
      else health.failed(call, { name, text: SLACK_TEXTS[name] }, refused, error);
      health.record('slack', answered, refused);
      metrics.slackCalls.observe({ method, outcome: error }, durationMs);
      tracing.called(`slack ${method}`, durationMs, error);
    },
  });
  // A cached look-up must not expire early or late because a clock is corrected.
  const lookup = { timeoutMs: timing.permissionMs, cacheMs: timing.permissionCacheMs, now: cacheNow };
  return {
    settings,
    slack,
    channelIds,
    /** Empty until Slack has answered. */
    teamId: () => slack.current()?.teamId ?? '',
    policy: createPolicy({ ...slack, ...lookup, allow, contact, log }),
    ...createLookups(slack, lookup, log),
    /** The projects that people there may use. */
    projects,
    docsDomain,
    log,
  };
}

/**
 * Returns the place of a team's workspace in the list; -1 if there is none, so that no run gets into another workspace.
 * A workspace alone takes everything until it knows its team, and runs without a team, whose record is gone.
 */
export function workspaceIndex(
  workspaces: readonly { teamId: () => string }[],
  teamId: string | undefined,
): number {
  const known = workspaces.findIndex((workspace) => workspace.teamId() === teamId);
  const isSole = workspaces.length === 1 && (teamId === undefined || workspaces[0]?.teamId() === '');
  return known < 0 && (isSole || teamId === undefined) ? 0 : known;
}

import type { ExpiringToken } from '../../deployments/deployment.ts';
import { type DeploymentProblem, problemKey } from '../../deployments/troubles.ts';
import { keyIdOf } from '../../docs-api/client.ts';
import { type DocsApiError, FORBIDDEN_CAUSES } from '../../docs-api/errors.ts';
import type { Project } from '../../projects.ts';
import { cached } from '../../runtime/cached.ts';
import { readKeyFile } from '../../runtime/key-file.ts';
import type { Log } from '../../runtime/log.ts';
import { Stopping } from '../../runtime/stopping.ts';
import { tryOr } from '../../runtime/try-or.ts';
import { joinParts, layout, type Message, moment } from '../../slack/blocks.ts';
import { kindOfId } from '../../slack/ids.ts';
import type { Outbox } from '../../slack/outbox.ts';
import type { Stores } from '../../store/stores.ts';
import { workThatWaits } from '../features.ts';
import type { WorkContext } from '../shared/feature.ts';
import { platformReasonText } from '../shared/wording-view.ts';
import { keyParts, type RejectedKey, rejectedKeyLine, type ShownKey } from './view.ts';

interface AlertParts {
  projects: readonly Project[];
  /** Tokens of GitHub by the name of their setting, as far as GitHub has said when they expire. */
  tokens: ReadonlyMap<string, ExpiringToken>;
  /** The list of admins in the settings: user ids, group ids, and `everyone`, which counts for nobody. */
  admin: readonly string[];
  groupMembers: (groupId: string) => Promise<readonly string[] | undefined>;
  stores: Pick<Stores, 'alerts' | 'rejectedKeys'> & WorkContext;
  outbox: Pick<Outbox, 'publish'>;
  now: () => number;
  log: Pick<Log, 'warn'>;
}

/** More admins than this get no alert: a direct message to everybody would be noise. */
const MAX_RECIPIENTS = 10;

/** How long the list of admins is cached, since thousands of runs may find the same problem at once. */
const ADMINS_MS = 60_000;

const DAY_MS = 86_400_000;
/** Operators see a key or token this many days before it expires. */
const WARNED_DAYS = 7;

const REMINDER_DAYS = [1, 7, 14];

/** Returns the functions that alert the admins by direct message. */
export function createAlerts(parts: AlertParts) {
  const { tokens, admin, groupMembers, stores, outbox, now, log } = parts;
  const keys = keysOf(parts.projects);
  const reminded = new Set<string>();
  const loadAdmins = cached({ timeoutMs: Infinity, cacheMs: ADMINS_MS, now }, async () => {
    const lists = await Promise.all(admin.map(membersOf));
    return [...new Set(lists.flat())].slice(0, MAX_RECIPIENTS);
  });

  /** Rejects only with `Stopping`: a group whose members cannot be read is left out. */
  async function membersOf(entry: string): Promise<readonly string[]> {
    if (kindOfId(entry) !== 'group') return entry === 'everyone' ? [] : [entry];
    try {
      return (await groupMembers(entry)) ?? [];
    } catch (error) {
      if (error instanceof Stopping) throw error;
      log.warn({ err: error }, 'not all admins could be looked up');
      return [];
    }
  }

  /** Sends an alert at most once an hour, from all processes together, or `once` ever. Returns whether there are admins. */
  async function send(
    teamId: string,
    name: string,
    messageOf: () => Message | Promise<Message>,
    { once } = { once: false },
  ): Promise<boolean> {
    const { sinceMs, sent } = await stores.alerts.begin(`${name}:${teamId}`, now());
    if (sent) return true;
    const recipients = await loadAdmins('');
    if (recipients.length === 0) return false;
    const message = await messageOf();
    for (const user of recipients) {
      const key = `${once ? name : `${name}.${sinceMs}`}.${teamId}.${user}`;
      await outbox.publish(teamId, { key, place: { user }, kind: 'ending', message }, 1);
    }
    await stores.alerts.markSent(`${name}:${teamId}`, sinceMs);
    return true;
  }

  /** Returns the keys and tokens that expire within so many days, or have expired, unless their file has another one. */
  const expiringIn = (days: number) =>
    [...keys, ...tokens.values()].flatMap((key) => {
      const { expires = '' } = key;
      const leftMs = Date.parse(expires) - now();
      return leftMs <= days * DAY_MS && !isRenewed(key) ? [{ ...key, expires, leftMs }] : [];
    });

  return {
    /**
     * Alerts the admins, at most once an hour per key: the platform rejects a project's key, or forbids a request (403)
     * with `error`. Returns whether there are any admins.
     */
    async alertAdmins(teamId: string, project: string, error?: DocsApiError): Promise<boolean> {
      const key = keys.find(({ projects }) => projects.includes(project));
      if (key === undefined) return false;
      if (error?.kind === 'forbidden')
        return send(teamId, `key-forbidden.${key.variable}`, () =>
          forbiddenAlertMessage(key, error.platformMessage),
        );
      const sinceMs = await stores.rejectedKeys.reject(key.id, now());
      return send(teamId, `key-rejected.${key.variable}`, async () => {
        const waiting = await workThatWaits(teamId, key.projects, stores).catch(() => '');
        return keyAlertMessage({ ...key, sinceMs, waiting });
      });
    },

    /** Returns the keys and tokens that expire within a week, or have expired. */
    expiring: () => expiringIn(WARNED_DAYS),

    /** Alerts the admins of the problems of their projects' deployments, once each. */
    async alertOfDeployments(teamId: string, problems: readonly DeploymentProblem[]): Promise<void> {
      for (const problem of problems) {
        const name = problemKey(problem);
        if (reminded.has(name) || !parts.projects.some((one) => one.name === problem.project)) continue;
        await send(teamId, name, () => deploymentAlertMessage(problem), { once: true });
        reminded.add(name);
      }
    },

    /** Reminds the admins of keys and tokens that expire in 14, 7 and 1 days, once each. */
    async remindOfExpiry(teamId: string): Promise<void> {
      for (const key of expiringIn(Math.max(...REMINDER_DAYS))) {
        const { variable, expires, leftMs, apiKeyFile } = key;
        const days = REMINDER_DAYS.find((ahead) => leftMs > 0 && leftMs <= ahead * DAY_MS);
        const name = `key-expires.${variable}.${expires}.${days}`;
        if (days === undefined || reminded.has(name)) continue;
        const shown = { names: [], isFile: apiKeyFile !== undefined, isToken: tokens.has(variable), ...key };
        const hasAdmins = await send(teamId, name, () => expiryMessage(shown, expires), { once: true });
        reminded.add(name);
        log.warn({ variable, expires, hasAdmins }, 'an API key expires soon');
      }
    },
  };
}

/** Returns each API key with its projects. Messages name these if there are several in the settings. */
const keysOf = (all: readonly Project[]) =>
  [...Map.groupBy(all, keyIdOf)].map(([id, sharing]) => {
    const projects = sharing.map(({ name }) => name);
    const { apiKey = '', apiKeyFile, apiKeyVariable: variable = '' } = sharing[0] ?? {};
    const expires = sharing.find(({ apiKeyExpires }) => apiKeyExpires !== undefined)?.apiKeyExpires;
    const names = all.length > 1 ? projects : [];
    return { id, projects, apiKey, apiKeyFile, expires, variable, isFile: apiKeyFile !== undefined, names };
  });

/** Returns those keys of these projects that the platform rejects. */
export async function findRejectedKeys(
  teamId: string,
  projects: readonly Project[],
  stores: Pick<Stores, 'rejectedKeys'> & WorkContext,
): Promise<RejectedKey[]> {
  const keys = keysOf(projects);
  const since = await stores.rejectedKeys.since(keys.map(({ id }) => id));
  const rejected = keys.map(async (key, index) => {
    const sinceMs = since[index];
    if (sinceMs === undefined) return [];
    return [{ ...key, sinceMs, waiting: await workThatWaits(teamId, key.projects, stores).catch(() => '') }];
  });
  return (await Promise.all(rejected)).flat();
}

/** Returns whether the file now holds another key: the expiry date belongs to the key at the start. */
const isRenewed = ({ apiKey, apiKeyFile }: Pick<Project, 'apiKey' | 'apiKeyFile'>): boolean =>
  tryOr(false, () => apiKeyFile !== undefined && readKeyFile(apiKeyFile) !== apiKey);

const HOURLY = "I'll remind you at most once an hour.";

export const keyAlertMessage = (key: RejectedKey): Message =>
  layout({
    icon: '🔑',
    lines: [
      rejectedKeyLine(key),
      key.isFile
        ? 'Put a new one into its file; waiting work then resumes by itself, without a restart.'
        : 'Set a new one and restart me; waiting work then resumes by itself.',
    ],
    small: [HOURLY],
  });

/** For a 403, with the platform's words. */
export const forbiddenAlertMessage = (key: ShownKey, reason: string | undefined): Message =>
  layout({
    icon: '🚫',
    lines: [
      ["The platform doesn't allow my request with ", ...keyParts(key, '.')],
      platformReasonText(reason),
      FORBIDDEN_CAUSES,
    ],
    small: [`HTTP 403 · ${HOURLY}`],
  });

const DEPLOYMENT_STATES: Record<DeploymentProblem['name'], string> = {
  deployment_refused: 'Rejects exports',
  deployment_unreachable: "Can't be reached",
  deployment_workflow: 'Workflow failed twice in a row',
  git_host_refused: 'Git host refuses my requests',
  git_host_unreachable: "Git host can't be reached",
};

/** For a deployment that takes no exports, or whose workflow fails. */
export const deploymentAlertMessage = (problem: DeploymentProblem): Message =>
  layout({
    icon: '⚠️',
    lines: [
      [{ bold: DEPLOYMENT_STATES[problem.name] }, ` · ${problem.deployment} of ${problem.project}`],
      problem.fix,
    ],
    small: [
      joinParts([
        ['since ', moment(problem.sinceMs)],
        problem.reason && `last answer: ${problem.reason}`,
        'I write once, and again if it fails after an hour without calls',
      ]),
    ],
  });

/** For a key, or a token of GitHub, that expires soon, on this day. */
export const expiryMessage = (key: ShownKey & { isToken?: boolean }, day: string): Message =>
  layout({
    icon: '🔑',
    lines: [
      // Noon in UTC is the same day nearly everywhere.
      [...keyParts(key, ' expires on '), { time: Date.parse(day) + 43_200_000, format: '{date_short}' }, '.'],
      [
        `Create a new ${key.isToken ? 'token' : 'key'}`,
        key.isFile
          ? ` and put it into the file; that needs no restart.${key.isToken ? '' : ' Set its date in the settings.'}`
          : `, set it${key.isToken ? '' : ' and its date'} in the settings, and restart me.`,
      ].join(''),
    ],
    small: ["I'll remind you 14, 7 and 1 days ahead."],
  });

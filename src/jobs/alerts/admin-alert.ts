import { keyIdOf, readKeyFile } from '../../docs-api/client.ts';
import { type DocsApiError, FORBIDDEN_CAUSES } from '../../docs-api/errors.ts';
import type { Project } from '../../projects.ts';
import { cached } from '../../runtime/cached.ts';
import type { Log } from '../../runtime/log.ts';
import { Stopping } from '../../runtime/stopping.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import type { Message } from '../../slack/blocks.ts';
import type { Outbox } from '../../slack/outbox.ts';
import type { ValueStores } from '../../store/values.ts';
import { expiryMessage, forbiddenAlertMessage, keyAlertMessage, type RejectedKey } from './view.ts';

export interface AdminAlertParts {
  /** Returns user ids; undefined if Slack does not say who they are. It limits reads of user group members strictly. */
  admins: () => Promise<readonly string[] | undefined>;
  alerts: ValueStores['alerts'];
  outbox: Outbox;
  now: () => number;
}

/** More admins than this get no alert: a direct message to everybody would be noise. */
const MAX_RECIPIENTS = 10;

/**
 * Returns a function that sends an alert to the admins by direct message. All processes together send it at most once
 * an hour, or `once` ever. `name` is the prefix of its message keys. It returns whether there are any admins.
 */
function createAdminAlert({ admins, alerts, outbox, now }: AdminAlertParts) {
  // Many runs may find the same problem at once.
  const lookUp = cached({ timeoutMs: Infinity, cacheMs: 0, now }, admins);

  return async (
    teamId: string,
    name: string,
    message: () => Message | Promise<Message>,
    { once } = { once: false },
  ): Promise<boolean> => {
    const stored = `${name}:${teamId}`;
    const { sinceMs, recipients: sent } = await alerts.begin(stored, now());
    if (sent !== undefined) return sent.length > 0;
    const recipients = (await lookUp(stored))?.slice(0, MAX_RECIPIENTS);
    if (recipients === undefined) return false;
    const prefix = once ? name : `${name}.${sinceMs}`;
    if (recipients.length > 0) {
      const post = { kind: 'ending' as const, message: await message() };
      for (const user of recipients)
        await outbox.publish(teamId, { key: `${prefix}.${user}`, place: { user }, ...post }, 1);
    }
    // Also without recipients: thousands of runs may find the same problem within the hour.
    await alerts.markSent(stored, sinceMs, recipients);
    return recipients.length > 0;
  };
}

/**
 * Returns the people in a list of admins, named directly or by user group; `everyone` counts for nobody. Rejects only
 * with `Stopping`: a group whose members cannot be read is left out. Returns undefined if that leaves nobody.
 */
export async function findAdmins(
  list: readonly string[],
  groupMembers: (groupId: string) => Promise<readonly string[] | undefined>,
  log: Pick<Log, 'warn'>,
): Promise<string[] | undefined> {
  const members = list.map(async (entry) => {
    if (entry === 'everyone') return [];
    if (!entry.startsWith('S')) return [entry];
    try {
      return (await groupMembers(entry)) ?? [];
    } catch (error) {
      if (error instanceof Stopping) throw error;
      log.warn({ err: error }, 'not all admins could be looked up');
      return undefined;
    }
  });
  const known = await Promise.all(members);
  const ids = [...new Set(known.flatMap((some) => some ?? []))];
  return ids.length === 0 && known.includes(undefined) ? undefined : ids;
}

interface KeyAlertParts extends AdminAlertParts {
  projects: readonly KeyOwner[];
  rejectedKeys: Pick<ValueStores['rejectedKeys'], 'reject'>;
  /** Returns the waiting work of these projects, such as "3 exports wait"; empty if none. */
  waits: (teamId: string, projects: readonly string[]) => Promise<string>;
}

/**
 * Alerts the admins by direct message, at most once an hour per key: the platform rejects a project's key, or forbids a
 * request (403) with `error`. Returns whether there are any admins.
 */
export function createKeyAlert({ projects, rejectedKeys, waits, ...parts }: KeyAlertParts) {
  const alertAdmins = createAdminAlert(parts);

  return async (teamId: string, project: string, error?: DocsApiError): Promise<boolean> => {
    const owner = projects.find(({ name }) => name === project);
    const keyId = keyIdOf(owner ?? { apiKey: '' });
    const sharing = projects.filter((one) => keyIdOf(one) === keyId);
    const key = keyOf(sharing, projects.length > 1);
    if (error?.kind === 'forbidden')
      return alertAdmins(teamId, `key-forbidden.${key.variable}`, () =>
        forbiddenAlertMessage(key, error.platformMessage, FORBIDDEN_CAUSES),
      );
    const sinceMs = await rejectedKeys.reject(keyId, parts.now());
    return alertAdmins(teamId, `key-rejected.${key.variable}`, async () => {
      const waiting = await waits(teamId, namesOf(sharing)).catch(() => '');
      return keyAlertMessage({ ...key, sinceMs, waiting });
    });
  };
}

/** Returns the setting of a shared key, and the names of its projects if there are other ones. */
const keyOf = (sharing: readonly KeyOwner[], hasOthers: boolean) => ({
  variable: sharing[0]?.apiKeyVariable ?? 'The API key',
  isFile: sharing[0]?.apiKeyFile !== undefined,
  names: hasOthers ? namesOf(sharing) : [],
});

const namesOf = (projects: readonly KeyOwner[]) => projects.map(({ name }) => name);

type KeyOwner = Pick<Project, 'name' | 'apiKey' | 'apiKeyVariable' | 'apiKeyFile'>;

/** Maximum time for counting the waiting work, which delays the alert. */
const WAITS_MS = 400;

/** Returns those keys of these projects that the platform rejects. */
export async function findRejectedKeys(
  projects: readonly KeyOwner[],
  since: ValueStores['rejectedKeys']['since'],
  waits: (projects: readonly string[]) => Promise<string>,
): Promise<RejectedKey[]> {
  const keys = [...Map.groupBy(projects, keyIdOf)];
  const found = await since(keys.map(([keyId]) => keyId));
  const rejected = keys.map(async ([, sharing], index) => {
    const sinceMs = found[index];
    if (sinceMs === undefined) return [];
    const waiting = await withTimeout(WAITS_MS, waits(namesOf(sharing))).catch(() => '');
    return [{ ...keyOf(sharing, keys.length > 1), sinceMs, waiting }];
  });
  return (await Promise.all(rejected)).flat();
}

interface ExpiryReminderParts extends AdminAlertParts {
  projects: readonly Project[];
  /** Undefined until it is known. */
  teamId: () => string | undefined;
  log: Pick<Log, 'warn'>;
}

const DAY_MS = 86_400_000;
const REMINDER_DAYS = [1, 7, 14];

/** Returns a function that reminds the admins of expiring keys: 14, 7 and 1 days ahead, once each. */
export function createExpiryReminder({ projects, teamId, log, ...parts }: ExpiryReminderParts) {
  const alertAdmins = createAdminAlert(parts);
  const sent = new Set<string>();
  const keys = [...Map.groupBy(projects, keyIdOf).values()];

  return async (): Promise<void> => {
    const team = teamId();
    if (team === undefined) return;
    for (const sharing of keys) {
      const dated = sharing.find(({ apiKeyExpires }) => apiKeyExpires !== undefined);
      const expires = dated?.apiKeyExpires;
      if (expires === undefined) continue;
      const leftMs = Date.parse(expires) - parts.now();
      const days = REMINDER_DAYS.find((ahead) => leftMs <= ahead * DAY_MS);
      const key = keyOf(sharing, projects.length > 1);
      const { variable } = key;
      const name = `key-expires.${variable}.${expires}.${days}`;
      if (leftMs <= 0 || days === undefined || sent.has(name) || isRenewed(dated)) continue;
      const hasAdmins = await alertAdmins(team, name, () => expiryMessage(key, expires), { once: true });
      sent.add(name);
      log.warn({ variable, expires, hasAdmins }, 'an API key expires soon');
    }
  };
}

/** Returns whether the file now holds another key: the expiry date belongs to the key at the start. */
function isRenewed({ apiKey, apiKeyFile }: Partial<Project> = {}): boolean {
  try {
    return apiKeyFile !== undefined && readKeyFile(apiKeyFile) !== apiKey;
  } catch {
    return false;
  }
}

import { cached } from '../../runtime/cached.ts';
import type { Log } from '../../runtime/log.ts';
import { Stopping } from '../../runtime/stopping.ts';
import type { Message } from '../../slack/blocks.ts';
import type { Outbox } from '../../slack/outbox.ts';
import type { AlertStore } from '../../store/alerts.ts';

/** User ids; `complete` is false if the members of a group could not be read. */
export interface Admins {
  ids: readonly string[];
  complete: boolean;
}

export interface AdminAlertParts {
  /** Asks Slack, which limits reads of user group members strictly. */
  admins: () => Promise<Admins>;
  alerts: AlertStore;
  outbox: Outbox;
  now: () => number;
}

export interface AdminAlert {
  /** Its name among the alerts of all workspaces. */
  name: string;
  /** The prefix of its message keys. */
  messageKeyPrefix: string;
  message: Message;
  /** Whether it is sent once ever, instead of once an hour. */
  once?: boolean;
}

/** An alert that says which work waits because of it. */
interface WaitingAlert extends Omit<AdminAlert, 'message'> {
  /** Called when the alert begins; its text stays the same for the hour. */
  waits: () => Promise<string>;
  message: (waits: string, sinceMs: number) => Message;
}

export type SendAdminAlert = (teamId: string, alert: AdminAlert) => Promise<boolean>;

/** More admins than this get no alert: a direct message to everybody would be noise. */
const MAX_RECIPIENTS = 10;

/**
 * Returns a function that sends an alert to the admins by direct message. All processes together send it at most once
 * an hour, or once ever. It returns whether there are any admins.
 */
export function createAdminAlert({ admins, alerts, outbox, now }: AdminAlertParts) {
  // Many runs may find the same problem at once.
  const lookUp = cached({ timeoutMs: Infinity, cacheMs: 0, now }, async (alert) => {
    const { ids, complete } = await admins();
    const recipients = ids.slice(0, MAX_RECIPIENTS);
    if (complete) await alerts.keep(alert, 'people', recipients);
    return recipients;
  });

  async function keepWaits({ name, waits }: WaitingAlert): Promise<string> {
    const found = await waits().catch(() => '');
    await alerts.keep(name, 'waits', found);
    return found;
  }

  return async (teamId: string, alert: AdminAlert | WaitingAlert): Promise<boolean> => {
    const { name, messageKeyPrefix, once = false } = alert;
    const { sinceMs, people, waits } = await alerts.begin(name, now());
    const recipients = people ?? (await lookUp(name));
    if (recipients.length === 0) return false;
    const message =
      'waits' in alert ? alert.message(waits ?? (await keepWaits(alert)), sinceMs) : alert.message;
    for (const user of recipients) {
      const key = once ? `${messageKeyPrefix}.${user}` : `${messageKeyPrefix}.${sinceMs}.${user}`;
      await outbox.publish(teamId, { key, place: { user }, kind: 'ending', message }, 1);
    }
    return true;
  };
}

/**
 * Returns the people in a list of admins, named directly or by user group; `everyone` counts for nobody. Rejects only
 * with `Stopping`: a group whose members cannot be read is left out.
 */
export async function findAdmins(
  list: readonly string[],
  groupMembers: (groupId: string) => Promise<readonly string[] | undefined>,
  log: Pick<Log, 'warn'>,
): Promise<Admins> {
  const members = list.map(async (entry) => {
    if (entry === 'everyone') return [];
    return entry.startsWith('S') ? ((await groupMembers(entry)) ?? []) : [entry];
  });
  const known = await Promise.allSettled(members);
  const failed = known.find((one) => one.status === 'rejected');
  if (failed?.reason instanceof Stopping) throw failed.reason;
  if (failed) log.warn({ err: failed.reason }, 'not all admins could be looked up');
  const ids = new Set(known.flatMap((one) => (one.status === 'fulfilled' ? one.value : [])));
  return { ids: [...ids], complete: failed === undefined };
}

import { keep } from '../../runtime/timing.ts';
import type { Message } from '../../slack/blocks.ts';
import type { Outbox } from '../../slack/outbox.ts';
import type { AlertStore } from '../../store/alerts.ts';

/** User ids; not `complete` where Slack did not tell all of them. */
export interface Admins {
  ids: readonly string[];
  complete: boolean;
}

export interface AdminAlertParts {
  /** Asks Slack, whose limit for the members of user groups is low. */
  admins: () => Promise<Admins>;
  alerts: AlertStore;
  outbox: Outbox;
  now: () => number;
}

export interface AdminAlert {
  /** Its name among the alerts of all workspaces. */
  name: string;
  /** How the keys of its messages begin. */
  messageKey: string;
  message: Message;
}

/** More admins than this are not told: a direct message to everybody would be noise. */
const TOLD_AT_MOST = 10;

/** How long it is believed who the admins are, and how long where Slack did not tell all of them. */
const KNOWN_MS = keep.adminAlertMs;
const PARTLY_KNOWN_MS = 60_000;

/**
 * Returns a function that sends an alert to the admins by direct message, once an hour at most for all processes
 * together, and returns whether there are any.
 */
export function createAdminAlert({ admins, alerts, outbox, now }: AdminAlertParts) {
  /** Look-ups on their way, by alert: many runs find out at once. */
  const lookUps = new Map<string, Promise<readonly string[]>>();

  async function lookUp(alert: string): Promise<readonly string[]> {
    const { ids, complete } = await admins();
    const told = ids.slice(0, TOLD_AT_MOST);
    await alerts.setPeople(alert, told, complete ? KNOWN_MS : PARTLY_KNOWN_MS);
    return told;
  }

  function lookUpOnce(alert: string): Promise<readonly string[]> {
    const known = lookUps.get(alert);
    if (known !== undefined) return known;
    const looking = lookUp(alert).finally(() => lookUps.delete(alert));
    lookUps.set(alert, looking);
    return looking;
  }

  return async (teamId: string, { name, messageKey, message }: AdminAlert): Promise<boolean> => {
    const since = await alerts.begin(name, now());
    const told = (await alerts.people(name)) ?? (await lookUpOnce(name));
    for (const user of told) {
      const key = `${messageKey}.${since}.${user}`;
      await outbox.show(teamId, { key, place: { user }, kind: 'ending', message }, 1);
    }
    return told.length > 0;
  };
}

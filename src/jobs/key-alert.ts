import { message } from '../slack/blocks.ts';
import type { Outbox } from '../slack/outbox.ts';
import { cut, oneLine } from '../slack/text.ts';
import type { AlertStore } from '../store/alerts.ts';
import { keep } from '../timing.ts';

/** User ids; not `complete` where Slack did not tell all of them. */
export interface Admins {
  ids: readonly string[];
  complete: boolean;
}

export interface KeyAlertParts {
  /** Asks Slack, whose limit for the members of user groups is low. */
  admins: () => Promise<Admins>;
  alerts: AlertStore;
  outbox: Outbox;
  now: () => number;
}

/** More admins than this are not told: a direct message to everybody would be noise. */
const TOLD_AT_MOST = 10;

/** How long it is believed who the admins are, and how long where Slack did not tell all of them. */
const KNOWN_MS = keep.keyAlertMs;
const PARTLY_KNOWN_MS = 60_000;

/**
 * Tells the admins by direct message, once an hour at most, that the platform rejects the key of a project. Answers
 * whether there are any.
 */
export function createKeyAlert({ admins, alerts, outbox, now }: KeyAlertParts) {
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

  return async (teamId: string, project: string): Promise<boolean> => {
    const alert = `key:${teamId}:${project}`;
    const since = await alerts.begin(alert, now());
    const told = (await alerts.people(alert)) ?? (await lookUpOnce(alert));
    for (const user of told) {
      const key = `key-rejected.${project}.${since}.${user}`;
      const name = cut(oneLine(project), 60);
      const text = message([
        [`🔑 The docs platform rejects the API key of project ${name}.`],
        ['Set a new one and restart me; what runs goes on by itself then. I tell you once an hour at most.'],
      ]);
      await outbox.show(teamId, { key, place: { user }, kind: 'ending', message: text }, 1);
    }
    return told.length > 0;
  };
}

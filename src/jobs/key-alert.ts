import { message } from '../slack/blocks.ts';
import type { Outbox } from '../slack/outbox.ts';
import { cut, oneLine } from '../slack/text.ts';
import type { AlertStore } from '../store/alerts.ts';

export interface KeyAlertParts {
  /** Ids of the admins, as far as Slack tells. */
  admins: () => Promise<readonly string[]>;
  alerts: AlertStore;
  outbox: Outbox;
  now: () => number;
}

/** More admins than this are not told: a direct message to everybody would be noise. */
const TOLD_AT_MOST = 10;

/**
 * Tells the admins by direct message, once an hour at most, that the platform rejects the key of a project. Answers
 * whether there are any.
 */
export function createKeyAlert({ admins, alerts, outbox, now }: KeyAlertParts) {
  return async (teamId: string, project: string): Promise<boolean> => {
    const told = (await admins()).slice(0, TOLD_AT_MOST);
    const since = await alerts.begin(`key:${teamId}:${project}`, now());
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

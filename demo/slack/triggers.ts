import { Refused } from './refused.ts';

// "Trigger IDs expire 3 seconds after they're sent" (https://docs.slack.dev/surfaces/modals).
const LIFE_MS = 3000;

export interface Triggers {
  /** Makes a trigger id valid from now on; one that was given before keeps its age. */
  issue(user: string, wanted?: string): string;
  /** Uses a trigger id up and says whose it was. */
  use(id: string): string;
}

/** Trigger ids: valid for 3 s, for one view. */
export function createTriggers(nowMs: () => number, newId: (prefix: string) => string): Triggers {
  const issued = new Map<string, { user: string; atMs: number; used: boolean }>();
  return {
    issue(user, wanted) {
      const id = wanted ?? `${Math.floor(nowMs())}.${newId('')}.trigger`;
      if (!issued.has(id)) issued.set(id, { user, atMs: nowMs(), used: false });
      return id;
    },
    use(id) {
      const trigger = issued.get(id);
      if (!trigger) throw new Refused('invalid_trigger_id');
      if (trigger.used) throw new Refused('exchanged_trigger_id');
      if (nowMs() - trigger.atMs > LIFE_MS) throw new Refused('expired_trigger_id');
      trigger.used = true;
      return trigger.user;
    },
  };
}

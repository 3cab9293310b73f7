import { z } from 'zod';
import type { Need } from './feature.ts';

/** The open questions in a run's record, as Home tabs and indexes know them. */
export const openQuestionIds = z.array(z.string()).optional();

const known = ({ user, id }: Need) => `${user} ${id}`;

export const isNeedOf = (need: string, userId: string) => need.startsWith(`${userId} `);

interface RunWithNeeds {
  needs?: string[] | undefined;
}

/** Returns the run with its present open questions; undefined if nothing changes. */
export function withNeeds<R extends RunWithNeeds>(run: R, needs: readonly Need[]): R | undefined {
  const now = needs.map(known);
  const isSame = JSON.stringify(now) === JSON.stringify(run.needs ?? []);
  return isSame ? undefined : { ...run, needs: now };
}

/** Returns the people whose open questions changed. */
export function usersToRefresh(before: RunWithNeeds, after: RunWithNeeds): string[] {
  const [was, is] = [before.needs ?? [], after.needs ?? []];
  const changed = [...was.filter((one) => !is.includes(one)), ...is.filter((one) => !was.includes(one))];
  return [...new Set(changed.map((one) => one.slice(0, one.indexOf(' '))))];
}

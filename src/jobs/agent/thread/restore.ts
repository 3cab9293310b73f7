import { defineRestore } from '../../engine/restore.ts';
import { type ThreadRun, threadRun } from './record.ts';
import { addProblem } from './send.ts';
import { cardKey, threadMessages } from './view.ts';

export const threadRestore = defineRestore<ThreadRun>({
  job: 'agent-thread',
  schema: threadRun,

  keys(run) {
    const open = run.rounds.filter(({ ending }) => ending === undefined);
    // The job may have been active since, in a round that the backup does not know.
    const next = (run.rounds.at(-1)?.n ?? 0) + 1;
    const rounds = [...open.map(({ n }) => n), next].flatMap((n) => [
      `${run.id}.round.${n}`,
      `${run.id}.end.${n}`,
    ]);
    const present = threadMessages(run).map(({ key }) => key);
    return [...present, cardKey(run), `${run.id}.instruction`, ...rounds];
  },

  async close({ run, inbox }, { runs }) {
    const unsent = run.instructions.filter(({ state }) => state === 'waiting' || state === 'sending');
    const asked = unsent.reduce((thread, one) => addProblem(thread, one, { why: 'unknown' }), run);
    if (asked !== run || inbox.length > 0) await runs.saveStep(asked, { consumed: inbox.length });
    return { instructions: unsent.length, skipped: inbox.length };
  },
});

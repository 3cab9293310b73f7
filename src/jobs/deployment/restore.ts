import { defineRestore } from '../engine/restore.ts';
import { startStep } from '../operation/record.ts';
import { attempt } from './attempt.ts';
import { earlierOf, endUpdate, type UpdateRun, updateRun, withEarlier } from './record.ts';
import { updateMessages } from './view.ts';

/**
 * A workflow must not start twice, so a person is asked. A webhook or a renewed link could bring an earlier export back:
 * its messages have a time limit, which those of workflows have not.
 */
export const updateRestore = defineRestore<UpdateRun>({
  job: 'deployment',
  schema: updateRun,

  keys: (run) => [
    ...updateMessages(run).map(({ key }) => key),
    ...attempt.shape.shows.options.map((name) => `${run.id}.${name}.${run.attempt}`),
  ],

  async close({ run }, { runs, nowMs, doubt }) {
    const close = (one: UpdateRun) => {
      const isSent =
        ['accepted', 'linking'].includes(one.state) ||
        (one.state === 'notifying' && (one.notifyUntilMs ?? one.notifiedAtMs));
      const isRenewed = one.state === 'notified' && one.renewAtMs !== undefined;
      return isSent || isRenewed ? endUpdate(one, { kind: 'restored' }, nowMs) : one;
    };
    const earlier = earlierOf(run);
    const closed = close(earlier ? withEarlier(run, close(earlier)) : run);
    const kept = earlier || closed !== run ? (await runs.saveStep(closed))?.run : run;
    if (kept?.state === 'notifying') await doubt(kept, startStep(kept));
    return {};
  },
});

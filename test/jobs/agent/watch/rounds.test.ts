import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openRoundOf, type ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { applyPolled, applySendResult } from '../../../../src/jobs/agent/thread/rounds.ts';
import { addSend, applyPoll, newWatch, type WatchRun } from '../../../../src/jobs/agent/watch/record.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aThread } from '../../../support/jobs/agent/builders.ts';

const GRACE_MS = 60_000;
const step = fc.record({
  afterMs: fc.integer({ min: 1, max: 40_000 }),
  what: fc.oneof(
    fc.record({ thread: fc.nat(1), status: fc.constantFrom('active', 'unknown', 'completed') }),
    fc.record({ poll: fc.constantFrom('active', 'unknown', 'completed', 'failed', 'archived') }),
    fc.constant('join' as const),
  ),
});

const join = (watch: WatchRun, thread: ThreadRun) => {
  const round = openRoundOf(thread);
  return round?.last === undefined ? watch : addSend(watch, round.sentAtMs, round.isActive === true);
};

test('when the watch polls no more, no thread waits for an ending', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let watch = newWatch('T0ACME', 'default', 'aj', NOW_MS);
      let threads = [aThread(), aThread()];
      let nowMs = NOW_MS;
      const polls = (status: 'active' | 'unknown' | 'completed' | 'failed' | 'archived') => {
        const before = watch.events;
        watch = applyPoll(watch, { id: 'aj', status, rawStatus: status }, nowMs, GRACE_MS);
        const { news } = watch;
        if (watch.events > before && news)
          threads = threads.map((thread) => applyPolled(thread, news, GRACE_MS));
      };
      const joins = () => {
        watch = threads.filter(({ watched }) => !watched).reduce(join, watch);
        threads = threads.map((thread) => ({ ...thread, watched: true }));
      };
      const sends = (thread: ThreadRun, status: 'active' | 'unknown' | 'completed') => {
        const one = anInstruction({ id: `${nowMs}`, state: 'sending', sentAtMs: nowMs });
        const job = { id: 'aj', status, rawStatus: status === 'unknown' ? '' : status };
        const sending = { ...thread, instructions: [...thread.instructions, one] };
        return applySendResult(sending, one, { kind: 'taken', job }, nowMs);
      };
      for (const { afterMs, what } of steps) {
        nowMs += afterMs;
        if (what === 'join') joins();
        else if ('poll' in what) polls(what.poll);
        else threads = threads.map((one, at) => (at === what.thread ? sends(one, what.status) : one));
      }
      joins();
      for (let poll = 0; watch.open !== undefined && poll < 10; poll += 1) {
        nowMs += 30_000;
        polls('completed');
      }
      expect(watch.open).toBeUndefined();
      expect(threads.map(openRoundOf)).toEqual([undefined, undefined]);
    }),
  );
});

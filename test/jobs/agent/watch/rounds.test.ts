import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openRoundOf, type ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { applyPolled, applySendResult } from '../../../../src/jobs/agent/thread/transitions.ts';
import {
  addSend,
  applyFailure,
  applyPoll,
  newWatch,
  type WatchRun,
} from '../../../../src/jobs/agent/watch/record.ts';
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
        const polled = applyPoll(watch, { id: 'aj', status, rawStatus: status }, nowMs, GRACE_MS);
        watch = polled.watch;
        const { event } = polled;
        if (event) threads = threads.map((thread) => applyPolled(thread, event, GRACE_MS));
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

/** A thread whose job was completed before; its next send was answered with "active" at `sentAtMs`. */
function sentAgain(sentAtMs: number, answeredAtMs = sentAtMs) {
  const completed = { id: 'aj', status: 'completed', rawStatus: 'completed' } as const;
  const { watch } = applyPoll(newWatch('T0ACME', 'default', 'aj', NOW_MS), completed, NOW_MS, GRACE_MS);
  const one = anInstruction({ id: 'again', state: 'sending', sentAtMs });
  const sending = { ...aThread(), instructions: [one] };
  const job = { id: 'aj', status: 'active', rawStatus: 'active' } as const;
  const thread = applySendResult(sending, one, { kind: 'taken', job }, answeredAtMs);
  return { watch: join(watch, thread), thread };
}

test.each([
  ['down', 1],
  ['down', 3],
  ['limit', 1],
  ['lost', 1],
] as const)('a failed poll (%s, %i in a row) ends no round', (kind, inARow) => {
  const sentAtMs = NOW_MS + 2 * GRACE_MS;
  const { watch, thread } = sentAgain(sentAtMs);
  const { event } = applyFailure(watch, { kind, inARow, nextMs: sentAtMs + 9000 }, sentAtMs + 5000);
  const after = event ? applyPolled(thread, event, GRACE_MS) : thread;
  expect(openRoundOf(after)).toBeDefined();
});

test('a poll during the call of a send ends no round', () => {
  const sentAtMs = NOW_MS + 2 * GRACE_MS;
  const { thread } = sentAgain(sentAtMs, sentAtMs + 4000);
  const atMs = sentAtMs + 5000;
  const seen = { status: 'completed' as const, rawStatus: 'completed', atMs };
  // The work before was active until then, and the new one is not shown yet.
  const news = {
    kind: 'polled',
    atMs,
    seen,
    notFound: false,
    found: false,
    activeAtMs: sentAtMs + 1000,
  } as const;
  expect(openRoundOf(applyPolled(thread, news, GRACE_MS))).toBeDefined();
});

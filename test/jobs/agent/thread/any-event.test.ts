import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ThreadEvent } from '../../../../src/jobs/agent/thread/record.ts';
import {
  type Instruction,
  isFinished,
  type ThreadRun,
  waitingOf,
} from '../../../../src/jobs/agent/thread/record.ts';
import { MAX_FINISHED } from '../../../../src/jobs/agent/thread/retain.ts';
import { NOW_MS } from '../../../support/builders.ts';
import {
  anInstruction,
  aRound,
  aThread,
  aTrouble,
  someBackground,
} from '../../../support/jobs/agent/builders.ts';
import {
  ana,
  applyEvents,
  ben,
  cleo,
  clicks,
  deleted,
  edited,
  instructs,
  ts,
  wrote,
} from '../../../support/jobs/agent/events.ts';

const who = fc.constantFrom(ana, ben, cleo);
const second = fc.nat({ max: 12 });
const text = fc.constantFrom(
  'one',
  '<@U0DOCKET> two',
  'three <@U0CLEO>',
  'aside',
  '',
  '<@U0DOCKET> all replies',
  '<@U0DOCKET> only when mentioned',
);
const id = fc.oneof(second.map(ts), fc.constantFrom('d1', 'd2', 'old', 'unknown', 'failed'));
const actions = [
  'send',
  'notForAgent',
  'always',
  'sendWithBackground',
  'sendAlone',
  'sendOnlyTheirs',
  'cancel',
  'discard',
  'sendAgain',
  'sendAnyway',
  'leave',
  'checkJob',
  'sendNow',
  'onlyMentioned',
  'allReplies',
] as const;

const anyEvent: fc.Arbitrary<ThreadEvent> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(who, second, text, fc.boolean()).map((all) => wrote(...all)) },
  fc.tuple(who, second, text).map((all) => edited(...all)),
  second.map(deleted),
  fc
    .tuple(who, fc.constantFrom('d1', 'd2'), text, fc.integer({ min: NOW_MS, max: NOW_MS + 9000 }))
    .map((all) => instructs(...all)),
  {
    weight: 4,
    arbitrary: fc
      .tuple(
        who,
        fc.constantFrom(...actions),
        fc.oneof(fc.array(id, { maxLength: 3 }), fc.constant<string[]>(['round', '1'])),
        fc.integer({ min: 1, max: 2 }),
      )
      .map((all) => clicks(...all)),
  },
  { weight: 1, arbitrary: who.map((by) => clicks(by, 'stop')) },
  who.map((by) => clicks(by, 'keepWaiting', [String(NOW_MS)])),
  fc
    .integer({ min: NOW_MS, max: NOW_MS + 9000 })
    .map((atMs): ThreadEvent => ({ kind: 'sentElsewhere', atMs, idle: aThread().seen })),
  fc.tuple(who, fc.constantFrom('p1', 'p2'), fc.boolean(), fc.option(fc.webUrl(), { nil: undefined })).map(
    ([by, run, isBuilding, url]): ThreadEvent => ({
      kind: 'preview',
      run,
      by,
      isBuilding,
      url,
    }),
  ),
);

/** Something of everything, and as much that is over as is kept. */
const busy = aThread({
  instructions: [
    anInstruction({ id: 'old', state: 'sent' }),
    ...Array.from({ length: MAX_FINISHED - 1 }, (_, index) =>
      anInstruction({ id: `o${index}`, state: 'sent', text: '' }),
    ),
    aTrouble({ id: 'failed', why: 'down' }),
    anInstruction({ id: 'd2', state: 'held', background: someBackground }),
    anInstruction({ id: ts(0), state: 'working' }),
    aTrouble({ id: 'unknown' }),
  ],
  turn: { n: NOW_MS, before: NOW_MS - 1, workedMs: 6 * 3_600_000 },
  ephemerals: [{ id: 'background d2', to: ana.id, kind: 'question', about: 'd2' }],
  rounds: [aRound({ last: { id: 'old', by: ana, excerpt: 'x' }, ending: { kind: 'failed', atMs: NOW_MS } })],
});

const isPending = ({ state }: Instruction) => state === 'held' || state === 'waiting';
const count = ({ instructions }: ThreadRun, ...states: Instruction['state'][]) =>
  instructions.filter(({ state }) => states.includes(state)).length;

test('any events, in any order', () => {
  const step = fc.record({
    event: anyEvent,
    nowMs: fc.integer({ min: NOW_MS, max: NOW_MS + 1_200_000 }),
    mayNot: fc.constantFrom<string[][]>([], [], ['U0BEN']),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.constantFrom(aThread(), busy), (steps, start) => {
      let thread = start;
      for (const { event, ...how } of steps) {
        const before = thread;
        thread = applyEvents(before, [event], how);
        checkStep(before, event, thread);
        // Everything may come twice.
        expect(applyEvents(thread, [event], how).instructions).toEqual(thread.instructions);
      }
    }),
    { numRuns: 300 },
  );
});

function checkStep(before: ThreadRun, event: ThreadEvent, after: ThreadRun) {
  const { instructions, ephemerals: notes } = after;
  expect(new Set(instructions.map(({ id: one }) => one)).size).toBe(instructions.length);
  expect(new Set(notes.map(({ id: one }) => one)).size).toBe(notes.length);
  // The last one of a round is kept apart.
  expect(instructions.filter(isFinished).length).toBeLessThanOrEqual(MAX_FINISHED + 1);
  expect(count(after, 'sending', 'unknown')).toBeLessThanOrEqual(count(before, 'sending', 'unknown'));
  const times = waitingOf(after).map(({ atMs }) => atMs);
  expect(times).toEqual(times.toSorted((one, other) => one - other));
  for (const one of instructions) {
    expect(one.text === '' && isPending(one)).toBe(false);
    const earlier = before.instructions.find((other) => other.id === one.id);
    if (earlier === undefined || isPending(earlier)) continue;
    const isSend = event.kind === 'clicked' && ['sendAgain', 'sendAnyway'].includes(event.action);
    const isWanted = isSend && event.about.includes(one.id);
    if (isPending(one)) expect(isWanted && ['unknown', 'failed'].includes(earlier.state)).toBe(true);
    expect(one.attempt).toBe(isPending(one) ? earlier.attempt + 1 : earlier.attempt);
  }
  // Nobody waits for a question that was never asked.
  for (const { by } of instructions.filter(({ state }) => state === 'held'))
    expect(notes.some(({ kind, to }) => kind === 'question' && to === by.id)).toBe(true);
}

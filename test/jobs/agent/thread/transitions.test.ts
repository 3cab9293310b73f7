import { expect, test } from 'vitest';
import type { ThreadEvent } from '../../../../src/jobs/agent/thread/record.ts';
import { applyPoll } from '../../../../src/jobs/agent/thread/rounds.ts';
import { applySendResult } from '../../../../src/jobs/agent/thread/send.ts';
import { beginTurn } from '../../../../src/jobs/agent/thread/turns.ts';
import { threadMessages } from '../../../../src/jobs/agent/thread/view.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aRound, aThread, aTrouble } from '../../../support/jobs/agent/builders.ts';
import { ana, applyEvents, clicks, deleted, wrote } from '../../../support/jobs/agent/events.ts';

test('a round that names an earlier pull request again has the same one, also after a round without any', () => {
  const [link, atMs] = ['https://github.com/acme/docs/pull/5', NOW_MS];
  const one = anInstruction({ state: 'sending' });
  const thread = aThread({
    instructions: [one],
    seen: { status: 'completed', rawStatus: 'completed', atMs },
    rounds: [
      aRound({ n: 1, ending: { kind: 'newPr', prLink: link, atMs } }),
      aRound({ n: 2, prBefore: link, ending: { kind: 'noPr', atMs } }),
    ],
  });
  const sent = applySendResult(thread, one, { id: 'aj_9', status: 'active', rawStatus: 'active' }, atMs);
  expect(sent.rounds.at(-1)).toMatchObject({ n: 3, prBefore: link });
});

test('a reply that was deleted before Slack delivered it is no instruction', () => {
  const thread = applyEvents(aThread(), [
    deleted(3),
    wrote(ana, 3, 'my password is 123'),
    wrote(ana, 4, 'go on'),
  ]);
  expect(thread.instructions.map(({ text }) => text)).toEqual(['go on']);
});

test('however often it is sent again after a failed round, an instruction has a short id', () => {
  let one = anInstruction({ state: 'sent' });
  for (let n = 1; n <= 100; n += 1) {
    const round = aRound({ n, last: one, ending: { kind: 'failed', atMs: NOW_MS } });
    const thread = aThread({ instructions: [one], rounds: [round] });
    one = applyEvents(thread, [clicks(ana, 'sendAgain', ['round', String(n)])]).instructions[1] ?? one;
  }
  expect(one.id).toBe('1789912860.000200 again 100');
});

test('the whole text of a first instruction is published before its first call only', () => {
  const one = { creates: true, isReply: false, text: 'Fix the page.\nThen the other.' };
  const published = (sends: number, state: 'waiting' | 'unknown') => {
    const instructions = [anInstruction({ ...one, state })];
    const thread = aThread({ agentJobId: undefined, sends, instructions });
    return threadMessages(thread).some(({ key }) => key === `${thread.id}.instruction`);
  };
  expect([published(0, 'waiting'), published(1, 'unknown'), published(1, 'waiting')]).toEqual([
    true,
    false,
    false,
  ]);
});

test.each([
  { limit: { n: 1, perHour: undefined, untilMs: NOW_MS + 60_000 } },
  { retry: { sinceMs: NOW_MS, inARow: 3, nextMs: NOW_MS + 8000 } },
])('while it is tried again, the messages about a delay stay as they are: %j', (delay) => {
  const [waiting, sending] = (['waiting', 'sending'] as const).map((state) =>
    threadMessages(aThread({ ...delay, instructions: [anInstruction({ state })] })),
  );
  expect(sending).toEqual(waiting);
});

const seenDone = (atMs: number) => ({
  status: 'completed' as const,
  rawStatus: 'completed',
  prLink: PR,
  atMs,
});
const PR = 'https://github.com/acme/docs/pull/5';

test.each([
  ['after its send: it ends its round, and the next one is about the other request', NOW_MS - 1000, 2],
  ['before its send: that says nothing of its round', NOW_MS - 130_000, 1],
  ['just after its send: the platform may still show the state before it', NOW_MS - 119_000, 1],
  ['just after its send, but this thread saw the agent work', NOW_MS - 118_000, 2, 'active'],
] as const)(
  'another thread saw the job idle %s',
  (_, atMs, rounds, status: 'active' | 'completed' = 'completed') => {
    const one = anInstruction({ state: 'working', round: 1 });
    const seen = { status, rawStatus: status, atMs: NOW_MS - 119_500 };
    const thread = aThread({ instructions: [one], rounds: [aRound()], seen });
    const event: ThreadEvent = { kind: 'sentElsewhere', atMs: NOW_MS, idle: seenDone(atMs) };
    const after = applyEvents(thread, [event]);
    expect(after.rounds).toHaveLength(rounds);
    expect(after.rounds[0]?.ending?.prLink).toBe(rounds === 2 ? PR : undefined);
    expect(after.rounds.at(-1)).toMatchObject({
      sentAtMs: NOW_MS,
      ...(rounds === 2 && { count: 0, prBefore: PR }),
    });
  },
);

test.each([{ turn: { n: 1 } }, { limit: { n: 1, untilMs: NOW_MS } }])(
  'once nothing waits, the next wait has a message of its own: %j',
  (wait) => {
    const waiting = aThread({ ...wait, rounds: [aRound()], instructions: [anInstruction()] });
    const after = applyEvents(waiting, [
      clicks(ana, 'discard', [anInstruction().id]),
      wrote(ana, 3, 'go on'),
    ]);
    expect(beginTurn(after, NOW_MS)?.turn).toEqual({ n: NOW_MS });
    const before = threadMessages(after).find(({ key }) => key.endsWith('.limit.1'));
    expect(before?.message.text).toBe('ana discarded what was waiting.');
  },
);

test('while it is unclear whether another request reached the agent, none is sent now', () => {
  const thread = aThread({
    turn: { n: 1 },
    rounds: [aRound()],
    instructions: [aTrouble({ id: '1' }), anInstruction({ id: '2' })],
  });
  const after = applyEvents(thread, [clicks(ana, 'sendNow', ['2'])]);
  expect(after.instructions).toEqual(thread.instructions);
});

test('[Send now] is about the round in which somebody chose it', () => {
  const one = anInstruction({ id: '2', sentNowBy: ana });
  const seen = { status: 'active', rawStatus: 'active', atMs: NOW_MS - 1000 } as const;
  const thread = aThread({ rounds: [aRound()], instructions: [one], seen });
  const job = (status: 'active' | 'completed') =>
    applyPoll(thread, { id: 'aj', status, rawStatus: status }, NOW_MS, 60_000).instructions[0];
  expect([job('active')?.sentNowBy, job('completed')?.sentNowBy]).toEqual([ana, undefined]);
});

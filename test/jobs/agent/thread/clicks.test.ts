import { describe, expect, test } from 'vitest';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aRound, aThread, aTrouble } from '../../../support/jobs/agent/builders.ts';
import {
  ana,
  applyEvents,
  ben,
  cleo,
  clicks,
  ephemeralsOf,
  outcomesOf,
  ts,
  wrote,
} from '../../../support/jobs/agent/events.ts';

const minute = 60_000;

/** Ana and Ben both wrote, and both were asked. */
const asked = applyEvents(aThread(), [
  wrote(ben, 1, 'Looks odd'),
  wrote(ana, 2, 'Fix the title'),
  wrote(ana, 3, 'And the nav'),
]);

describe('the answer to the question', () => {
  test('[Send] lets everything of that person go out, and nothing of others', () => {
    const sent = applyEvents(asked, [clicks(ana, 'send', [ts(2)])]);
    expect(outcomesOf(sent)).toEqual(['held: Looks odd', 'waiting: Fix the title', 'waiting: And the nav']);
  });

  test('[Not for the agent] drops everything of that person, and makes later replies talk', () => {
    const dropped = applyEvents(asked, [clicks(ana, 'notForAgent', [ts(2)]), wrote(ana, 4, 'Lunch?')]);
    expect(outcomesOf(dropped)).toEqual([
      'notForAgent: Fix the title',
      'notForAgent: And the nav',
      'held: Looks odd',
    ]);
    expect(dropped.answers).toEqual({ U0ANA: 'mention' });
    expect(ephemeralsOf(dropped)).toEqual(['ben: question', 'ana: question']);
  });

  test('after [Not for the agent] a mention of Docket is still for the agent', () => {
    const dropped = applyEvents(asked, [
      clicks(ana, 'notForAgent', [ts(2)]),
      wrote(ana, 4, '<@U0DOCKET> fix the nav'),
    ]);
    expect(outcomesOf(dropped)).toContain('waiting: fix the nav');
  });

  test('[Always in this thread] lets them go out, and later ones without asking', () => {
    const always = applyEvents(asked, [clicks(ana, 'always', [ts(2)]), wrote(ana, 4, 'And the footer')]);
    expect(outcomesOf(always)).toEqual([
      'held: Looks odd',
      'waiting: Fix the title',
      'waiting: And the nav',
      'waiting: And the footer',
    ]);
    expect(ephemeralsOf(always)).toEqual(['ben: question', 'ana: question']);
  });

  test('[Always in this thread] after [Send] still changes what comes later', () => {
    const always = applyEvents(asked, [
      clicks(ana, 'send', [ts(2)]),
      clicks(ana, 'always', [ts(2)]),
      wrote(ana, 4, 'And the footer'),
    ]);
    expect(outcomesOf(always)).toContain('waiting: And the footer');
  });

  test.each(['send', 'notForAgent', 'always'] as const)('%s by somebody else changes nothing', (action) => {
    expect(applyEvents(asked, [clicks(ben, action, [ts(2)])])).toBe(asked);
    expect(applyEvents(asked, [clicks(cleo, action, [ts(2)])])).toBe(asked);
  });

  test.each(['send', 'notForAgent'] as const)('%s a second time changes nothing', (action) => {
    const once = applyEvents(asked, [clicks(ana, action, [ts(2)])]);
    expect(applyEvents(once, [clicks(ana, 'send', [ts(2)]), clicks(ana, 'notForAgent', [ts(2)])])).toBe(once);
  });

  test('files of a held reply are told of when it goes out', () => {
    const held = applyEvents(aThread({ crowd: true }), [wrote(ben, 1, 'See this', true)]);
    expect(ephemeralsOf(held)).toEqual(['ben: question']);
    expect(ephemeralsOf(applyEvents(held, [clicks(ben, 'send', [ts(1)])]))).toEqual([
      'ben: question',
      'ben: files',
    ]);
  });
});

describe('an owner who is alone', () => {
  const alone = applyEvents(aThread(), [
    wrote(ana, 1, 'What does <@U0BEN> think?'),
    wrote(ana, 2, 'Or <@U0CLEO>?'),
    wrote(ana, 3, 'Fix the nav'),
  ]);

  test('is asked for each reply that mentions somebody, and all others go out', () => {
    expect(outcomesOf(alone)).toEqual([
      'held: What does @ben think?',
      'held: Or @cleo?',
      'waiting: Fix the nav',
    ]);
    expect(alone.notes.map(({ kind, about }) => [kind, about])).toEqual([
      ['question', ts(1)],
      ['question', ts(2)],
    ]);
  });

  test.each([
    ['send', 'waiting'],
    ['notForAgent', 'notForAgent'],
  ] as const)('%s settles that reply alone, and leaves no answer', (action, fate) => {
    const settled = applyEvents(alone, [clicks(ana, action, [ts(2)])]);
    expect(outcomesOf(settled)).toEqual(
      expect.arrayContaining([`${fate}: Or @cleo?`, 'held: What does @ben think?']),
    );
    expect(settled.answers).toEqual({});
    expect(ephemeralsOf(settled)).toEqual(['ana: question', 'ana: question']);
  });

  test('may say that all replies count', () => {
    const always = applyEvents(alone, [clicks(ana, 'always', [ts(1)]), wrote(ana, 4, 'Ask <@U0BEN>')]);
    expect(outcomesOf(always)).toContain('waiting: Ask @ben');
    expect(outcomesOf(always)).toContain('waiting: Or @cleo?');
  });

  test('who is joined by others before the answer answers for everything', () => {
    const joined = applyEvents(alone, [wrote(ben, 4, 'I like it'), clicks(ana, 'send', [ts(1)])]);
    expect(outcomesOf(joined)).toEqual(
      expect.arrayContaining(['waiting: What does @ben think?', 'waiting: Or @cleo?']),
    );
    expect(joined.answers).toEqual({ U0ANA: 'mention' });
  });
});

describe('[Discard]', () => {
  const waiting = aThread({
    instructions: [
      anInstruction({ id: 'a', excerpt: 'sent', state: 'sending' }),
      anInstruction({ id: 'b', excerpt: 'first' }),
      anInstruction({ id: 'c', excerpt: 'held', state: 'held' }),
      anInstruction({ id: 'd', excerpt: 'second' }),
    ],
  });

  test('drops what still waits of what was shown', () => {
    const dropped = applyEvents(waiting, [clicks(ben, 'discard', ['a', 'b', 'c', 'gone'])]);
    expect(outcomesOf(dropped)).toEqual([
      'sending: sent',
      'discarded: first',
      'held: held',
      'waiting: second',
    ]);
    expect(dropped.instructions.map(({ text }) => text === '')).toEqual([false, true, false, false]);
  });

  test('of what is under way changes nothing', () => {
    expect(applyEvents(waiting, [clicks(ben, 'discard', ['a'])])).toBe(waiting);
  });

  const limit = { n: 1, kind: 'ours' as const, perHour: 1, sinceMs: 1, untilMs: 2, refusals: 0 };

  test('of all that waits for a limit leaves who it was, and what', () => {
    const dropped = applyEvents({ ...waiting, limit }, [clicks(ben, 'discard', ['b', 'd'])]);
    expect(dropped.limit).toEqual({
      ...limit,
      discarded: { by: ben, count: 2, first: { by: ana, excerpt: 'first' } },
    });
  });

  test('of a part leaves the limit as it is', () => {
    expect(applyEvents({ ...waiting, limit }, [clicks(ben, 'discard', ['b'])]).limit).toEqual(limit);
  });
});

describe('a send that nobody knows of', () => {
  const id = anInstruction().id;
  const unknown = aThread({
    instructions: [
      anInstruction({ state: 'unknown', sentAtMs: NOW_MS, atMs: NOW_MS }),
      anInstruction({ id: 'early', excerpt: 'early', atMs: NOW_MS - minute }),
      anInstruction({ id: 'late', excerpt: 'late', atMs: NOW_MS + minute }),
    ],
    troubles: [aTrouble({ attempt: 0 }), aTrouble()],
  });
  const answer = (action: 'sendAgain' | 'leave') => ({ by: ben, action, atMs: NOW_MS + minute });

  test('is sent again in its place, as another attempt', () => {
    const again = applyEvents(unknown, [clicks(ben, 'sendAgain', [id])], { nowMs: NOW_MS + minute });
    expect(outcomesOf(again)).toEqual([
      'waiting: early',
      'waiting: Also add error handling to the quickstart.',
      'waiting: late',
    ]);
    expect(again.instructions[1]).toEqual(anInstruction({ attempt: 2, atMs: NOW_MS }));
    expect(again.troubles).toEqual([aTrouble({ attempt: 0 }), aTrouble({ answer: answer('sendAgain') })]);
  });

  test('is left at that', () => {
    const left = applyEvents(unknown, [clicks(ben, 'leave', [id])], { nowMs: NOW_MS + minute });
    expect(outcomesOf(left)[0]).toBe('left: Also add error handling to the quickstart.');
    expect(left.troubles).toEqual([aTrouble({ attempt: 0 }), aTrouble({ answer: answer('leave') })]);
  });

  test.each(['sendAgain', 'leave'] as const)('%s on an old message changes nothing', (action) => {
    expect(applyEvents(unknown, [clicks(ben, action, [id], 2)])).toBe(unknown);
    expect(applyEvents(unknown, [clicks(ben, action, ['late'])])).toBe(unknown);
    const again = applyEvents(unknown, [clicks(ben, 'sendAgain', [id])]);
    expect(applyEvents(again, [clicks(ana, action, [id])])).toBe(again);
  });

  test('keeps what was answered before', () => {
    const answered = aTrouble({ answer: { by: ana, action: 'late', atMs: NOW_MS } });
    const thread = { ...unknown, troubles: [answered, aTrouble({ why: 'down' })] };
    const again = applyEvents(thread, [clicks(ben, 'sendAgain', [id])], { nowMs: NOW_MS + minute });
    expect(again.troubles).toEqual([answered, aTrouble({ why: 'down', answer: answer('sendAgain') })]);
  });

  test('and one that certainly failed is sent again as well, but cannot be left', () => {
    const failed = aThread({
      instructions: [anInstruction({ state: 'failed' })],
      troubles: [aTrouble({ why: 'down' })],
    });
    expect(outcomesOf(applyEvents(failed, [clicks(ana, 'sendAgain', [id])]))[0]).toMatch(/^waiting/);
    expect(applyEvents(failed, [clicks(ana, 'leave', [id])])).toBe(failed);
  });
});

describe('a round that failed', () => {
  const id = anInstruction().id;
  const over = anInstruction({ state: 'over', outcome: 'sent', files: true });
  const ending = { kind: 'failed', atMs: NOW_MS } as const;
  const failed = aThread({ instructions: [over], rounds: [aRound({ ending })] });

  test('is sent again with its last instruction, by whoever clicked', () => {
    const again = applyEvents(failed, [clicks(ben, 'sendAgain', ['round', '1'])]);
    expect(again.instructions).toEqual([
      over,
      anInstruction({ id: `${id} again 1`, by: ben, atMs: NOW_MS, isReply: false }),
    ]);
  });

  test('is sent again once', () => {
    const again = applyEvents(failed, [clicks(ben, 'sendAgain', ['round', '1'])]);
    expect(applyEvents(again, [clicks(ana, 'sendAgain', ['round', '1'])])).toBe(again);
  });

  test.each([
    ['another round', { rounds: [aRound({ n: 2, ending })] }],
    ['one that goes on', { rounds: [aRound()] }],
    ['one that ended well', { rounds: [aRound({ ending: { kind: 'noPr', atMs: NOW_MS } })] }],
    ['one of another thread', { rounds: [{ n: 1, sinceMs: 0, count: 0, authors: [], ending }] }],
    ['one whose text is gone', { instructions: [{ ...over, text: '' }] }],
  ])('%s is not', (_, changes) => {
    const thread = { ...failed, ...changes };
    expect(applyEvents(thread, [clicks(ben, 'sendAgain', ['round', '1'])])).toBe(thread);
  });
});

describe('which replies count', () => {
  test.each([
    ['onlyMentioned', 'mention'],
    ['allReplies', 'all'],
  ] as const)('%s changes it, and what is held stays held', (action, mode) => {
    const changed = applyEvents(asked, [clicks(ben, action)]);
    expect(changed.mode).toBe(mode);
    expect(changed.instructions).toEqual(asked.instructions);
    expect(applyEvents(changed, [clicks(ana, action)])).toBe(changed);
  });

  test.each(['onlyMentioned', 'allReplies'] as const)(
    '%s asks each who has held replies once more, about the first',
    (action) => {
      const nowMs = NOW_MS + minute;
      const changed = applyEvents(asked, [clicks(cleo, action)], { nowMs });
      expect(changed.notes.slice(asked.notes.length)).toEqual([
        { id: `question U0BEN ${nowMs}`, to: 'U0BEN', kind: 'question', about: ts(1), excerpt: 'Looks odd' },
        {
          id: `question U0ANA ${nowMs}`,
          to: 'U0ANA',
          kind: 'question',
          about: ts(2),
          excerpt: 'Fix the title',
        },
      ]);
    },
  );

  test('where nothing is held, nobody is asked or told', () => {
    expect(ephemeralsOf(applyEvents(aThread(), [clicks(ben, 'allReplies')]))).toEqual([]);
  });

  test.each(['send', 'always'] as const)('%s lets everything held go out, and means no more', (action) => {
    const alone = applyEvents(aThread(), [wrote(ana, 1, 'Ask <@U0BEN>'), wrote(ana, 2, 'Or <@U0CLEO>')]);
    const sent = applyEvents(alone, [clicks(ben, 'allReplies'), clicks(ana, action, [ts(1)])]);
    expect(outcomesOf(sent)).toEqual(['waiting: Ask @ben', 'waiting: Or @cleo']);
    expect(sent.answers).toEqual({});
  });
});

describe('[Stop following]', () => {
  const states = ['held', 'waiting', 'sending', 'unknown', 'working', 'failed'] as const;
  const busy = aThread({
    lasting: true,
    instructions: states.map((state) => anInstruction({ id: state, excerpt: state, state })),
  });

  test('drops what was not sent, and leaves alone what is under way', () => {
    const stopped = applyEvents(busy, [clicks(ben, 'stop')]);
    expect(stopped).toMatchObject({
      state: 'ended',
      ended: { why: 'stopped', by: ben, unsent: 2 },
      lasting: false,
    });
    expect(outcomesOf(stopped).toSorted()).toEqual([
      'discarded: held',
      'discarded: waiting',
      'failed: failed',
      'sending: sending',
      'unknown: unknown',
      'working: working',
    ]);
  });

  test('is the end: nothing is taken after it', () => {
    const stopped = applyEvents(busy, [clicks(ben, 'stop')]);
    expect(
      applyEvents(stopped, [
        wrote(cleo, 9, '<@U0DOCKET> go on'),
        clicks(ana, 'stop'),
        clicks(ana, 'allReplies'),
        clicks(ana, 'sendAgain', ['unknown']),
      ]),
    ).toBe(stopped);
  });
});

test.each(['checkJob', 'checkNow'] as const)('%s changes nothing in the thread', (action) => {
  expect(applyEvents(asked, [clicks(ana, action, [ts(2)])])).toBe(asked);
});

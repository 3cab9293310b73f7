import { describe, expect, test } from 'vitest';
import { MAX_FINISHED } from '../../../../src/jobs/agent/thread/compact.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aRound, aThread } from '../../../support/jobs/agent/builders.ts';
import {
  ana,
  applyEvents,
  ben,
  cleo,
  clicks,
  deleted,
  edited,
  ephemeralsOf,
  instructs,
  outcomesOf,
  ts,
  wrote,
} from '../../../support/jobs/agent/events.ts';

const minute = 60_000;

test('the owner who is alone instructs by writing', () => {
  const thread = applyEvents(aThread(), [
    wrote(ana, 1, 'Fix *the* title, as <@U0ANA> said\nand <https://acme.com|the link>'),
  ]);
  const text = 'Fix **the** title, as @ana said\nand [the link](https://acme.com)';
  expect(thread).toEqual(
    aThread({
      instructions: [
        anInstruction({
          id: ts(1),
          by: ana,
          atMs: Number(ts(1)) * 1000,
          text,
          excerpt: 'Fix the title, as @ana said and the link',
        }),
      ],
    }),
  );
});

test('what was written before the job was followed is nothing to the agent', () => {
  const thread = aThread({ asked: { ...aThread().asked, rootTs: ts(0), ts: ts(5) } });
  expect(applyEvents(thread, [wrote(ana, 3, 'one'), wrote(ben, 4, 'two'), wrote(ana, 5, 'follow')])).toBe(
    thread,
  );
  expect(outcomesOf(applyEvents(thread, [wrote(ana, 6, 'three')]))).toEqual(['waiting: three']);
});

describe('a thread in which somebody else wrote', () => {
  test.each([
    ['an instruction', wrote(ben, 1, '<@U0DOCKET> fix it'), []],
    ['talk', wrote(ben, 1, 'aside lunch?'), []],
    ['something without the permission', wrote(ben, 1, 'Nice'), ['U0BEN']],
  ])('asks the owner too, after %s', (_, first, mayNot) => {
    const thread = applyEvents(aThread(), [first, wrote(ana, 2, 'Fix the title')], { mayNot });
    expect(thread.crowd).toBe(true);
    expect(outcomesOf(thread)).toContain('held: Fix the title');
    expect(ephemeralsOf(thread)).toEqual(['ana: question']);
  });

  const crowd = aThread({ crowd: true });

  test('takes somebody who never answers at their silence, the oldest replies first', () => {
    const replies = Array.from({ length: 25 }, (_, index) => wrote(ben, index, `reply ${index}`));
    const thread = applyEvents(crowd, replies);
    expect(outcomesOf(thread).filter((fate) => fate.startsWith('held'))).toHaveLength(20);
    expect(outcomesOf(thread)).toContain('notForAgent: reply 4');
    expect(outcomesOf(thread)).toContain('held: reply 5');
  });

  test('holds replies of everybody, and asks each once', () => {
    const thread = applyEvents(crowd, [
      wrote(ana, 1, 'one'),
      wrote(ben, 2, 'two'),
      wrote(ana, 3, 'three'),
      wrote(ben, 4, 'four'),
    ]);
    expect(outcomesOf(thread)).toEqual(['held: one', 'held: two', 'held: three', 'held: four']);
    expect(thread.notes).toEqual([
      { id: `question U0ANA ${NOW_MS}`, to: 'U0ANA', kind: 'question', about: ts(1), excerpt: 'one' },
      { id: `question U0BEN ${NOW_MS}`, to: 'U0BEN', kind: 'question', about: ts(2), excerpt: 'two' },
    ]);
    expect(thread.askedAtMs).toEqual({ U0ANA: NOW_MS, U0BEN: NOW_MS });
  });

  test('asks again when the question was left for ten minutes', () => {
    const asked = applyEvents(crowd, [wrote(ben, 1, 'one')]);
    expect(
      ephemeralsOf(applyEvents(asked, [wrote(ben, 2, 'two')], { nowMs: NOW_MS + 10 * minute - 1 })),
    ).toHaveLength(1);
    const again = applyEvents(asked, [wrote(ben, 2, 'two')], { nowMs: NOW_MS + 10 * minute });
    expect(again.notes.at(-1)).toMatchObject({ kind: 'question', about: ts(2) });
    expect(outcomesOf(applyEvents(again, [clicks(ben, 'send', [ts(2)])]))).toEqual([
      'waiting: one',
      'waiting: two',
    ]);
  });

  test('asks again when what the question was about was deleted', () => {
    const thread = applyEvents(crowd, [wrote(ben, 1, 'one'), deleted(1), wrote(ben, 2, 'two')]);
    expect(thread.notes.map(({ about }) => about)).toEqual([ts(1), ts(2)]);
  });

  test('takes a mention of Docket at once, past what is held', () => {
    const thread = applyEvents(crowd, [wrote(ben, 1, 'one'), wrote(ben, 2, '<@U0DOCKET> two')]);
    expect(outcomesOf(thread)).toEqual(['held: one', 'waiting: two']);
    expect(ephemeralsOf(thread)).toEqual(['ben: question']);
  });

  test('does not ask about files alone', () => {
    expect(applyEvents(crowd, [wrote(ben, 1, '', true)])).toBe(crowd);
  });
});

describe('which replies count', () => {
  test.each([
    ['auto', 'one', ['waiting: one'], []],
    ['auto', 'one <!here>', ['held: one @here'], ['ana: question']],
    ['auto', '<@U0DOCKET> ask <@U0BEN>', ['waiting: ask @ben'], []],
    ['all', 'one <@U0BEN>', ['waiting: one @ben'], []],
    ['mention', 'one', [], []],
    ['mention', '<@U0DOCKET>, one', ['waiting: one'], []],
    ['mention', 'one, <@U0DOCKET>', ['waiting: one,'], []],
    ['all', 'aside one', [], []],
    ['all', '<@U0DOCKET> aside one', [], []],
    ['all', 'Aside <@U0DOCKET> is great', [], []],
  ] as const)('with %s, %j', (mode, text, fate, notes) => {
    const thread = applyEvents(aThread({ mode }), [wrote(ana, 1, text)]);
    expect(outcomesOf(thread)).toEqual(fate);
    expect(ephemeralsOf(thread)).toEqual(notes);
  });

  test('with all, those of everybody', () => {
    const thread = applyEvents(aThread({ mode: 'all' }), [wrote(ben, 1, 'one'), wrote(ana, 2, 'two')]);
    expect(outcomesOf(thread)).toEqual(['waiting: one', 'waiting: two']);
  });

  test.each([
    ['always', ['waiting: one']],
    ['mention', []],
  ] as const)('with auto, as the person answered: %s', (answer, fate) => {
    const thread = applyEvents(aThread({ crowd: true, answers: { U0BEN: answer } }), [wrote(ben, 1, 'one')]);
    expect(outcomesOf(thread)).toEqual(fate);
    expect(ephemeralsOf(thread)).toEqual([]);
  });
});

describe('who may not instruct', () => {
  const mayNot = ['U0BEN'];
  const twice = [wrote(ben, 1, 'one'), wrote(ben, 2, 'two')];

  test('is told once, and asked whom to ask, where all replies count', () => {
    const thread = applyEvents(aThread({ mode: 'all' }), twice, { mayNot });
    expect(outcomesOf(thread)).toEqual([]);
    expect(thread.notes).toEqual([
      { id: `notPermitted ${ts(1)}`, to: 'U0BEN', kind: 'notPermitted', about: '@docs-admins' },
    ]);
  });

  test('is told at every mention of Docket, in every mode and of commands too', () => {
    const mentions = [
      wrote(ben, 1, '<@U0DOCKET> one'),
      wrote(ben, 2, '<@U0DOCKET> stop'),
      wrote(ben, 3, 'three'),
    ];
    const thread = applyEvents(aThread({ mode: 'mention' }), mentions, { mayNot });
    expect(ephemeralsOf(thread)).toEqual(['ben: notPermitted', 'ben: notPermitted']);
    expect(thread.state).toBe('following');
  });

  test.each(['auto', 'mention'] as const)('is not bothered for talk, with %s', (mode) => {
    const thread = applyEvents(aThread({ mode }), twice, { mayNot });
    expect(ephemeralsOf(thread)).toEqual([]);
    expect(outcomesOf(thread)).toEqual([]);
  });

  test('is told once as an owner whose permission was taken away', () => {
    const replies = [wrote(ana, 1, 'one'), wrote(ana, 2, 'two')];
    expect(ephemeralsOf(applyEvents(aThread(), replies, { mayNot: ['U0ANA'] }))).toEqual([
      'ana: notPermitted',
    ]);
  });

  test('cannot change what waits either: it is withdrawn', () => {
    const waiting = applyEvents(aThread({ mode: 'all' }), [wrote(ben, 1, 'one')]);
    const thread = applyEvents(waiting, [edited(ben, 1, 'two')], { mayNot });
    expect(outcomesOf(thread)).toEqual(['withdrawn: one']);
    expect(ephemeralsOf(thread)).toEqual(['ben: notPermitted']);
  });
});

describe('commands', () => {
  test('stop, with a mention', () => {
    const thread = applyEvents(aThread({ lasting: true }), [
      wrote(ana, 1, 'one'),
      wrote(ben, 2, '<@U0DOCKET> Stop!'),
    ]);
    expect(thread).toMatchObject({ state: 'ended', ended: { by: ben, unsent: 1 }, lasting: false });
    expect(outcomesOf(thread)).toEqual(['discarded: one']);
    expect(thread.notes).toEqual([{ id: `stopped ${ts(2)}`, to: 'U0BEN', kind: 'stopped' }]);
    expect(applyEvents(thread, [wrote(ana, 3, 'two'), edited(ana, 1, 'x'), instructs(ana, 'i', 'x')])).toBe(
      thread,
    );
  });

  test.each([
    ['only when mentioned', 'mention'],
    ['all replies', 'all'],
  ] as const)('%s', (words, mode) => {
    const thread = applyEvents(aThread(), [wrote(ben, 1, `<@U0DOCKET> ${words}`)]);
    expect(thread.mode).toBe(mode);
    expect(thread.notes).toEqual([{ id: `mode ${ts(1)}`, to: 'U0BEN', kind: 'mode', about: mode }]);
    expect(outcomesOf(thread)).toEqual([]);
  });

  test('a switch asks those whose replies are held once more', () => {
    const thread = applyEvents(aThread({ crowd: true }), [
      wrote(ben, 1, 'one'),
      wrote(ben, 2, 'two'),
      wrote(ana, 3, '<@U0DOCKET> all replies'),
    ]);
    expect(outcomesOf(thread)).toEqual(['held: one', 'held: two']);
    expect(thread.notes.slice(1)).toMatchObject([
      { to: 'U0BEN', kind: 'question', about: ts(1) },
      { to: 'U0ANA', kind: 'mode' },
    ]);
  });

  test('help', () => {
    expect(ephemeralsOf(applyEvents(aThread(), [wrote(ben, 1, '<@U0DOCKET> help')]))).toEqual(['ben: help']);
  });

  test.each(['aj_3f9a77bd04c24a06', 'aj_other'])('follow %s, in a thread that follows already', (jobId) => {
    const thread = applyEvents(aThread(), [wrote(ana, 1, `<@U0DOCKET> follow \`${jobId}\``)]);
    expect(thread.notes).toEqual([
      { id: `followsAlready ${ts(1)}`, to: 'U0ANA', kind: 'followsAlready', about: jobId },
    ]);
    expect(outcomesOf(thread)).toEqual([]);
  });

  test('follow and the address of a page is an instruction', () => {
    const thread = applyEvents(aThread(), [
      wrote(ana, 1, '<@U0DOCKET> follow <https://docs.acme.com/style-guide>'),
    ]);
    expect(thread.notes).toEqual([]);
    expect(thread.instructions).toMatchObject([{ text: expect.stringContaining('style-guide') }]);
  });

  test.each(['follow', 'follow aj_3f9a…4a06', 'follow https://dash.example/jobs/aj_3f9a77bd04c24a06'])(
    '%s does not say which job',
    (words) => {
      const thread = applyEvents(aThread(), [wrote(ana, 1, `<@U0DOCKET> ${words}`)]);
      expect(thread.notes).toEqual([{ id: `badFollow ${ts(1)}`, to: 'U0ANA', kind: 'badFollow' }]);
      expect(outcomesOf(thread)).toEqual([]);
    },
  );

  test.each(['stop', 'all replies', 'help', 'follow aj_1', 'follow'])(
    '%s without a mention is an instruction',
    (words) => {
      const thread = applyEvents(aThread(), [wrote(ana, 1, words)]);
      expect(outcomesOf(thread)).toEqual([`waiting: ${words}`]);
      expect(thread.mode).toBe('auto');
    },
  );

  test('more than a command is an instruction', () => {
    expect(outcomesOf(applyEvents(aThread(), [wrote(ana, 1, '<@U0DOCKET> stop using tabs')]))).toEqual([
      'waiting: stop using tabs',
    ]);
  });
});

describe('a reply', () => {
  test('with files goes out as text, and its author is told', () => {
    const thread = applyEvents(aThread(), [wrote(ana, 1, 'See this', true)]);
    expect(outcomesOf(thread)).toEqual(['waiting: See this']);
    expect(thread.notes).toMatchObject([{ id: `files ${ts(1)}`, to: 'U0ANA', kind: 'files', about: ts(1) }]);
  });

  test.each([
    ['files alone', wrote(ana, 1, '', true)],
    ['only a mention', wrote(ana, 1, '<@U0DOCKET>')],
    ['only a mention and a comma', wrote(ana, 1, ' <@U0DOCKET>, ')],
    ['a mention and files', wrote(ana, 1, '<@U0DOCKET>', true)],
  ])('of %s has nothing to send', (_, reply) => {
    const thread = applyEvents(aThread(), [reply]);
    expect(outcomesOf(thread)).toEqual([]);
    expect(ephemeralsOf(thread)).toEqual(['ana: tooEmpty']);
  });

  test('that comes again changes nothing', () => {
    const thread = applyEvents(aThread({ crowd: true }), [wrote(ana, 1, 'one', true)]);
    expect(applyEvents(thread, [wrote(ana, 1, 'one', true)])).toBe(thread);
  });

  test('goes out in the order in which it was written, also when it came late', () => {
    const sent = anInstruction({ id: ts(5), excerpt: 'five', state: 'working' });
    const thread = applyEvents(aThread({ instructions: [sent] }), [
      wrote(ana, 6, 'six'),
      instructs(ben, 'dialog', 'seven', NOW_MS + 7000),
      wrote(ana, 8, 'eight'),
      wrote(ana, 4, 'four'),
    ]);
    expect(outcomesOf(thread)).toEqual([
      'working: five',
      'waiting: four',
      'waiting: six',
      'waiting: seven',
      'waiting: eight',
    ]);
  });
});

describe('an instruction from a modal', () => {
  test('always waits to be sent', () => {
    const thread = applyEvents(aThread({ mode: 'mention', crowd: true }), [instructs(ben, 'R1', 'stop')]);
    expect(thread.instructions).toMatchObject([
      { id: 'R1', by: ben, atMs: NOW_MS, isReply: false, text: 'stop', state: 'waiting', creates: false },
    ]);
    expect(applyEvents(thread, [instructs(ben, 'R1', 'stop')])).toBe(thread);
  });

  test('is not somebody writing in the thread', () => {
    expect(applyEvents(aThread(), [instructs(ben, 'R1', 'one')]).crowd).toBe(false);
  });
});

describe('what is over', () => {
  const over = (count: number) =>
    Array.from({ length: count }, (_, index) =>
      anInstruction({ id: `o${index}`, state: 'over', outcome: 'sent', text: 'long ago' }),
    );

  test('is forgotten but for the latest, and its text at once', () => {
    const thread = applyEvents(aThread({ instructions: over(MAX_FINISHED + 5) }), [wrote(ana, 1, 'one')]);
    expect(thread.instructions).toHaveLength(MAX_FINISHED + 1);
    expect(thread.instructions[0]).toMatchObject({ id: 'o5', text: '' });
    expect(thread.instructions.at(-1)).toMatchObject({ id: ts(1), text: 'one' });
  });

  test('or worked on: a round of hundreds does not make the record ever longer', () => {
    const working = over(MAX_FINISHED + 5).map((one) => ({ ...one, state: 'working' as const, round: 1 }));
    const unregistered = anInstruction({ id: 'new', state: 'working' });
    const thread = applyEvents(aThread({ instructions: [unregistered, ...working] }), [wrote(ana, 1, 'one')]);
    expect(thread.instructions).toHaveLength(MAX_FINISHED + 2);
    expect(thread.instructions[0]).toMatchObject({ id: 'new', text: unregistered.text });
    expect(thread.instructions[1]).toMatchObject({ id: 'o5', text: '' });
  });

  test('keeps the text that a failed round may need again, though another thread instructed since', () => {
    const rounds = [
      aRound({ n: 1, last: { id: 'o1', by: ana, excerpt: 'x' } }),
      aRound({ n: 2, last: { id: 'o0', by: ana, excerpt: 'x' } }),
      { n: 3, sinceMs: NOW_MS, count: 0, authors: [] },
    ];
    const thread = applyEvents(aThread({ instructions: over(MAX_FINISHED + 5), rounds }), [
      wrote(ana, 1, 'one'),
    ]);
    expect(thread.instructions).toHaveLength(MAX_FINISHED + 1);
    expect(thread.instructions[0]).toMatchObject({ id: 'o0', text: 'long ago' });
    expect(thread.instructions.filter(({ text }) => text === 'long ago')).toHaveLength(1);
  });
});

test('somebody who was never asked is not decided for by others', () => {
  const thread = applyEvents(aThread(), [
    wrote(ben, 1, 'one'),
    wrote(cleo, 2, 'two'),
    clicks(cleo, 'always', [ts(2)]),
  ]);
  expect(outcomesOf(thread)).toEqual(['held: one', 'waiting: two']);
});

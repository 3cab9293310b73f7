import { describe, expect, test } from 'vitest';
import type { Instruction } from '../../../../src/jobs/agent/thread/instruction.ts';
import type { ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { cardKey, reactionsOf, threadLine, threadMessages } from '../../../../src/jobs/agent/thread/view.ts';
import { message } from '../../../../src/slack/blocks.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aRound, aThread, aTrouble } from '../../../support/jobs/agent/builders.ts';
import { messageOf } from '../../../support/jobs/agent/rendering.ts';
import { THREAD } from '../../../support/jobs/export/rendering.ts';
import { buttonsIn, confirmOf, menuButtonsIn, reads, says } from '../../../support/slack/rendering.ts';

const card = (changes: Partial<ThreadRun> = {}) => messageOf(aThread(changes), 'card');
const title = (changes: Partial<ThreadRun>) => card(changes)?.split('\n')[0];
const seen = (changes: Partial<NonNullable<ThreadRun['seen']>>) => ({
  seen: {
    status: 'completed' as const,
    rawStatus: 'completed',
    repository: 'https://github.com/acme/docs.git',
    ref: 'agent/quickstart',
    atMs: NOW_MS,
    ...changes,
  },
});
/** Nothing is known of the job yet. */
function unseen(changes: Partial<ThreadRun> = {}): Partial<ThreadRun> {
  return { ...changes, seen: undefined } as Partial<ThreadRun>;
}
const newJob = (changes: Partial<ThreadRun> = {}) =>
  unseen({ ...changes, agentJobId: undefined } as Partial<ThreadRun>);

describe('which messages there are', () => {
  test.each<[string, Partial<ThreadRun>, string[]]>([
    ['accepted: nothing yet', { state: 'accepted' }, []],
    ['the card on its way: the card', { state: 'carding' }, ['card']],
    ['refused: nothing', { state: 'ended', ended: { why: 'refused', unsent: 0 } }, []],
    ['no place for a card: nothing', { state: 'ended', ended: { why: 'noPlace', unsent: 0 } }, []],
    ['the place was taken: nothing', { state: 'ended', ended: { why: 'taken', unsent: 0 } }, []],
    [
      'broken: the card, and the end of it',
      { state: 'ended', ended: { why: 'broken', unsent: 0 } },
      ['card', 'broken'],
    ],
    ['stopped: the card', { state: 'ended', ended: { why: 'stopped', unsent: 0 } }, ['card']],
    [
      'rounds and troubles: each its own',
      {
        rounds: [
          aRound({ ending: { kind: 'noPr', atMs: NOW_MS } }),
          aRound({ n: 2 }),
          aRound({ n: 3, count: 0 }),
        ],
        troubles: [aTrouble()],
      },
      ['card', 'round.1', 'end.1', 'round.2', 'trouble.1789912860.000200.1'],
    ],
  ])('%s', (_, changes, expected) => {
    const thread = aThread(changes);
    expect(threadMessages(thread).map(({ key }) => key.replace(`${thread.id}.`, ''))).toEqual(expected);
  });

  test('before the place of the thread is known, only the card', () => {
    const { place: _, ...thread } = aThread({ state: 'carding', troubles: [aTrouble()] });
    expect(threadMessages(thread).map(({ key }) => key)).toEqual([cardKey(thread)]);
  });

  test('the card is where it was asked for; the rest is in its thread', () => {
    const places = (changes: Partial<ThreadRun>) =>
      threadMessages(aThread({ troubles: [aTrouble()], ...changes })).map(({ place }) => place);
    const inThread = { channel: 'C0DOCS', threadTs: '1789912800.000100' };
    expect(places({})).toEqual([{ channel: 'C0DOCS' }, inThread]);
    const asked = { channel: 'C0DOCS', joinable: true, isPublic: true, rootTs: '1789912800.000100' };
    expect(places({ asked })).toEqual([inThread, inThread]);
    const place = { channel: 'D0ANA', rootTs: '1789912801.000100' };
    expect(places({ inDirectMessage: true, place })).toEqual([
      { user: 'U0ANA' },
      { channel: 'D0ANA', threadTs: '1789912801.000100' },
    ]);
  });

  test('in direct messages, the card is another one', () => {
    expect(cardKey(aThread())).toBe('3f9a1c2b4d5e6f708192a3b4.card');
    expect(cardKey(aThread({ inDirectMessage: true }))).toBe('3f9a1c2b4d5e6f708192a3b4.card.dm');
  });

  test('the card is kept for as long as the thread follows', () => {
    const lasting = (changes: Partial<ThreadRun>) => threadMessages(aThread(changes))[0]?.lasting;
    expect(lasting({})).toBe(true);
    expect(lasting({ state: 'ended', ended: { why: 'stopped', unsent: 0 } })).toBeUndefined();
  });
});

describe('the card', () => {
  test('says what, where it stands, and how to instruct', () => {
    expect(card()).toBe(
      '✅ Ready · acme/docs @ agent/quickstart\nReply here to instruct the agent. Start with "aside" to talk among yourselves.\ndocs agent · job aj_3f9a77bd04c24a06 · followed by ana\n[Stop following] [⋯ Listen only to @Docket] [⋯ Listen to all replies]',
    );
  });

  test.each<[string, Partial<ThreadRun>, string]>([
    ['ssh', seen({ repository: 'git@github.com:acme/docs.git' }), '✅ Ready · acme/docs @ agent/quickstart'],
    ['short', seen({ repository: 'acme/docs' }), '✅ Ready · acme/docs @ agent/quickstart'],
    ['a group', seen({ repository: 'https://gitlab.example/a/b/c/' }), '✅ Ready · a/b/c @ agent/quickstart'],
    ['hostile', seen({ repository: '<!channel>\n\u202E', ref: 'a\nb' }), '✅ Ready · <!channel> @ a b'],
    ['empty', seen({ repository: ' ', ref: ' ' }), '✅ Ready · job aj_3f9a…4a06'],
    ['long', seen({ ref: 'x'.repeat(300) }), `✅ Ready · acme/docs @ ${'x'.repeat(79)}…`],
    ['not looked at', unseen(), '🕒 Checking… · job aj_3f9a…4a06'],
    ['a new job', newJob(), '🕒 Starting… · new job'],
  ])('names the job: %s', (_, changes, expected) => {
    expect(title(changes)).toBe(expected);
  });

  test.each<[string, Partial<ThreadRun>, string]>([
    ['completed', {}, '✅ Ready'],
    ['active', seen({ status: 'active', rawStatus: 'active' }), '⏳ Working'],
    ['a round is open', { rounds: [aRound()] }, '⏳ Working'],
    [
      'the last round has ended',
      { rounds: [aRound({ ending: { kind: 'noPr', atMs: NOW_MS } })] },
      '✅ Ready',
    ],
    ['failed', seen({ status: 'failed', rawStatus: 'failed' }), '❌ Failed'],
    ['archived', seen({ status: 'archived', rawStatus: 'archived' }), '📁 Archived'],
    [
      'archived while it worked',
      { ...seen({ status: 'archived', rawStatus: 'archived' }), rounds: [aRound()] },
      '📁 Archived',
    ],
    ['unknown', seen({ status: 'unknown', rawStatus: 'paused\nby us' }), '🕒 paused by us'],
    ['without a word', seen({ status: 'unknown', rawStatus: '' }), '🕒 In an unknown state'],
    ['gone', { gone: true }, '❌ Not found'],
    ['a send is unclear', { instructions: [anInstruction({ state: 'unknown' })] }, '⚠️ Needs an answer'],
    [
      'a send is unclear while it works',
      { rounds: [aRound()], instructions: [anInstruction({ state: 'unknown' })] },
      '⚠️ Needs an answer',
    ],
    ['the key is rejected', { lookTrouble: 'key' }, '⚠️ Key rejected'],
    ['the key is rejected while it works', { lookTrouble: 'key', rounds: [aRound()] }, '⚠️ Key rejected'],
    ['out of reach', { lookTrouble: 'down' }, "⚠️ Can't check"],
    ['refused', { lookTrouble: 'forbidden' }, "⚠️ Can't check"],
    ['without its project', { lookTrouble: 'project' }, "⚠️ Can't check"],
    ['out of reach from the start', { seen: undefined, lookTrouble: 'down' }, "⚠️ Can't check"],
    ['out of reach while it works', { lookTrouble: 'down', rounds: [aRound()] }, '⏳ Working'],
    ['limited', { lookTrouble: 'limit' }, '✅ Ready'],
    [
      'starting unclear',
      newJob({ instructions: [anInstruction({ creates: true, state: 'unknown' })] }),
      '⚠️ Needs an answer',
    ],
    [
      'not started',
      newJob({ instructions: [anInstruction({ creates: true, state: 'failed' })] }),
      '❌ Not started',
    ],
    ['ended', { state: 'ended', ended: { why: 'stopped', unsent: 0 } }, '💤 Stopped following'],
    ['not made', newJob({ state: 'ended', ended: { why: 'notMade', unsent: 0 } }), '❌ Not created'],
    ['broken', { state: 'ended', ended: { why: 'broken', unsent: 0 } }, '❌ Stopped by an error'],
  ])('says where it stands: %s', (_, changes, expected) => {
    expect(title(changes)?.startsWith(`${expected} · `)).toBe(true);
  });

  const small = (changes: Partial<ThreadRun>) =>
    card(changes)
      ?.split('\n')
      .find((line) => line.startsWith('docs agent'));

  const about = 'docs agent · job aj_3f9a77bd04c24a06 · followed by ana';

  test('in small print, which job and who, which model, and what does not go out yet', () => {
    const instructions = [
      anInstruction(),
      anInstruction({ id: '2' }),
      anInstruction({ id: '3', state: 'held' }),
      anInstruction({ id: '4', state: 'over' }),
    ];
    expect(small({})).toBe(about);
    expect(small({ ...seen({ model: 'sonnet' }), instructions })).toBe(
      `${about} · 2 instructions waiting · model sonnet`,
    );
    expect(small({ instructions: instructions.slice(0, 1) })).toBe(`${about} · 1 instruction waiting`);
    expect(small(newJob())).toBe('docs agent · followed by ana');
  });

  test('which pull request, by name or in the words of the platform', () => {
    const prLink = 'https://github.com/acme/docs/pull/123';
    expect(small(seen({ model: 'sonnet', prLink }))).toBe(
      `${about} · model sonnet · pull request acme/docs#123`,
    );
    expect(small(seen({ prLink }))).toBe(`${about} · pull request acme/docs#123`);
    expect(small(seen({ model: 'sonnet', prText: 'PR 7,\nin review' }))).toBe(
      `${about} · model sonnet · pull request PR 7, in review`,
    );
  });

  test('is read aloud with its state first', () => {
    const spoken = (changes: Partial<ThreadRun>) => {
      const [shown] = threadMessages(aThread(changes));
      return shown && says(shown.message).split('\n');
    };
    expect(spoken({})).toEqual([
      'Docs agent, ready: acme/docs @ agent/quickstart.',
      'Reply here to instruct the agent. Start with "aside" to talk among yourselves.',
      about,
    ]);
    expect(spoken(unseen())?.[0]).toBe('Docs agent, checking: job aj_3f9a…4a06.');
    expect(spoken(seen({ status: 'unknown', rawStatus: 'Paused…' }))?.[0]).toBe(
      'Docs agent, Paused…: acme/docs @ agent/quickstart.',
    );
  });

  test.each([
    [0, 'Replies here will no longer reach the agent, for anyone. Work already sent continues.'],
    [
      1,
      'Replies here will no longer reach the agent, for anyone. Work already sent continues. 1 waiting instruction is dropped.',
    ],
    [
      2,
      'Replies here will no longer reach the agent, for anyone. Work already sent continues. 2 waiting instructions are dropped.',
    ],
  ])('asks before it is followed no more, and says what is lost: %i', (count, text) => {
    const states = ['waiting', 'held'] as const;
    const instructions = states.slice(0, count).map((state) => anInstruction({ id: state, state }));
    const [shown] = threadMessages(aThread({ instructions }));
    expect(confirmOf(shown?.message.blocks ?? [], 'Stop following')).toBe(text);
  });

  test.each([
    [0, undefined],
    [1, '1 reply held (⏸). Its author decides: edit it to add @Docket, or delete it.'],
    [2, '2 replies held (⏸). Their authors decide: edit them to add @Docket, or delete them.'],
  ])('what is held, and who can let it go: %i', (count, expected) => {
    const instructions = Array.from({ length: count }, (_, n) =>
      anInstruction({ id: `${n}`, state: 'held' }),
    );
    expect(
      card({ instructions })
        ?.split('\n')
        .find((line) => line.includes('held')),
    ).toBe(expected);
  });

  test.each<[ThreadRun['mode'], string]>([
    [
      'all',
      'Every reply here goes to the agent. Start with "aside" to talk among yourselves.\ndocs agent · job aj_3f9a77bd04c24a06 · followed by ana\n[Stop following] [⋯ Listen only to @Docket]',
    ],
    [
      'mention',
      'Mention @Docket to instruct the agent.\ndocs agent · job aj_3f9a77bd04c24a06 · followed by ana\n[Stop following] [⋯ Listen to all replies]',
    ],
  ])('says which replies count: %s', (mode, expected) => {
    expect(card({ mode })?.split('\n').slice(1).join('\n')).toBe(expected);
  });

  test('in a thread where others have written, says that I ask', () => {
    expect(card({ crowd: true })?.split('\n')[1]).toBe(
      "Mention @Docket to instruct the agent. I'll ask before sending other replies.",
    );
    expect(card({ crowd: true, mode: 'all' })).toContain('Every reply here goes to the agent.');
  });

  test.each<[NonNullable<ThreadRun['lookTrouble']>, string]>([
    ['down', "⚠️ I can't reach the platform. I'll keep trying; the job itself may be fine."],
    ['limit', "The platform's limit is reached, so this may be out of date. I'll check again later."],
    [
      'key',
      "⚠️ My platform key was rejected; the people who run Docket have to renew it. I'll continue when it works again.",
    ],
    ['forbidden', "⚠️ The platform won't show me this job. I'll keep trying."],
    ['project', "⚠️ My settings no longer have the project default. I'll continue when it is back."],
  ])('says why it knows no better: %s', (lookTrouble, expected) => {
    expect(card({ lookTrouble })?.split('\n')[2]).toBe(expected);
  });

  test('opens the pull request, where its address is one', () => {
    const open = (prLink: string) => {
      const [{ message } = { message: { blocks: [] } }] = threadMessages(aThread(seen({ prLink })));
      return buttonsIn(message.blocks).find(({ action_id }) => action_id === 'agent.open_pull_request')?.url;
    };
    expect(open('https://github.com/acme/docs/pull/123')).toBe('https://github.com/acme/docs/pull/123');
    for (const link of [
      'javascript:alert(1)',
      'see the dashboard',
      '',
      `https://a.example/${'x'.repeat(3000)}`,
    ])
      expect(open(link)).toBeUndefined();
  });

  test('takes no instructions any more', () => {
    expect(card(seen({ status: 'archived', rawStatus: 'archived' }))).toBe(
      '📁 Archived · acme/docs @ agent/quickstart\nIt takes no more instructions.\ndocs agent · job aj_3f9a77bd04c24a06 · followed by ana\n[Check now] [Stop following]',
    );
    expect(card({ gone: true })).toBe(
      '❌ Not found · acme/docs @ agent/quickstart\nThe platform does not know this job (404). Check its ID.\ndocs agent · job aj_3f9a77bd04c24a06 · followed by ana\n[Check now] [Stop following]',
    );
  });

  test.each<[NonNullable<ThreadRun['ended']>, string]>([
    [
      { why: 'stopped', by: { id: 'U0BEN', name: 'ben' }, unsent: 0 },
      'Stopped by ben.\ndocs agent · job aj_3f9a77bd04c24a06 · followed by ana\n[Follow again]',
    ],
    [
      { why: 'stopped', by: { id: 'U0BEN', name: 'ben' }, unsent: 1 },
      'Stopped by ben. 1 instruction was not sent.\ndocs agent · job aj_3f9a77bd04c24a06 · followed by ana\n[Follow again]',
    ],
    [
      { why: 'stopped', unsent: 2 },
      'Stopped. 2 instructions were not sent.\ndocs agent · job aj_3f9a77bd04c24a06 · followed by ana\n[Follow again]',
    ],
    [
      { why: 'notMade', unsent: 1 },
      'The job was not created. 1 instruction was not sent.\ndocs agent · job aj_3f9a77bd04c24a06 · followed by ana',
    ],
    [
      { why: 'broken', ref: '7f3c1d', unsent: 0 },
      'Something broke on my side. ref 7f3c1d\ndocs agent · job aj_3f9a77bd04c24a06 · followed by ana',
    ],
  ])('ended, it says by whom and what is lost: %j', (ended, expected) => {
    expect(card({ state: 'ended', ended })?.split('\n').slice(1).join('\n')).toBe(expected);
  });

  test('ended without knowing whether its job was made, it does not claim that', () => {
    const instructions = [anInstruction({ creates: true, state: 'over', outcome: 'left' })];
    const text = card({ state: 'ended', ended: { why: 'notMade', unsent: 0 }, instructions });
    expect(text).toContain('The job may or may not have been created.');
  });

  test.each([
    [{ unsent: 0 }, ''],
    [{ unsent: 2, ref: '7f3c' }, ' 2 instructions were not sent. ref 7f3c'],
  ])('that something broke is told to whoever followed the job: %j', (changes, rest) => {
    const thread = aThread({ state: 'ended', ended: { why: 'broken', ...changes } });
    expect(messageOf(thread, 'broken')).toBe(
      `❌ @Ana I stopped following acme/docs @ agent/quickstart: something broke on my side.${rest}`,
    );
    expect(threadMessages(thread)[1]).toMatchObject({ kind: 'ending', otherwise: 'U0ANA' });
  });

  test('its buttons carry the thread', () => {
    const [shown] = threadMessages(aThread());
    const blocks = shown?.message.blocks ?? [];
    const value = '{"v":1,"run":"3f9a1c2b4d5e6f708192a3b4","about":[],"attempt":1}';
    const all = [...buttonsIn(blocks), ...menuButtonsIn(blocks)];
    expect(all.map((one) => [one.action_id, one.value])).toEqual([
      ['agent.stop', value],
      ['agent.only_mentioned', value],
      ['agent.all_replies', value],
    ]);
  });
});

const line = (changes: Partial<ThreadRun> = {}, address?: string) =>
  reads(message([threadLine(aThread(changes), address)]));

test('says what, where it stands and who, with the way there for those who can open it', () => {
  const words = '✅ Ready · acme/docs @ agent/quickstart · followed by ana';
  expect(line()).toBe(words);
  expect(line({}, THREAD)).toBe(`${words} · Open thread`);
});

test('says what waits', () => {
  expect(line({ rounds: [aRound()], instructions: [anInstruction({ id: '2' })] })).toBe(
    '⏳ Working · acme/docs @ agent/quickstart · 1 instruction waiting · followed by ana',
  );
});

type Fate = Pick<Instruction, 'state' | 'outcome'>;
const fate = (state: Instruction['state'], outcome?: Instruction['outcome']): Fate => ({ state, outcome });

describe('the reaction on a reply', () => {
  test.each([
    [fate('held'), 'double_vertical_bar'],
    [fate('waiting'), 'eyes'],
    [fate('sending'), 'eyes'],
    [fate('unknown'), 'eyes'],
    [fate('working'), 'eyes'],
    [fate('failed'), 'eyes'],
    [fate('over', 'sent'), 'eyes'],
    [fate('over', 'left'), 'eyes'],
    [fate('over', 'notSent'), 'eyes'],
    [fate('over', 'notForAgent'), undefined],
    [fate('over', 'discarded'), undefined],
    [fate('over', 'withdrawn'), undefined],
  ])('%j: %s', (changes, reaction) => {
    const one = anInstruction(changes);
    expect(reactionsOf(aThread({ instructions: [one] })).get(one.id)?.name).toBe(reaction);
  });

  test('there is none on what is no reply', () => {
    expect(reactionsOf(aThread({ instructions: [anInstruction({ isReply: false })] }))).toEqual(new Map());
  });

  test('that it was taken is not needed where its round is shown; that it is held always is', () => {
    const unlessShown = (changes: Partial<Instruction>) => {
      const thread = aThread({ instructions: [anInstruction(changes)] });
      return [...reactionsOf(thread).values()].map((one) => one?.unlessShown?.replace(thread.id, ''));
    };
    expect(unlessShown({ state: 'working', round: 3 })).toEqual(['.round.3']);
    expect(unlessShown({ state: 'waiting' })).toEqual(['']);
    expect(unlessShown({ state: 'held' })).toEqual([undefined]);
  });
});

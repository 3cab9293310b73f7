import { describe, expect, test } from 'vitest';
import type { ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { cardKey, threadMessages } from '../../../../src/jobs/agent/thread/view.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { aRound, aThread, aTrouble } from '../../../support/jobs/agent/builders.ts';
import { messageOf } from '../../../support/jobs/agent/rendering.ts';
import { buttonsIn } from '../../../support/slack/rendering.ts';

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
});

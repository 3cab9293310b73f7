import { describe, expect, test } from 'vitest';
import { threadButtons } from '../../../src/commands/agent/buttons.ts';
import { agentActions } from '../../../src/jobs/agent/thread/buttons.ts';
import type { ThreadRun } from '../../../src/jobs/agent/thread/record.ts';
import type { Message } from '../../../src/slack/blocks.ts';
import { aCaller, ben, gus } from '../../support/commands/builders.ts';
import { type CommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { anInstruction, aThread, aTrouble } from '../../support/jobs/agent/builders.ts';

let world: CommandWorld;
onFreshWorlds((fresh) => {
  world = fresh;
});

type Name = Exclude<keyof typeof agentActions, 'openPullRequest' | 'startNew'>;

function click(name: Name, run: string, caller = aCaller(), about: string[] = [], attempt = 1) {
  const button = threadButtons.find(({ action }) => action === agentActions[name]);
  if (button === undefined) throw new Error(`nobody listens to ${name}`);
  return button.run({ v: 1, run, about, attempt }, caller, world.tools);
}
const text = (told: Message | undefined) => told?.text;
const clicksOf = async (thread: ThreadRun) => (await world.inbox(thread)) ?? [];
const again = (requestId: string) => aCaller({ requestId });
const GOES = 'It goes to the agent.';
const ALWAYS = 'It goes to the agent, and so do your later replies here';
const MENTION = 'From now on, mention @Docket when your reply is for it.';
const SETTLED = 'Already handled: see the latest message in this thread.';

test('a thread that is not found is reported', async () => {
  expect(text(await click('stop', 'nobody'))).toBe('I no longer follow this thread.');
});

describe('a thread that has ended', () => {
  test.each<[Name, string]>([
    ['stop', 'This thread no longer follows a job.'],
    ['checkNow', 'This thread no longer follows a job.'],
    ['onlyMentioned', 'This thread no longer follows a job.'],
    ['send', 'This thread no longer follows a job, so nothing can be sent.'],
    ['sendAgain', 'This thread no longer follows a job, so nothing can be sent.'],
    ['leave', 'This thread no longer follows a job.'],
  ])('takes no %s', async (name, told) => {
    const thread = await world.followed(aThread({ state: 'ended' }));
    expect(text(await click(name, thread.id, aCaller(), ['i1']))).toBe(told);
    expect(await clicksOf(thread)).toEqual([]);
  });
});

test('whoever cannot read the thread may click nothing', async () => {
  const thread = await world.followed(
    aThread({ asked: { channel: 'C0DOCS', joinable: true, isPublic: false } }),
  );
  const elsewhere = { id: 'C0ELSE', name: 'else' };
  const caller = aCaller({ user: ben, channel: elsewhere });
  expect(text(await click('stop', thread.id, caller))).toMatch(/^This thread is somebody else's/);
  expect(await clicksOf(thread)).toEqual([]);
  expect(await click('stop', thread.id, aCaller({ channel: elsewhere }))).toBeUndefined();
  expect(await click('stop', thread.id, aCaller({ user: gus, requestId: '1.2.c' }))).toBeUndefined();
});

test('nor may somebody elsewhere once its channel has become private', async () => {
  const thread = await world.followed(aThread());
  const caller = aCaller({ user: ben, channel: { id: 'C0ELSE', name: 'else' } });
  world.tools.isPublic = async () => false;
  expect(text(await click('stop', thread.id, caller))).toMatch(/^This thread is somebody else's/);
  expect(await clicksOf(thread)).toEqual([]);
});

describe('what may be wanted again', () => {
  test.each<[Name, string | undefined]>([
    ['stop', undefined],
    ['onlyMentioned', 'Only replies with @Docket count here from now on.'],
    ['allReplies', 'Every reply here counts from now on.'],
    ['checkJob', 'Checking now.'],
    ['checkNow', 'Checking now.'],
  ])('%s counts for each click, and once for a repeat of it', async (name, told) => {
    const thread = await world.followed(aThread());
    const answer = await click(name, thread.id);
    expect(text(answer)).toBe(told);
    // What was clicked stays as it is: everybody reads it.
    expect(answer ?? {}).not.toHaveProperty('replace_original');
    expect(await click(name, thread.id)).toBeUndefined();
    expect(await clicksOf(thread)).toEqual([
      {
        kind: 'clicked',
        action: name,
        by: { id: 'U0ANA', name: 'ana' },
        about: [],
        attempt: 1,
        atMs: expect.any(Number),
      },
    ]);
    expect(world.woken).toContain(thread.id);
    await click(name, thread.id, again('1.2.b'));
    expect(await clicksOf(thread)).toHaveLength(2);
  });
});

describe('the question whether a reply is for the agent', () => {
  const asked = (changes: Partial<ThreadRun> = {}) =>
    world.followed(
      aThread({ crowd: true, instructions: [anInstruction({ id: 'i1', state: 'held' })], ...changes }),
    );

  test.each<[Name, string]>([
    ['send', `${GOES} From now on, mention @Docket when your reply is for it.`],
    ['notForAgent', 'Not sent. From now on, mention @Docket when your reply is for the agent.'],
    ['always', 'It goes to the agent, and so do your later replies here.'],
  ])('%s takes the place of the question', async (name, told) => {
    const thread = await asked();
    const answer = await click(name, thread.id, aCaller(), ['i1']);
    expect(answer).toMatchObject({ text: told, replace_original: true });
    expect(await clicksOf(thread)).toMatchObject([{ action: name, about: ['i1'], by: { id: 'U0ANA' } }]);
    expect(world.audited).toMatchObject([{ job: thread.agentJobId, result: 'accepted' }]);
    expect(await click(name, thread.id, aCaller(), ['i1'])).toBeUndefined();
    expect(await clicksOf(thread)).toHaveLength(1);
  });

  test.each<[string, Partial<ThreadRun>, Name, string]>([
    ['an owner who is alone: only of this reply', { crowd: false }, 'send', GOES],
    ['an owner who is alone: only of this reply', { crowd: false }, 'notForAgent', 'Not sent.'],
    ['an owner who is alone', { crowd: false }, 'always', `${ALWAYS}.`],
    ['where every reply counts', { mode: 'all' }, 'send', GOES],
    ['where every reply counts', { mode: 'all' }, 'notForAgent', 'Not sent.'],
    ['where only mentions count', { mode: 'mention', crowd: false }, 'send', `${GOES} ${MENTION}`],
    ['where only mentions count', { mode: 'mention' }, 'always', `${GOES} ${MENTION}`],
  ])('says what holds from then on: %s %j %s', async (_, changes, name, told) => {
    const thread = await asked(changes);
    expect(text(await click(name, thread.id, aCaller(), ['i1']))).toBe(told);
  });

  test('of somebody else is about mentions, also in a thread that was quiet', async () => {
    const held = anInstruction({ id: 'i1', state: 'held', by: { id: 'U0BEN', name: 'ben' } });
    const thread = await asked({ crowd: false, instructions: [held] });
    const told = await click('send', thread.id, aCaller({ user: ben }), ['i1']);
    expect(text(told)).toBe(`${GOES} ${MENTION}`);
  });

  test('is for the author alone to answer', async () => {
    const thread = await asked();
    const told = await click('send', thread.id, aCaller({ user: ben }), ['i1']);
    expect(text(told)).toBe("Only ana can answer this: it's about their message.");
    expect(await clicksOf(thread)).toEqual([]);
  });

  test('is resolved once nothing is held', async () => {
    const thread = await asked({ instructions: [anInstruction({ id: 'i1', state: 'working' })] });
    expect(text(await click('notForAgent', thread.id, aCaller(), ['i1']))).toBe(SETTLED);
    expect(await clicksOf(thread)).toEqual([]);
  });
});

describe('an instruction', () => {
  test('that waits is discarded, one that was sent is not', async () => {
    const instructions = [
      anInstruction({ id: 'i1', state: 'working' }),
      anInstruction({ id: 'i2', state: 'waiting' }),
    ];
    const thread = await world.followed(aThread({ instructions }));
    expect(text(await click('discard', thread.id, aCaller(), ['i1']))).toBe(SETTLED);
    expect(await click('discard', thread.id, aCaller(), ['i2'])).toBeUndefined();
    expect(await clicksOf(thread)).toMatchObject([{ action: 'discard', about: ['i2'] }]);
  });

  test('that came back to wait after a discard can be discarded once more', async () => {
    const thread = await world.followed(aThread({ instructions: [anInstruction({ id: 'i1' })] }));
    await click('discard', thread.id, aCaller(), ['i1']);
    await click('discard', thread.id, again('1.2.b'), ['i1']);
    expect(await clicksOf(thread)).toHaveLength(2);
  });

  const troubled = (changes: Partial<ThreadRun> = {}) =>
    world.followed(
      aThread({
        instructions: [anInstruction({ id: 'i1', state: 'unknown' })],
        troubles: [aTrouble({ id: 'i1', why: 'unknown' })],
        ...changes,
      }),
    );

  test('is sent again once, whoever clicks', async () => {
    const thread = await troubled();
    await click('sendAgain', thread.id, aCaller({ user: ben, requestId: '1.2.b' }), ['i1']);
    expect(text(await click('sendAgain', thread.id, aCaller(), ['i1']))).toBe(SETTLED);
    expect(await clicksOf(thread)).toHaveLength(1);
  });

  test('of an earlier attempt is resolved', async () => {
    const thread = await troubled();
    expect(text(await click('sendAgain', thread.id, aCaller(), ['i1'], 2))).toBe(SETTLED);
    expect(await clicksOf(thread)).toEqual([]);
  });

  test.each([
    ['sendAgain', 'sent it again'],
    ['leave', 'chose to leave it'],
  ] as const)('that somebody settled with %s is told to others alone', async (action, what) => {
    const answer = { by: { id: 'U0BEN', name: 'ben' }, action, atMs: 1 };
    const thread = await troubled({
      instructions: [anInstruction({ id: 'i1', state: 'working', attempt: 2 })],
      troubles: [aTrouble({ id: 'i1', why: 'unknown', answer })],
    });
    expect(text(await click('leave', thread.id, aCaller(), ['i1']))).toBe(`ben already ${what}.`);
    expect(await click('leave', thread.id, aCaller({ user: ben }), ['i1'])).toBeUndefined();
  });

  test.each(['late', 'lateNot'] as const)(
    'that the platform settled (%s) is nobody’s answer',
    async (action) => {
      const answer = { by: { id: '', name: '' }, action, atMs: 1 };
      const thread = await troubled({
        instructions: [anInstruction({ id: 'i1', state: 'waiting' })],
        troubles: [aTrouble({ id: 'i1', why: 'unknown', answer })],
      });
      expect(text(await click('leave', thread.id, aCaller(), ['i1']))).toBe(SETTLED);
    },
  );
});

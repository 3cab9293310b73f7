import { describe, expect, test } from 'vitest';
import type { SendTrouble, ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { threadMessages } from '../../../../src/jobs/agent/thread/view.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aThread, aTrouble } from '../../../support/jobs/agent/builders.ts';
import { messageOf } from '../../../support/jobs/agent/rendering.ts';
import { buttonsIn, confirmOf, primariesIn } from '../../../support/slack/rendering.ts';

const KEY = 'trouble.1789912860.000200.1';
const BEN = { id: 'U0BEN', name: 'ben' };
const told = (trouble: Partial<SendTrouble> = {}, changes: Partial<ThreadRun> = {}) =>
  messageOf(aThread({ troubles: [aTrouble(trouble)], ...changes }), KEY);
/** Nothing is known of the job. */
function unmade(changes: Partial<ThreadRun> = {}): Partial<ThreadRun> {
  return { ...changes, seen: undefined, agentJobId: undefined } as Partial<ThreadRun>;
}
const stopped = { state: 'ended', ended: { why: 'stopped', unsent: 0 } } as const;

describe('the question about a send without an answer', () => {
  test('says what is not known, and what the job says', () => {
    expect(told()).toBe(
      '⚠️ @Ana Did "Also add error handling to the…" reach the agent? The platform gave no clear answer.\nThe job\'s state: completed, seen TIME{ago}\n[Check now] [Send again] [Leave it]',
    );
  });

  test('of a new job, where to look for it', () => {
    expect(told({ creates: true }, unmade())).toBe(
      `⚠️ @Ana Was the job for "Also add error handling to the…" created? The platform gave no clear answer.\nLook in the platform's dashboard first. If the job is there, choose [Leave it] and type /docs-agent follow <job id>.\n[Send again] [Leave it]`,
    );
  });

  test('in a thread that has ended, without buttons', () => {
    expect(told({}, stopped)).not.toContain('[');
    expect(told({ creates: true }, unmade(stopped))).not.toContain('[');
  });

  test('checking is the next step; sending again asks first', () => {
    const blocksOf = (changes: Partial<SendTrouble>, thread: Partial<ThreadRun> = {}) =>
      threadMessages(aThread({ troubles: [aTrouble(changes)], ...thread }))[1]?.message.blocks ?? [];
    expect(primariesIn(blocksOf({}))).toEqual(['Check now']);
    expect(confirmOf(blocksOf({}), 'Send again')).toBe('It may arrive twice.');
    const unclear = blocksOf({ creates: true }, unmade());
    expect(primariesIn(unclear)).toEqual([]);
    expect(confirmOf(unclear, 'Send again')).toBe('This may create a second job.');
    expect(confirmOf(blocksOf({ why: 'refused' }), 'Send again')).toBeUndefined();
  });

  test('its buttons name the instruction and the attempt', () => {
    const [, shown] = threadMessages(aThread({ troubles: [aTrouble({ attempt: 2 })] }));
    expect(shown?.key).toBe('3f9a1c2b4d5e6f708192a3b4.trouble.1789912860.000200.2');
    const value = '{"v":1,"run":"3f9a1c2b4d5e6f708192a3b4","about":["1789912860.000200"],"attempt":2}';
    expect(buttonsIn(shown?.message.blocks ?? []).map((button) => button.value)).toEqual([
      value,
      value,
      value,
    ]);
  });

  test('is kept and posted again until somebody answers', () => {
    const how = (trouble: Partial<SendTrouble>) => {
      const [, shown] = threadMessages(aThread({ troubles: [aTrouble(trouble)] }));
      return [shown?.kind, shown?.clicked, shown?.repost, shown?.lasting, shown?.otherwise];
    };
    expect(how({})).toEqual(['ending', undefined, undefined, true, 'U0ANA']);
    const answer = { by: BEN, action: 'leave', atMs: NOW_MS } as const;
    expect(how({ answer })).toEqual(['state', true, false, undefined, 'U0ANA']);
    expect(how({ answer: { ...answer, action: 'sendAgain' } })).toEqual(how({ answer }));
    expect(how({ answer: { ...answer, action: 'late' } })).toEqual([
      'state',
      undefined,
      false,
      undefined,
      'U0ANA',
    ]);
  });
});

describe('what was not sent', () => {
  const not = '❌ @Ana Not sent: "Also add error handling to the quickstart."';

  test.each<[Partial<SendTrouble>, string]>([
    [{ why: 'refused' }, 'The platform refused it.\n[Send again]'],
    [
      { why: 'refused', reason: 'Too\nlong' },
      'The platform refused it.\nThe platform said: "Too long"\n[Send again]',
    ],
    [
      { why: 'key', adminsTold: true },
      'My platform key was rejected; the admins have been told.\n[Send again]',
    ],
    [
      { why: 'key' },
      'My platform key was rejected; the people who run Docket have to renew it.\n[Send again]',
    ],
    [{ why: 'forbidden' }, "The platform doesn't let me instruct this job (403).\n[Send again]"],
    [{ why: 'down' }, "The docs platform isn't answering. Try again in a little while.\n[Send again]"],
    [
      { why: 'project' },
      'My settings no longer have the project default. Ask the people who run Docket.\n[Send again]',
    ],
    [
      { why: 'archived', archivedAtMs: NOW_MS },
      'This job was archived on TIME{date_short}; it takes no more instructions.\n[Check now]',
    ],
    [{ why: 'gone' }, 'The platform does not know this job (404).\n[Check now] [Stop following]'],
    [{ why: 'broken', ref: '7f3c1d' }, 'Something broke on my side. ref 7f3c1d\n[Send again]'],
    [{ why: 'broken' }, 'Something broke on my side.\n[Send again]'],
  ])('says why: %j', (trouble, expected) => {
    expect(told(trouble)).toBe(`${not}\n${expected}`);
  });

  test.each<[Partial<SendTrouble>, string]>([
    [
      { why: 'unsupported' },
      "This platform doesn't let me create agent jobs. Create one in its dashboard, then type /docs-agent follow <job id>.",
    ],
    [{ why: 'refused' }, 'The platform refused to create it.\n[Send again]'],
    [{ why: 'forbidden' }, "The platform doesn't let me create agent jobs (403).\n[Send again]"],
  ])('of a new job: %j', (trouble, expected) => {
    expect(told({ ...trouble, creates: true }, unmade())).toBe(
      `❌ @Ana The job was not created: "Also add error handling to the quickstart."\n${expected}`,
    );
  });

  test('to a job that takes no more since, cannot be sent again', () => {
    const { seen } = aThread();
    const archived: Partial<ThreadRun> = {
      seen: seen && { ...seen, status: 'archived', rawStatus: 'archived' },
    };
    expect(told({ why: 'refused' }, archived)).toBe(`${not}\nThe platform refused it.\n[Check now]`);
    expect(told({ why: 'refused' }, { gone: true })).toBe(
      `${not}\nThe platform refused it.\n[Check now] [Stop following]`,
    );
    expect(told({}, archived)?.split('\n').at(-1)).toBe('[Check now] [Leave it]');
  });

  test('in a thread that has ended, without buttons', () => {
    for (const why of ['refused', 'gone', 'archived'] as const)
      expect(told({ why }, stopped)).not.toContain('[');
  });
});

describe('settled', () => {
  const words = '"Also add error handling to the quickstart."';
  const answer = (action: 'sendAgain' | 'leave' | 'late') => ({ by: BEN, action, atMs: NOW_MS });

  test.each<[Partial<SendTrouble>, string]>([
    [{ answer: answer('sendAgain') }, `ben chose to send ${words} again. It got no clear answer at first.`],
    [{ answer: answer('leave') }, `ben chose not to send it again: ${words} got no clear answer.`],
    [{ answer: answer('late') }, `The answer for ${words} came late: it arrived.`],
    [{ answer: answer('late'), creates: true }, `The answer for ${words} came late: the job was created.`],
    [
      { why: 'down', answer: answer('sendAgain') },
      `ben chose to send ${words} again. It was not sent at first.`,
    ],
  ])('%j', (trouble, expected) => {
    expect(told(trouble)).toBe(expected);
  });
});

describe('a limit', () => {
  const limited = (limit: Partial<NonNullable<ThreadRun['limit']>> = {}, changes: Partial<ThreadRun> = {}) =>
    aThread({
      limit: {
        n: 1,
        kind: 'ours',
        perHour: 100,
        sinceMs: NOW_MS,
        untilMs: NOW_MS + 600_000,
        refusals: 0,
        ...limit,
      },
      instructions: [anInstruction()],
      ...changes,
    });
  const many = (count: number) =>
    Array.from({ length: count }, (_, n) =>
      anInstruction({ id: `${n}`, by: { id: 'U0BEN', name: 'ben' }, excerpt: `Page ${n}` }),
    );
  const buttonOf = (thread: ThreadRun) =>
    threadMessages(thread).flatMap(({ key, message }) =>
      key.includes('.limit.') ? buttonsIn(message.blocks) : [],
    )[0]?.value ?? '';

  test('of ours, says when it goes out', () => {
    expect(messageOf(limited(), 'limit.1')).toBe(
      '🕒 Kept until about TIME{time} · "Also add error handling to the quickstart." (ana)\n100 instructions an hour are used up for this project.\n[Discard]',
    );
    expect(messageOf(limited({ perHour: 1 }), 'limit.1')).toContain('1 instruction an hour is used up');
  });

  test('of the platform, says when it is tried again', () => {
    expect(messageOf(limited({ kind: 'platform' }), 'limit.1')).toBe(
      `🕒 Kept until about TIME{time} · "Also add error handling to the quickstart." (ana)\nThe platform's limit is reached.\n[Discard]`,
    );
  });

  test('lists up to three that wait', () => {
    expect(messageOf(limited({}, { instructions: many(2) }), 'limit.1')).toBe(
      '🕒 Kept until about TIME{time} · 2 instructions\n100 instructions an hour are used up for this project.\n"Page 0" (ben)\n"Page 1" (ben)\n[Discard all]',
    );
    expect(messageOf(limited({ kind: 'platform' }, { instructions: many(5) }), 'limit.1')).toBe(
      `🕒 Kept until about TIME{time} · 5 instructions\nThe platform's limit is reached.\n"Page 0" (ben)\n"Page 1" (ben)\n"Page 2" (ben)\nand 2 more\n[Discard all]`,
    );
  });

  test('asks first where several would be dropped, perhaps of other people', () => {
    const asked = (instructions: ThreadRun['instructions']) =>
      JSON.stringify(threadMessages(limited({}, { instructions })));
    expect(asked(many(2))).toContain('The waiting instructions, from everyone, will not be sent.');
    expect(asked(many(1))).not.toContain('Discard all?');
  });

  test('its button names what waits, as far as Slack lets it', () => {
    expect(buttonOf(limited({}, { instructions: [anInstruction({ attempt: 2 })] }))).toBe(
      '{"v":1,"run":"3f9a1c2b4d5e6f708192a3b4","about":["1789912860.000200"],"attempt":2}',
    );
    const value = buttonOf(limited({}, { instructions: many(1000) }));
    expect(value.length).toBeGreaterThan(1990);
    expect(value.length).toBeLessThanOrEqual(2000);
    expect(JSON.parse(value).about.slice(0, 3)).toEqual(['0', '1', '2']);
  });

  test('is a message of its own each time', () => {
    expect(messageOf(limited({ n: 2 }), 'limit.2')).toBeDefined();
  });

  test.each<[string, ThreadRun]>([
    ['over', limited({ over: true })],
    ['nothing waits', limited({}, { instructions: [anInstruction({ state: 'over' })] })],
    ['the thread has ended', limited({}, stopped)],
  ])('past: %s', (_, thread) => {
    expect(messageOf(thread, 'limit.1')).toBe('Nothing is waiting for the limit now.');
  });

  test.each([
    [1, 'Not sent: "Page 0" (ana). Discarded by ben.'],
    [3, '3 instructions were not sent. Discarded by ben.'],
  ])('past, since all that waited was discarded: %i', (count, expected) => {
    const first = { by: { id: 'U0ANA', name: 'ana' }, excerpt: 'Page 0' };
    const discarded = { by: { id: 'U0BEN', name: 'ben' }, count, first };
    expect(messageOf(limited({ discarded }, { instructions: [] }), 'limit.1')).toBe(expected);
    expect(messageOf(limited({ discarded }), 'limit.1')).toContain('Kept until');
  });

  test('is kept and posted again only while it lasts', () => {
    const how = (thread: ThreadRun) =>
      threadMessages(thread).map(({ kind, clicked, repost, lasting }) => [kind, clicked, repost, lasting])[1];
    expect(how(limited())).toEqual(['ending', undefined, undefined, true]);
    expect(how(limited({ over: true }))).toEqual(['state', undefined, false, undefined]);
    const first = { by: { id: 'U0ANA', name: 'ana' }, excerpt: 'Page 0' };
    const discarded = { by: { id: 'U0BEN', name: 'ben' }, count: 1, first };
    expect(how(limited({ over: true, discarded }))).toEqual(['state', true, false, undefined]);
  });
});

describe('a platform that does not answer', () => {
  const key = `retry.${NOW_MS}`;
  const retrying = (retry: Partial<NonNullable<ThreadRun['retry']>> = {}, changes: Partial<ThreadRun> = {}) =>
    messageOf(
      aThread({
        retry: { sinceMs: NOW_MS, inARow: 3, nextMs: NOW_MS + 4000, ...retry },
        instructions: [anInstruction()],
        ...changes,
      }),
      key,
    );

  test('is told after a few times', () => {
    expect(retrying({ inARow: 2 })).toBeUndefined();
    expect(retrying()).toBe(
      `The docs platform isn't answering, so "Also add error handling to the…" is not sent yet. I'll keep trying.`,
    );
  });

  test('of a new job', () => {
    expect(retrying({}, { instructions: [anInstruction({ creates: true })] })).toBe(
      `The docs platform isn't answering, so the job for "Also add error handling to the…" is not created yet. I'll keep trying.`,
    );
  });

  test('past, whatever came of it', () => {
    expect(retrying({ over: true })).toBe("The docs platform didn't answer for a while.");
    expect(retrying({}, stopped)).toBe("The docs platform didn't answer for a while.");
  });
});

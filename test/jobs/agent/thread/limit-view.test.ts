import { describe, expect, test } from 'vitest';
import type { ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { threadMessages } from '../../../../src/jobs/agent/thread/view.ts';
import { anInstruction, aThread, NOW_MS } from '../../../support/jobs/agent/any-thread.ts';
import { messageOf } from '../../../support/jobs/agent/reading.ts';
import { buttonsIn } from '../../../support/jobs/export/reading.ts';

const stopped = { state: 'ended', ended: { why: 'stopped', unsent: 0 } } as const;

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
      '⏸ 100 instructions an hour are used up for this project. "Also add error handling to the quickstart." (@ana) is kept and goes out about TIME{time}.\n[Discard]',
    );
    expect(messageOf(limited({ perHour: 1 }), 'limit.1')).toContain('1 instruction an hour is used up');
  });

  test('of the platform, says when it is tried again', () => {
    expect(messageOf(limited({ kind: 'platform' }), 'limit.1')).toBe(
      '⏸ The platform\'s limit is reached. "Also add error handling to the quickstart." (@ana) is kept; I try again about TIME{time}.\n[Discard]',
    );
  });

  test('lists up to three that wait', () => {
    expect(messageOf(limited({}, { instructions: many(2) }), 'limit.1')).toBe(
      '⏸ 100 instructions an hour are used up for this project. 2 instructions are kept and go out from about TIME{time}.\n"Page 0" (@ben)\n"Page 1" (@ben)\n[Discard all]',
    );
    expect(messageOf(limited({ kind: 'platform' }, { instructions: many(5) }), 'limit.1')).toBe(
      '⏸ The platform\'s limit is reached. 5 instructions are kept; I try again about TIME{time}.\n"Page 0" (@ben)\n"Page 1" (@ben)\n"Page 2" (@ben)\nand 2 more\n[Discard all]',
    );
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
    expect(messageOf(thread, 'limit.1')).toBe('Nothing waits for the limit any more.');
  });

  test.each([
    [1, 'Not sent: "Page 0" (@ana). Discarded by @ben.'],
    [3, '3 instructions were not sent. Discarded by @ben.'],
  ])('past, since all that waited was discarded: %i', (count, expected) => {
    const first = { by: { id: 'U0ANA', name: 'ana' }, excerpt: 'Page 0' };
    const discarded = { by: { id: 'U0BEN', name: 'ben' }, count, first };
    expect(messageOf(limited({ discarded }, { instructions: [] }), 'limit.1')).toBe(expected);
    expect(messageOf(limited({ discarded }), 'limit.1')).toContain('is kept');
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
      'The docs platform isn\'t answering, so "Also add error handling to the quickstart." is not sent yet. I keep trying.',
    );
  });

  test('of a new job', () => {
    expect(retrying({}, { instructions: [anInstruction({ creates: true })] })).toBe(
      "The docs platform isn't answering, so the job is not made yet. I keep trying.",
    );
  });

  test('past, whatever came of it', () => {
    expect(retrying({ over: true })).toBe("The docs platform didn't answer for a while.");
    expect(retrying({}, stopped)).toBe("The docs platform didn't answer for a while.");
  });
});

import { describe, expect, test } from 'vitest';
import type { SendTrouble, ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { threadMessages } from '../../../../src/jobs/agent/thread/view.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aThread, aTrouble } from '../../../support/jobs/agent/builders.ts';
import { messageOf } from '../../../support/jobs/agent/rendering.ts';
import { buttonsIn } from '../../../support/slack/rendering.ts';

const BEN = { id: 'U0BEN', name: 'ben' };

describe('the question about a send without an answer', () => {
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

  test('its button names what waits, as far as Slack lets it', () => {
    expect(buttonOf(limited({}, { instructions: [anInstruction({ attempt: 2 })] }))).toBe(
      '{"v":1,"run":"3f9a1c2b4d5e6f708192a3b4","about":["1789912860.000200"],"attempt":2}',
    );
    const value = buttonOf(limited({}, { instructions: many(1000) }));
    expect(value.length).toBeGreaterThan(1990);
    expect(value.length).toBeLessThanOrEqual(2000);
    expect(JSON.parse(value).about.slice(0, 3)).toEqual(['0', '1', '2']);
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
});

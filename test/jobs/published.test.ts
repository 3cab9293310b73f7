import { beforeEach, expect, test } from 'vitest';
import type { JobContext } from '../../src/jobs/context.ts';
import { publishChanged, publishedRuns } from '../../src/jobs/published.ts';
import { message } from '../../src/slack/blocks.ts';
import type { OutboxMessage } from '../../src/slack/outbox.ts';
import { jobContext } from '../support/jobs/world.ts';
import { redisForTests } from '../support/redis.ts';
import { aNote } from '../support/store/builders.ts';

const redis = redisForTests();
let nowMs: number;
let published: string[];
let context: JobContext;
beforeEach(() => {
  nowMs = 1000;
  published = [];
  context = aProcess();
});

/** What another process knows, it knows by itself. */
const aProcess = () =>
  jobContext(redis.client, {
    now: () => nowMs,
    outbox: {
      publish: async (_team, { key, message: { text } }, version) =>
        void published.push(`${key} ${text} ${version}`),
    },
  });

const says = (key: string, text: string, more: Partial<OutboxMessage> = {}): OutboxMessage => ({
  key,
  place: { channel: 'C0DOCS' },
  kind: 'state',
  message: message([[text]]),
  ...more,
});
const publish = (rev: number, ...messages: OutboxMessage[]) =>
  publishChanged(aNote({ rev }), messages, context);

test('all messages of a run are published, one after the other', async () => {
  await publish(1, says('card', 'one'), says('progress', 'two'));
  expect(published).toEqual(['card one 1', 'progress two 1']);
});

test('of the next revision only those that changed are', async () => {
  await publish(1, says('card', 'one'), says('progress', 'two'));
  published.splice(0);
  await publish(1, says('card', 'one'), says('progress', 'two'));
  await publish(2, says('card', 'one'), says('progress', 'three'), says('ending', 'done'));
  await publish(3, says('card', 'one', { by: 'U0ANA' }), says('progress', 'three'), says('ending', 'done'));
  expect(published).toEqual(['progress three 2', 'ending done 2', 'card one 3']);
});

test('after a revision that another process may have published, all are', async () => {
  await publish(1, says('card', 'one'));
  await publish(3, says('card', 'one'));
  context = aProcess();
  await publish(3, says('card', 'one'));
  expect(published).toEqual(['card one 1', 'card one 3', 'card one 3']);
});

test('what a failover may have lost is published again within a minute of steps', async () => {
  for (let rev = 1; rev <= 4; rev += 1) {
    await publish(rev, says('card', 'one'));
    nowMs += 25_000;
  }
  expect(published).toEqual(['card one 1', 'card one 4']);
});

test('of runs that ended nothing is kept longer than it is of use', async () => {
  for (let number = 0; number < 100; number += 1) {
    await publishChanged(aNote({ id: `n${number}`, rev: 1 }), [says('card', 'one')], context);
    nowMs += 10_000;
  }
  expect(publishedRuns(context.outbox)).toBe(6);
});

test('what could not be published is published by the next step', async () => {
  const { outbox } = context;
  const away: JobContext['outbox']['publish'] = () => Promise.reject(new Error('away'));
  const fails = { ...context, outbox: { ...outbox, publish: away } };
  await expect(publishChanged(aNote({ rev: 1 }), [says('card', 'one')], fails)).rejects.toThrow('away');
  context = fails;
  fails.outbox.publish = outbox.publish;
  await publish(1, says('card', 'one'));
  expect(published).toEqual(['card one 1']);
});

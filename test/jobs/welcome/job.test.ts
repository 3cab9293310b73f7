import { beforeEach, describe, expect, test } from 'vitest';
import { welcomeJob } from '../../../src/jobs/welcome/job.ts';
import { newWelcome, welcomeRun } from '../../../src/jobs/welcome/record.ts';
import { retention } from '../../../src/runtime/timing.ts';
import type { OutboxMessage } from '../../../src/slack/outbox.ts';
import { keys } from '../../../src/store/keys.ts';
import { createOwnPostStore } from '../../../src/store/own-posts.ts';
import { createRunStore } from '../../../src/store/runs.ts';
import { jobContext } from '../../support/jobs/world.ts';
import { redisForTests } from '../../support/redis.ts';
import { reads, says } from '../../support/slack/rendering.ts';

const redis = redisForTests();
let posted: OutboxMessage[];
beforeEach(() => {
  posted = [];
});

const welcome = newWelcome({ teamId: 'T0ACME', channel: 'C0NEW' });
const runs = () => createRunStore(redis.client);
const accept = () => runs().accept(welcome, Number.MAX_SAFE_INTEGER, retention.runMs, undefined);
const context = (publish: (one: OutboxMessage) => void = (one) => posted.push(one)) =>
  jobContext(redis.client, { outbox: { publish: async (_team, one) => publish(one) } });
const run = (parts = context()) => welcomeJob.run({ runId: welcome.id }, parts);

test('a channel is greeted by a message that mentions nobody and goes last', async () => {
  await accept();
  expect(await run()).toEqual({ kind: 'done' });
  expect(new Set(posted.map(({ key }) => key)).size).toBe(1);
  const [first] = posted;
  expect(first).toMatchObject({ place: { channel: 'C0NEW' }, unhurried: true, repost: false });
  expect(JSON.stringify(first)).not.toMatch(/"user"|<@|<!/);
  expect(first && reads(first.message)).toBe(
    "Hi, I'm Docket.\nExport a docs site: /docs-export docs.acme.com\nInstruct the docs agent: /docs-agent new Add a quickstart\n[Export a site] [How it works]",
  );
  expect(first && says(first.message)).toBe(
    "Hi, I'm Docket.\nExport a docs site: /docs-export docs.acme.com\nInstruct the docs agent: /docs-agent new Add a quickstart",
  );
});

test('a channel where the app has posted already is not', async () => {
  await createOwnPostStore(redis.client).markPosted('T0ACME', 'C0NEW', 'other', '1.1');
  await accept();
  expect(await run()).toEqual({ kind: 'done' });
  expect(posted).toEqual([]);
});

test('the app added once more, while the first welcome is remembered: no second one', async () => {
  await accept();
  await run();
  const first = posted.length;
  expect(await accept()).toEqual({ kind: 'repeated' });
  await run();
  expect(new Set(posted.map(({ key }) => key)).size).toBe(1);
  expect(first).toBeGreaterThan(0);
});

describe('a process that dies', () => {
  test('before the message is wanted: the next one publishes it', async () => {
    await accept();
    const dies = context(() => {
      throw new Error('killed');
    });
    await expect(run(dies)).rejects.toThrow('killed');
    expect(await redis.client.zscore(keys.activeRuns(), `welcome ${welcome.id}`)).not.toBeNull();
    await run();
    expect(posted.length).toBeGreaterThan(0);
  });

  test('after it was posted, and before that was saved: it is the same message, although the channel is known', async () => {
    await accept();
    const dies = context((one) => {
      posted.push(one);
      throw new Error('killed');
    });
    await expect(run(dies)).rejects.toThrow('killed');
    await createOwnPostStore(redis.client).markPosted('T0ACME', 'C0NEW', posted[0]?.key ?? '', '1.1');
    await run();
    expect(new Set(posted.map(({ key }) => key)).size).toBe(1);
    expect((await runs().load(welcome.id, welcomeRun))?.state).toBe('ended');
    expect(await redis.client.zscore(keys.activeRuns(), `welcome ${welcome.id}`)).toBeNull();
  });
});

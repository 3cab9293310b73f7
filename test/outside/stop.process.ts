import { connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defaultTiming } from '../../src/runtime/timing.ts';
import { until } from '../support/flows/reading.ts';
import { expectNothingTwice, tellStory } from '../support/flows/trouble.ts';
import { createWorld, type World } from '../support/flows/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld({ processes: true });
  await world.startBot({ timing: { lockMs: 60_000, docsCallMs: 20_000 } });
});
afterEach(() => world.close());

/** Only what is ended has to be a process. */
const successor = { process: false };

const asks = () => world.slack.person('ana').types('#docs', '/docs-export docs.acme.com');

/** Ends a bot, which says 1 if it takes longer than its own limit: 1.5 s more than `shutdownMs`. */
async function ends(bot = world.bots[0]) {
  expect(await bot?.terminate()).toBe(0);
  expect(defaultTiming.shutdownMs + 1500).toBeLessThan(10_000);
}

test('SIGTERM while an export runs: the next process goes on at once', async () => {
  await asks();
  await until(world, '#docs', ['42%']);
  await ends();
  await world.startBot(successor);
  // The lock of the first one lasts a minute: only a job that was handed back is seen before.
  const story = await tellStory(world);
  expectNothingTwice(world, story);
});

test('SIGTERM while a look hangs: its job is handed back', async () => {
  await asks();
  await until(world, '#docs', ['42%']);
  world.platform.wire.order('GET /v1/static-export/jobs/{jobId}', { kind: 'hang', when: 'before' });
  await world.slack.until(() => world.platform.wire.waiting === 0);
  await ends();
  await world.startBot(successor);
  expectNothingTwice(world, await tellStory(world));
});

test('SIGTERM while a start is on its way: its answer is waited for', async () => {
  world.platform.wire.order('POST /v1/static-export/jobs', { kind: 'delay', ms: 1500 });
  await asks();
  await world.slack.until(() => world.platform.wire.calls.length === 1);
  await ends();
  await world.startBot(successor);
  const story = await tellStory(world);
  expectNothingTwice(world, story);
  expect(story.ending).toBe('done');
});

test('SIGTERM with a request that somebody only half sent', async () => {
  const socket = connect(world.bots[0]?.port ?? 0, '127.0.0.1');
  socket.on('error', () => {});
  socket.write('POST /slack/events HTTP/1.1\r\nhost: docket\r\ncontent-length: 100\r\n\r\nhalf');
  await asks();
  await until(world, '#docs', ['42%']);
  await ends();
  socket.destroy();
});

test('SIGTERM with a request that somebody only half sent, and export start: outcome unknown', async () => {
  const bot = await world.startBot({ timing: { docsCallMs: 20_000, shutdownMs: 4000 } });
  const socket = connect(bot.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.write('POST /slack/events HTTP/1.1\r\nhost: docket\r\ncontent-length: 100\r\n\r\nhalf');
  world.platform.wire.order('POST /v1/static-export/jobs', { kind: 'hang', when: 'before' }, 2);
  await world.bots[0]?.end();
  await asks();
  await world.slack.until(() => world.platform.wire.calls.length === 1);
  await ends(bot);
  socket.destroy();
});

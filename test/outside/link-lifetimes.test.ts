import type { Redis } from 'ioredis';
import { afterAll, describe, expect, test, vi } from 'vitest';
import type { SentMessage } from '../../demo/slack/workspace.ts';
import { sees, until } from '../support/flows/reading.ts';
import { createWorld, type World, type WorldOptions } from '../support/flows/world.ts';

/** Long enough to be looked at on a slow machine, short enough to wait for its end. */
const LIFE_MS = 5000;
const HOUR_MS = 3_600_000;

const worlds: World[] = [];
afterAll(() => Promise.all(worlds.map((world) => world.close())));

async function newWorld(options: WorldOptions = {}): Promise<World> {
  const world = await createWorld({ ...options, platform: { exportPlan: { durationMs: 20 } } });
  worlds.push(world);
  world.platform.linkLifeMs = LIFE_MS;
  await world.startBot();
  return world;
}

/** The presigned link in a message as it is now. */
function linkIn(message: SentMessage): string {
  const link = /https?:[^"\\\s]*X-Signature=[^"\\\s]*/.exec(JSON.stringify(message.blocks))?.[0];
  if (link === undefined) throw new Error('this message has no link');
  return link;
}

const hasLink = (message: SentMessage) => JSON.stringify(message.blocks).includes('X-Signature');
const signatureOf = (link: string) => new URL(link).searchParams.get('X-Signature') ?? '';

/** The message of the bot with a link in this person's direct messages. */
function inDirectMessages({ slack }: World, who: 'ana' | 'ben', part: string): SentMessage | undefined {
  const { id } = slack.channel(`@${who}`);
  return slack.messages.find((message) => message.channel === id && slack.read(message).includes(part));
}

/** The keys of Redis that have it in their name or in anything that they hold, BullMQ's among them. */
async function keysWith(redis: Redis, secret: string): Promise<string[]> {
  const found: string[] = [];
  for (const key of await redis.keys('*')) {
    if (JSON.stringify([key, await contentOf(redis, key)]).includes(secret)) found.push(key);
  }
  return found;
}

async function contentOf(redis: Redis, key: string): Promise<unknown> {
  const type = await redis.type(key);
  switch (type) {
    case 'string':
      return redis.get(key);
    case 'hash':
      return redis.hgetall(key);
    case 'list':
      return redis.lrange(key, 0, -1);
    case 'set':
      return redis.smembers(key);
    case 'zset':
      return redis.zrange(key, '0', '-1');
    case 'stream':
      return redis.xrange(key, '-', '+');
    // It ended between the two questions.
    case 'none':
      return undefined;
    default:
      throw new Error(`what is a ${type}?`);
  }
}

/** The messages, private answers and Home tabs that show it as they are now. */
function shownWith({ slack }: World, secret: string): string[] {
  const messages = [...slack.messages, ...slack.ephemerals].filter(({ deleted }) => !deleted);
  const homes = (['ana', 'ben', 'gus'] as const).map((name) => slack.person(name).home());
  const all = [...messages.map(({ text, blocks, metadata }) => ({ text, blocks, metadata })), ...homes];
  return all.map((content) => JSON.stringify(content) ?? '').filter((content) => content.includes(secret));
}

async function said({ bots }: World): Promise<string> {
  const answers = bots.flatMap(({ port }) =>
    ['healthz', 'readyz'].map(async (path) => (await fetch(`http://127.0.0.1:${port}/${path}`)).text()),
  );
  return [...bots.map((bot) => bot.output()), ...(await Promise.all(answers))].join('\n');
}

/** It works, the card and its ending or one direct message show it, and one key holds it, no longer than it lives. */
async function expectLives(world: World, link: string, lifeMs = LIFE_MS, places = 2) {
  const { client } = world.redis;
  const keys = await keysWith(client, signatureOf(link));
  expect(keys).toEqual([expect.stringContaining(':link:')]);
  const leftMs = await client.pttl(keys[0] ?? '');
  expect(leftMs).toBeGreaterThan(0);
  expect(leftMs).toBeLessThanOrEqual(lifeMs);
  await world.slack.until(() => shownWith(world, signatureOf(link)).length === places);
  expect(await said(world)).not.toContain(signatureOf(link));
  expect((await fetch(link)).status).toBe(200);
}

/** Nothing that Docket keeps, shows or writes has it any more. */
async function expectGone(world: World, link: string) {
  const signature = signatureOf(link);
  await world.slack.until(() => shownWith(world, signature).length === 0, 15_000, 'the end of the link');
  const isForgotten = async () => expect(await keysWith(world.redis.client, signature)).toEqual([]);
  await vi.waitFor(isForgotten, { timeout: 15_000 });
  expect(await said(world)).not.toContain(signature);
  expect((await fetch(link)).status).toBe(403);
}

async function exportIsReady(world: World, options = '', who: 'ana' | 'gus' = 'ana') {
  await world.slack.person(who).types('#docs', `/docs-export docs.acme.com${options}`);
  await until(world, '#docs', [', took', '✅ Exported · docs.acme.com']);
  // Somebody's direct message may come after it.
  const { slack } = world;
  const { id } = slack.channel('#docs');
  return slack.messages.findLast(
    (one) => one.channel === id && slack.read(one).includes(', took'),
  ) as SentMessage;
}

describe.concurrent('a link', () => {
  test('in the thread is nowhere after its end, and a click makes a fresh one, but not for a guest', async () => {
    const world = await newWorld();
    const { slack, platform } = world;
    const ending = await exportIsReady(world);
    const link = linkIn(ending);
    await expectLives(world, link);
    await slack.person('ana').clicks(ending, 'Helm values');
    await slack.person('ana').opensHome();
    await slack.until(() => slack.person('ana').modal());

    await until(world, '#docs', [
      '⌛ Link expired · docs.acme.com\nThe export still exists, so a new link takes a second.\n[New link]',
    ]);
    await expectGone(world, link);

    platform.linkLifeMs = HOUR_MS;
    await slack.person('gus').clicks(ending, 'New link');
    expect(sees(world, '#docs', 'gus').at(-1)).toContain("You can't start exports here");
    expect(hasLink(ending)).toBe(false);
    await slack.person('ben').clicks(ending, 'New link');
    await slack.until(() => hasLink(ending));
    expect(linkIn(ending)).not.toBe(link);
    await expectLives(world, linkIn(ending), HOUR_MS);
    expect(platform.starts).toHaveLength(1);
    expect(slack.messages).toHaveLength(3);
  });
  test('that was replaced is gone from the message at once, and from the rest at its end', async () => {
    const world = await newWorld();
    const ending = await exportIsReady(world);
    const first = linkIn(ending);
    world.platform.linkLifeMs = HOUR_MS;
    await world.slack.person('ben').clicks(ending, 'New link');
    await world.slack.until(() => hasLink(ending) && linkIn(ending) !== first);
    await world.slack.until(() => shownWith(world, signatureOf(first)).length === 0);
    await expectLives(world, linkIn(ending), HOUR_MS);
    await expectGone(world, first);
    // The end of the first is no reason to take the second away.
    await expectLives(world, linkIn(ending), HOUR_MS);
    expect(sees(world, '#docs').join('\n')).not.toContain('Link expired');
  });

  test('for one person alone is in no thread, and nowhere after its end', async () => {
    const world = await newWorld();
    const { slack, platform } = world;
    const ending = await exportIsReady(world, ' --private');
    expect(hasLink(ending)).toBe(false);
    const direct = await slack.until(() => inDirectMessages(world, 'ana', ', took'));
    const link = linkIn(direct);
    await expectLives(world, link, LIFE_MS, 1);
    await until(world, '@ana', [
      '⌛ Link expired · docs.acme.com\nThe export still exists, so a new link takes a second.\n[New link]',
    ]);
    await expectGone(world, link);

    platform.linkLifeMs = HOUR_MS;
    await slack.person('ana').clicks(direct, 'New link');
    await slack.until(() => hasLink(direct));
    await expectLives(world, linkIn(direct), HOUR_MS, 1);
    expect(hasLink(ending)).toBe(false);
    expect(platform.starts).toHaveLength(1);
  });

  test('of one’s own is in one’s direct messages alone, and nowhere after its end', async () => {
    const world = await newWorld();
    const { slack, platform } = world;
    platform.linkLifeMs = HOUR_MS;
    const ending = await exportIsReady(world, ' --private');
    platform.linkLifeMs = LIFE_MS;
    await slack.person('gus').clicks(ending, 'Get my own link');
    expect(sees(world, '#docs', 'gus').at(-1)).toContain("You can't start exports here");
    await slack.person('ben').clicks(ending, 'Get my own link');
    const own = await slack.until(() => inDirectMessages(world, 'ben', 'Your own link'));
    const link = linkIn(own);
    await expectLives(world, link, LIFE_MS, 1);
    await until(world, '@ben', ['⌛ Link expired · docs.acme.com'], 'ben');
    await expectGone(world, link);

    platform.linkLifeMs = HOUR_MS;
    await slack.person('ben').clicks(own, 'New link');
    await slack.until(() => hasLink(own));
    expect(linkIn(own)).not.toBe(link);
    await expectLives(world, linkIn(own), HOUR_MS, 1);
    expect(inDirectMessages(world, 'ana', 'Your own link')).toBeUndefined();
    expect(platform.starts).toHaveLength(1);
  });

  test('whose end the platform does not tell is kept for an hour at most', async () => {
    const world = await newWorld();
    world.platform.linkLifeMs = 24 * HOUR_MS;
    world.platform.plan({ durationMs: 20, dates: 'none' });
    const ending = await exportIsReady(world);
    await expectLives(world, linkIn(ending), HOUR_MS);
    expect(world.slack.read(ending)).toContain("the platform didn't say how long");

    const own = linkIn(ending);
    await world.slack.person('ben').clicks(ending, 'New link');
    await world.slack.until(() => linkIn(ending) !== own);
    await world.slack.until(() => shownWith(world, signatureOf(own)).length === 0);
  });

  test('that has ended is not shown in the settings of a deployment', async () => {
    const world = await newWorld();
    const { slack } = world;
    const ana = slack.person('ana');
    const ending = await exportIsReady(world);
    const before = structuredClone(ending);
    const link = linkIn(ending);
    await ana.clicks(ending, 'Helm values');
    expect(ana.reads(await slack.until(() => ana.modal()))).toContain(signatureOf(link));
    await ana.closes();
    await expectGone(world, link);
    // In a client that still shows the message as it was.
    await ana.clicks(Object.assign(before, { deleted: false }), 'Helm values');
    expect(sees(world, '#docs').at(-1)).toBe(
      'The Helm values need a working link, and this export has none right now. Choose [New link], then open them again.',
    );
    expect(ana.modal()).toBeUndefined();
  });
});

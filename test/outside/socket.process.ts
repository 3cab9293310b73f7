import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { messageWith, notified, plain, until } from '../support/flows/reading.ts';
import { lose, strikeAt } from '../support/flows/strike-at.ts';
import { type Bot, type BotOptions, createWorld, type World } from '../support/flows/world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld({ transport: 'socket' });
});
afterEach(() => world.close());

type PersonName = Parameters<World['slack']['person']>[0];
const person = (name: PersonName) => world.slack.person(name);
const asks = (who: PersonName = 'ana', text = '/docs-export docs.acme.com') =>
  person(who).types('#docs', text);
const told = (answer: Awaited<ReturnType<typeof asks>>) =>
  answer.ephemeral && plain(world.slack.read(answer.ephemeral));
const connected = (count: number) =>
  world.slack.until(() => world.slack.sockets.open === count, 10_000, `${count} connections`);

/** Bots that a test kills or ends. */
const mortal: BotOptions = { process: true };

async function startBots(count: number, options?: BotOptions) {
  for (let started = 0; started < count; started += 1) await world.startBot(options);
  await connected(2 * count);
}

async function readyz(bot: Bot | undefined) {
  const answer = await fetch(`http://127.0.0.1:${bot?.port}/readyz`);
  return { status: answer.status, body: (await answer.json()) as { parts: Record<string, string> } };
}

/** From 42% to the end, and nothing twice on the way. */
async function endsOnce(messages = 3) {
  await until(world, '#docs', ['42%']);
  world.platform.finish('docs.acme.com');
  await until(world, '#docs', [', took', '✅ Exported · docs.acme.com']);
  expect(world.platform.starts).toHaveLength(1);
  // The ending replaces the progress, and only that.
  const deleted = () => world.slack.messages.filter((message) => message.deleted).map(world.slack.read);
  await world.slack.until(() => deleted().length > 0, 10_000, 'the deletion of the progress');
  expect(deleted()).toEqual([
    expect.stringMatching(/^⏳ (?:Exporting · ▰+▱* \d+%|Making the download link)/u),
  ]);
  expect(world.slack.messages).toHaveLength(messages);
}

/** What people sent; Slack also tells of each message that is posted. */
const asked = () => world.slack.sockets.envelopes.filter(({ type }) => type !== 'events_api');

describe('over a socket', () => {
  test('an export goes from the command to the bundle, as over HTTP', async () => {
    await startBots(1);
    const answer = await asks();
    expect(answer).toMatchObject({ ok: true });
    expect(answer.ephemeral).toBeUndefined();
    await endsOnce();
    expect(notified(world, 'ana')).toBe(1);
    const ending = messageWith(world, ', took');
    expect(await person('ana').clicks(ending, 'Download')).toMatchObject({ ok: true });
    expect(asked().map(({ type, outcome }) => `${type} ${outcome}`)).toEqual([
      'slash_commands acknowledged',
      'interactive acknowledged',
    ]);
    expect((await readyz(world.bots[0])).body.parts).toEqual({ redis: 'up', slack: 'up', docs: 'up' });
    expect(
      await fetch(`http://127.0.0.1:${world.bots[0]?.port}/slack/events`, { method: 'POST' }),
    ).toMatchObject({
      status: 404,
    });
  });
});

describe('a connection that ends', () => {
  test('both are cut off in the middle: the export goes on, and so do commands', async () => {
    await startBots(1);
    await asks();
    await until(world, '#docs', ['42%']);
    world.slack.sockets.cut();
    await connected(0);
    expect(await asks('ben')).toMatchObject({ ok: false, failed: 'dispatch_failed' });
    await connected(2);
    expect(told(await asks('ben'))).toContain(
      'docs.acme.com is already being exported: 42%, requested by ana ',
    );
    await endsOnce();
  });

  test.each(['cut when sent', 'cut when acknowledged'] as const)(
    '%s: the person is told that it failed, and asks again: one export in all',
    async (fault) => {
      await startBots(1);
      world.slack.sockets.order(fault);
      expect(await asks()).toMatchObject({ ok: false, failed: 'dispatch_failed' });
      await connected(2);
      await asks();
      await endsOnce();
    },
  );

  test.each(['warning', 'refresh_requested', 'link_disabled'] as const)(
    'Slack asks for new ones (%s) while a request is in work: it is still acknowledged',
    async (reason) => {
      await startBots(1);
      strikeAt([world.slack], { call: 'users.info' }, () => world.slack.sockets.disconnect(reason, 10_000));
      expect(await asks()).toMatchObject({ ok: true });
      await world.slack.until(() => world.slack.sockets.opened === 4, 10_000, 'two new connections');
      expect(world.bots[0]?.output()).toContain(`"reason":"${reason}"`);
      await endsOnce();
      // The bot closes the old ones itself, long before Slack would.
      await connected(2);
    },
  );
});

describe('kill -9', () => {
  test.for([1, 2])('before the work is queued, of one of %i bots', async (bots) => {
    await startBots(bots, mortal);
    const killed = strikeAt([world.slack], { call: 'users.info' }, async (call) => {
      lose([world.slack], [{ call }]);
      await world.bots.find((bot) => bot.made(call))?.kill();
    });
    expect(await asks()).toMatchObject({ ok: false, failed: 'dispatch_failed' });
    await killed.done;
    expect(await world.redis.client.keys('{docket}:run:*')).toEqual([]);
    if (bots === 1) await startBots(1);
    await connected(2);
    expect(await asks()).toMatchObject({ ok: true });
    await endsOnce();
  });

  test('once the work is queued, with the acknowledgement on its way: it is done all the same', async () => {
    await startBots(1, mortal);
    const [first] = world.bots;
    world.slack.sockets.order('cut when acknowledged');
    const killed = Promise.withResolvers<void>();
    const stopListening = world.slack.sockets.onEnvelope((_, moment) => {
      if (moment !== 'acknowledged') return;
      stopListening();
      killed.resolve(first?.kill());
    });
    expect(await asks()).toMatchObject({ ok: false, failed: 'dispatch_failed' });
    await killed.promise;
    await startBots(1);
    await until(world, '#docs', ['42%']);
    expect(told(await asks())).toContain('docs.acme.com is already being exported: 42%, requested by you ');
    await endsOnce();
  });
});

describe('a Slack that is away', () => {
  test('at the start: Docket is up, says so, and works once Slack is back', async () => {
    world.slack.wire.order('apps.connections.open', { kind: 'answer', status: 503 }, 10_000);
    const bot = await world.startBot();
    expect(await readyz(bot)).toMatchObject({ status: 200, body: { parts: { redis: 'up', slack: 'down' } } });
    expect(await asks()).toMatchObject({ failed: 'dispatch_failed' });
    world.slack.wire.clear();
    await connected(2);
    expect((await readyz(bot)).body.parts.slack).toBe('up');
    await asks();
    await endsOnce();
  });

  test('while an export runs: /readyz says so until it is back', async () => {
    await startBots(1);
    await asks();
    await until(world, '#docs', ['42%']);
    world.slack.wire.order('apps.connections.open', { kind: 'answer', status: 503 }, 10_000);
    world.slack.sockets.cut();
    await expect.poll(async () => (await readyz(world.bots[0])).body.parts.slack).toBe('down');
    world.slack.wire.clear();
    await connected(2);
    await endsOnce();
  });
});

describe('SIGTERM', () => {
  test('ends with a request in work, which is still acknowledged', async () => {
    await startBots(1, mortal);
    const [bot] = world.bots;
    const ended = Promise.withResolvers<number | null>();
    strikeAt([world.slack], { call: 'users.info' }, () => ended.resolve(bot?.terminate() ?? null));
    expect(await asks()).toMatchObject({ ok: true });
    expect(await ended.promise).toBe(0);
    await startBots(1, mortal);
    await endsOnce();
  });

  test('of one of two bots leaves the other one, and no command fails after it', async () => {
    await startBots(2, mortal);
    expect(await world.bots[0]?.terminate()).toBe(0);
    await connected(2);
    await asks();
    await endsOnce();
  });

  test('ends also while Slack takes no connection', async () => {
    world.slack.wire.order('apps.connections.open', { kind: 'hang', when: 'before' }, 100);
    const bot = await world.startBot(mortal);
    expect(await bot.terminate()).toBe(0);
  });
});

test('nothing that is secret is in the log, whatever its level', async () => {
  await world.startBot({ env: { LOG_LEVEL: 'trace' } });
  await connected(2);
  await asks();
  await endsOnce();
  world.slack.sockets.disconnect('warning');
  await world.slack.until(() => world.slack.sockets.opened === 4);
  const request = world.slack.lastRequest?.body ?? '';
  const { trigger_id: trigger = '', token = '' } = Object.fromEntries(new URLSearchParams(request));
  for (const secret of [...world.secrets(), trigger, token].filter(Boolean))
    expect(world.bots[0]?.output()).not.toContain(secret);
});

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { messageWith, plain, sees, until } from '../support/flows/reading.ts';
import { createWorld, type World } from '../support/flows/world.ts';

const WELCOME =
  "Hi, I'm Docket: exports of your docs site, the docs agent and weekly numbers, in Slack.\nExport a docs site: /docs-export docs.acme.com\nAsk the docs agent: /docs-agent new Add a quickstart\n[Export a site] [How it works]";

describe.each(['http', 'socket'] as const)('a channel that the app is added to, over %s', (transport) => {
  let world: World;
  beforeEach(async () => {
    world = await createWorld({ transport });
    await world.startBot();
    await world.startBot();
    if (transport === 'socket') await world.slack.until(() => world.slack.sockets.open === 4);
  });
  afterEach(() => world.close());

  test('reads once how to begin, also when it is added again and Slack repeats itself', async () => {
    const ana = world.slack.person('ana');
    await ana.types('#elsewhere', '/invite @Docket');
    await until(world, '#elsewhere', [WELCOME]);
    const channel = world.slack.channel('#elsewhere');
    channel.members.delete('U0DOCKET');
    await ana.types('#elsewhere', '/invite @Docket');
    const [event] = world.slack.events;
    if (event) await world.slack.sendEvent(event.event, { eventId: event.eventId });
    await ana.types('#elsewhere', '/invite @ben');
    await ana.types('#elsewhere', '/docs-export docs.acme.com');
    await until(world, '#elsewhere', ['42%']);
    expect(sees(world, '#elsewhere').filter((text) => text.startsWith('Hi,'))).toEqual([WELCOME]);
    expect(world.slack.messages.flatMap(({ notifies }) => notifies)).toEqual([]);
  });

  test('starts with its buttons', async () => {
    const ana = world.slack.person('ana');
    await ana.types('#elsewhere', '/invite @Docket');
    await until(world, '#elsewhere', [WELCOME]);
    await ana.clicks(messageWith(world, "Hi, I'm Docket"), 'How it works');
    await until(world, '#elsewhere', ['Export a site: /docs-export']);
    await ana.clicks(messageWith(world, "Hi, I'm Docket"), 'Export a site');
    expect(plain(ana.reads(ana.modal()))).toContain('Progress shows in #elsewhere.');
    await ana.submits({ Domain: 'docs.acme.com' });
    await until(world, '#elsewhere', ['42%']);
  });
});

test('a bot that is killed between the event and its post posts it once', async () => {
  const world = await createWorld({ processes: true });
  await world.startBot();
  world.slack.wire.order('chat.postMessage', { kind: 'reset', when: 'before' });
  await world.slack.person('ana').types('#elsewhere', '/invite @Docket');
  await world.slack.until(() => world.slack.wire.calls.some(({ name }) => name === 'chat.postMessage'));
  await world.bots[0]?.kill();
  await world.startBot();
  await until(world, '#elsewhere', [WELCOME]);
  expect(sees(world, '#elsewhere')).toEqual([WELCOME]);
  await world.close();
});

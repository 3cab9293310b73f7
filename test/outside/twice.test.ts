import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { messageWith, plain, until } from '../support/flows/reading.ts';
import { createWorld, type World } from '../support/flows/world.ts';

describe.for([
  [1, 'http'],
  [2, 'http'],
  [2, 'socket'],
] as const)('with %i bots, over %s', ([bots, transport]) => {
  let world: World;
  beforeEach(async () => {
    world = await createWorld({ transport });
    for (let started = 0; started < bots; started += 1) await world.startBot();
    if (transport === 'socket') await world.slack.until(() => world.slack.sockets.open === 2 * bots);
  });
  afterEach(() => world.close());

  /** Slack reaches the bots in turn, as through a load balancer. */
  function nextBot(turn: number) {
    world.slack.botUrl = `http://127.0.0.1:${world.bots[turn % bots]?.port}/slack/events`;
  }

  const person = (name: 'ana' | 'ben') => world.slack.person(name);

  async function endsOnce() {
    await until(world, '#docs', ['42%']);
    world.platform.finish('docs.acme.com');
    await until(world, '#docs', [', took', '✅ Exported · docs.acme.com']);
    expect(world.platform.starts).toHaveLength(1);
    const { messages } = world.slack;
    // The ending replaces the line with the progress.
    const deleted = () => messages.filter((message) => message.deleted);
    await world.slack.until(() => deleted().length > 0);
    expect(deleted()).toHaveLength(1);
    expect(messages.filter(({ from }) => from !== 'docket')).toEqual([]);
  }

  test('the very same request, six times at once and once more after the end, is one export', async () => {
    nextBot(0);
    const first = person('ana').types('#docs', '/docs-export docs.acme.com');
    await world.slack.until(() => world.slack.lastRequest);
    const request = world.slack.lastRequest;
    const repeats = [1, 2, 3, 4, 5].map((turn) => {
      nextBot(turn);
      return world.slack.resend(request);
    });
    for (const answer of await Promise.all([first, ...repeats])) {
      expect(answer).toMatchObject({ ok: true });
      expect(answer.ephemeral).toBeUndefined();
    }
    await endsOnce();
    expect(await world.slack.resend(request)).toMatchObject({ ok: true });
    expect(world.platform.starts).toHaveLength(1);
    expect(world.slack.messages).toHaveLength(3);
  });

  test('two people at once for the same domain get one export, and the second one is told', async () => {
    const answers = await Promise.all(
      (['ana', 'ben'] as const).map((name, turn) => {
        nextBot(turn);
        return person(name).types('#docs', '/docs-export docs.acme.com');
      }),
    );
    const told = answers.flatMap(({ ephemeral }) => (ephemeral ? [plain(world.slack.read(ephemeral))] : []));
    expect(told).toEqual([
      expect.stringMatching(/^docs\.acme\.com is already being exported: requested by (ana|ben)/),
    ]);
    await endsOnce();
    expect(world.slack.messages).toHaveLength(3);
  });

  test('a double click, and clicks of two people at once, are one start', async () => {
    world.platform.wire.order('POST /v1/static-export/jobs', { kind: 'reset', when: 'before' });
    await person('ana').types('#docs', '/docs-export docs.acme.com');
    await until(world, '#docs', ['❔ @ana']);
    const question = messageWith(world, '❔ @ana');
    await Promise.all(
      (['ana', 'ana', 'ben', 'ben'] as const).map((name, turn) => {
        nextBot(turn);
        return person(name).clicks(question, 'Start anyway');
      }),
    );
    await endsOnce();
    expect(world.slack.messages).toHaveLength(4);
  });

  test("[Start anyway] and [Don't start again] at once: one of the two", async () => {
    world.platform.wire.order('POST /v1/static-export/jobs', { kind: 'reset', when: 'before' });
    await person('ana').types('#docs', '/docs-export docs.acme.com');
    await until(world, '#docs', ['❔ @ana']);
    const question = messageWith(world, '❔ @ana');
    nextBot(0);
    const again = person('ana').clicks(question, 'Start anyway');
    nextBot(1);
    await Promise.all([again, person('ben').clicks(question, "Don't start again")]);
    await world.slack.until(() => /started it anyway|chose not to/.test(world.slack.read(question)));
    const left = world.slack.read(question).includes('chose not to start it again');
    if (!left) await until(world, '#docs', ['42%']);
    expect(world.platform.starts).toHaveLength(left ? 0 : 1);
    const refused = world.slack.ephemerals.map((answer) => plain(world.slack.read(answer)));
    expect(refused).toEqual([
      left ? 'ben already chose not to start it again.' : 'ana already started it anyway.',
    ]);
  });
});

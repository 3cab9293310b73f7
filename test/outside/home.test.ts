import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { messageWith, plain, until } from '../support/flows/reading.ts';
import { createWorld, type World } from '../support/flows/world.ts';

describe('Home', () => {
  let world: World;
  beforeEach(async () => {
    world = await createWorld();
    await world.startBot();
  });
  afterEach(() => world.close());

  type PersonName = Parameters<World['slack']['person']>[0];
  const person = (name: PersonName) => world.slack.person(name);
  const published = () => world.slack.wire.calls.filter(({ name }) => name === 'views.publish');

  const FIRST = 'Exports, the docs agent and weekly numbers, from Slack.';
  const HELP = [
    'Type /docs-export help, /docs-agent help, /docs-site help, /docs-digest help or /docs-status help in any channel.',
    'This page refreshes when you open it.',
  ];

  /** The lines of somebody's Home. */
  const home = (who: PersonName) => plain(person(who).reads(person(who).home())).split('\n');

  /** Opens Home and waits until it is there in its newest form. */
  async function opens(who: PersonName) {
    const before = person(who).home();
    await person(who).opensHome();
    await world.slack.until(() => person(who).home() !== before);
    return home(who);
  }
  /** What stands below a heading, up to the next one. */
  async function below(heading: string, who: PersonName) {
    const lines = await opens(who);
    const headings = ['Running now', 'Recently ended', 'Start something new'];
    if (!lines.includes(heading)) return [];
    const after = lines.slice(lines.indexOf(heading) + 1);
    return after.slice(
      0,
      after.findIndex((line) => headings.includes(line)),
    );
  }

  test('says at first what it is for, how to begin, with the buttons of all that the person may start', async () => {
    expect(await opens('ana')).toEqual([
      FIRST,
      'More',
      expect.stringMatching(/^Export a site: /),
      expect.stringMatching(/^Ask the docs agent: /),
      expect.stringMatching(/^Set up a digest: /),
      expect.stringMatching(/^Schedule an export: /),
      expect.stringMatching(/^Preview a branch: /),
      ...HELP,
      '[Export a site] [Ask the agent] [Set up a digest] [Schedule an export] [Preview a branch]',
    ]);
  });

  test('shows a running export with the way to its thread, and its ending after it is opened again', async () => {
    await person('ana').types('#docs', '/docs-export docs.acme.com');
    await until(world, '#docs', ['42%', 'se_…']);
    expect(await below('Running now', 'ana')).toEqual([
      '⏳ Exporting · docs.acme.com · ▰▰▰▰▱▱▱▱▱▱ 42% · 5 pages so far · requested by you TIME · Open thread',
    ]);
    expect(JSON.stringify(person('ana').home())).toContain(
      `https://acme.slack.com/archives/${messageWith(world, 'Requested by').channel}/p`,
    );
    world.platform.finish('docs.acme.com');
    await until(world, '#docs', [', took', '✅ Exported · docs.acme.com']);
    expect(await below('Recently ended', 'ana')).toEqual([
      '✅ Exported · docs.acme.com · requested by you TIME · Open thread',
    ]);
    // Not even after the end is there a link to the bundle on it.
    expect(JSON.stringify(person('ana').home())).not.toContain('X-Signature');
  });

  test('shows what somebody follows, and nothing else of what others run', async () => {
    await person('ana').types('#private', '/docs-export docs.acme.com');
    await until(world, '#private', ['42%', 'se_…']);
    expect((await opens('ben'))[0]).toBe(FIRST);
    expect(await below('Running now', 'ana')).toEqual([
      '⏳ Exporting · docs.acme.com · ▰▰▰▰▱▱▱▱▱▱ 42% · 5 pages so far · requested by you TIME · Open thread',
    ]);
    await person('ben').clicks(messageWith(world, '[⋯ Notify me too]'), 'Notify me too');
    // No way into a conversation that ben may have left.
    expect(await below('Running now', 'ben')).toEqual([
      '⏳ Exporting · docs.acme.com · ▰▰▰▰▱▱▱▱▱▱ 42% · 5 pages so far · requested by ana TIME',
    ]);
  });

  test('opened again and again while it is being published, it is published once more', async () => {
    world.slack.wire.order('views.publish', { kind: 'delay', ms: 1000 });
    await person('ana').opensHome();
    await world.slack.until(() => published().length === 1);
    for (let time = 0; time < 4; time += 1) await person('ana').opensHome();
    await expect
      .poll(() => published().map(({ outcome }) => outcome), { timeout: 10_000 })
      .toEqual(['200', '200']);
    // Whoever comes later finds no work that was left over.
    await opens('ben');
    expect(published()).toHaveLength(3);
  });

  test('says to a guest, who may do nothing, whom to ask', async () => {
    expect(await opens('gus')).toEqual([
      FIRST,
      "You can't start exports, ask the docs agent or set up digests. Ask a full member of this workspace.",
      ...HELP,
    ]);
  });

  test.each([
    ['the limit is reached', { kind: 'answer', status: 429, headers: { 'retry-after': '1' } }],
    ['Slack has trouble', { kind: 'answer', status: 503 }],
    ['the answer is lost', { kind: 'reset', when: 'after' }],
  ] as const)('is published later when %s', async (_, fault) => {
    world.slack.wire.order('views.publish', fault, 2);
    await person('ana').opensHome();
    await expect.poll(() => published().length, { timeout: 15_000 }).toBe(3);
    await world.slack.until(() => person('ana').home());
    expect(home('ana')[0]).toBe(FIRST);
  });

  test('is left alone when the app has no Home, with a line in the log', async () => {
    const body = { ok: false, error: 'not_enabled' };
    world.slack.wire.order('views.publish', { kind: 'answer', status: 200, body });
    await person('ana').opensHome();
    await world.slack.until(() => world.bots[0]?.output().includes('takes no Home tab'));
    await person('ben').opensHome();
    await world.slack.until(() => person('ben').home());
    expect(published()).toHaveLength(2);
  });

  test('an export goes on while Home cannot be published', async () => {
    world.slack.wire.order('views.publish', { kind: 'answer', status: 503 }, 1000);
    for (const who of ['ana', 'ben', 'gus'] as const) await person(who).opensHome();
    await person('ana').types('#docs', '/docs-export docs.acme.com');
    await until(world, '#docs', ['42%']);
    world.slack.wire.clear();
  });
});

describe.each(['http', 'socket'] as const)('with Redis frozen, over %s', (transport) => {
  test('an opened Home is not acknowledged as done, and works when it is opened again', async () => {
    // Slack has to get this answer: then it sends the event again.
    const world = await createWorld({ transport, mayViolate: /app_home_opened/ });
    await world.startBot();
    const ana = world.slack.person('ana');
    if (transport === 'socket') await world.slack.until(() => world.slack.sockets.open === 2);
    world.redis.freeze();
    await ana.opensHome();
    expect(world.slack.events[0]).toMatchObject({ accepted: false });
    world.redis.thaw();
    await ana.opensHome();
    await world.slack.until(() => ana.home());
    await world.close();
  });
});

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { messageWith, notified, plain, sees, until } from './reading.ts';
import { type BotOptions, createWorld, type World } from './world.ts';

/** `TEST_BOTS=2` has every test of this file run by two processes on one Redis. */
const BOTS = Number(process.env.TEST_BOTS ?? 1);

let world: World;
beforeEach(async () => {
  world = await createWorld();
  for (let started = 0; started < BOTS; started += 1) await world.startBot();
});
afterEach(() => world.close());

/** Goes on with one bot that has other settings. */
async function onlyBot(options: BotOptions) {
  const others = [...world.bots];
  await world.startBot(options);
  await Promise.all(others.map((bot) => bot.kill()));
}

const CARD = '📦 Static export · docs.acme.com';
const ASKED = 'Asked for by @ana · job se_… · details in the thread';

const person = (name: 'ana' | 'ben' | 'gus' | 'sue') => world.slack.person(name);
const asks = (where = '#docs', text = '/docs-export docs.acme.com') => person('ana').types(where, text);
const told = (answer: Awaited<ReturnType<typeof asks>>) =>
  answer.ephemeral && plain(world.slack.read(answer.ephemeral));

describe('an export that goes well', () => {
  test('is one card, one progress that is edited, and one ending with a link that works', async () => {
    const { slack, platform } = world;
    const answer = await asks();
    expect(answer).toMatchObject({ ok: true });
    expect(answer.ephemeral).toBeUndefined();
    await until(world, '#docs', ['42%', 'se_…']);
    expect(sees(world, '#docs')).toEqual([
      `${CARD} — Running\n${ASKED}`,
      'Running · ▓▓▓▓░░░░░░ 42% · 5 pages so far · started TIME\n[Refresh] [Notify me too]',
    ]);

    platform.finish('docs.acme.com');
    expect(await until(world, '#docs', ['is ready', 'Done · ', '— Done'])).toEqual([
      `${CARD} — Done\n${ASKED}`,
      'Done · 12 pages · took 1 s',
      '✅ @ana The export of docs.acme.com is ready · 12 pages · 1 byte · took 1 s\nThe link works until TIME. Anyone who has it can download the bundle.\n[Download bundle] [New link]',
    ]);
    expect(slack.messages).toHaveLength(3);
    expect(notified(world, 'ana')).toBe(1);
    expect(platform.starts).toHaveLength(1);

    const ending = messageWith(world, 'is ready');
    expect(await person('ana').clicks(ending, 'Download bundle')).toMatchObject({ ok: true });
    const bundle = await fetch(
      /https?:[^"]*X-Signature=[^"]*/.exec(JSON.stringify(ending.blocks))?.[0] ?? '',
    );
    expect(bundle.status).toBe(200);
  });

  test('takes its link out of the message when it ends, and puts a new one in by a click, without a new message', async () => {
    world.platform.linkLifeMs = 1200;
    await asks();
    await until(world, '#docs', ['42%']);
    world.platform.finish('docs.acme.com');
    await until(world, '#docs', ['is ready']);
    const ending = messageWith(world, 'is ready');
    const first = JSON.stringify(ending.blocks);
    await until(world, '#docs', ['🔒 The link ended TIME. The export is still there.\n[New link]']);
    expect(JSON.stringify(ending.blocks)).not.toContain('X-Signature');
    expect(await world.redis.client.keys('{docket}:link:*')).toEqual([]);

    world.platform.linkLifeMs = 3_600_000;
    await person('ben').clicks(ending, 'New link');
    await world.slack.until(() => JSON.stringify(ending.blocks).includes('X-Signature'));
    expect(JSON.stringify(ending.blocks)).not.toBe(first);
    expect(world.slack.messages).toHaveLength(3);
    expect(notified(world, 'ana')).toBe(1);
    expect(world.platform.starts).toHaveLength(1);
  });

  test('keeps the old link when no new one can be had, and says so in a message of its own', async () => {
    await onlyBot({ timing: { giveUpMs: 300 } });
    await asks();
    await until(world, '#docs', ['42%']);
    world.platform.finish('docs.acme.com');
    await until(world, '#docs', ['is ready']);
    const ending = messageWith(world, 'is ready');
    world.platform.wire.order(
      'POST /v1/static-export/jobs/{jobId}/bundle',
      { kind: 'answer', status: 503 },
      1000,
    );
    await person('ana').clicks(ending, 'New link');
    await until(world, '#docs', ["couldn't get a new download link yet"]);
    expect(JSON.stringify(ending.blocks)).toContain('X-Signature');
    expect(world.slack.messages).toHaveLength(4);
    world.platform.wire.clear();
    await person('ana').clicks(messageWith(world, "couldn't get"), 'Try again');
    await world.slack.until(
      () => sees(world, '#docs').filter((text) => text.includes('is ready')).length === 2,
    );
    expect(world.platform.starts).toHaveLength(1);
  });

  test('says nothing more of a link that ended in a message that somebody deleted', async () => {
    world.platform.linkLifeMs = 1500;
    await asks();
    await until(world, '#docs', ['42%']);
    world.platform.finish('docs.acme.com');
    await until(world, '#docs', ['is ready', '— Done', 'Done · ']);
    world.slack.workspace.remove(messageWith(world, 'is ready'));
    await world.slack.until(() =>
      world.slack.wire.calls.some(({ detail }) => String(detail.text).includes('🔒')),
    );
    await expect.poll(() => world.redis.client.zcard('{docket}:messages:undelivered')).toBe(0);
    expect(world.slack.messages).toHaveLength(3);
  });

  test('gives a new link also while another export of the same site runs', async () => {
    await asks();
    await until(world, '#docs', ['42%']);
    world.platform.finish('docs.acme.com');
    await until(world, '#docs', ['is ready']);
    await person('ben').types('#docs', '/docs-export docs.acme.com');
    await world.slack.until(() => world.platform.starts.length === 2);
    const ending = messageWith(world, 'is ready');
    const first = JSON.stringify(ending.blocks);
    await person('ana').clicks(ending, 'New link');
    await world.slack.until(() => JSON.stringify(ending.blocks) !== first);
    expect(sees(world, '#docs').filter((text) => text.includes('is ready'))).toHaveLength(1);
  });

  test('is shown as queued while the platform has it queued', async () => {
    world.platform.plan({ queuedMs: 1500, durationMs: 100 });
    await asks();
    await until(world, '#docs', ['Queued · started TIME']);
    expect(sees(world, '#docs')[0]).toBe(`${CARD} — Queued\nAsked for by @ana · details in the thread`);
    await until(world, '#docs', ['is ready']);
  });

  test.each(['fraction', 'percent-text', 'object'] as const)(
    'understands progress as %s',
    async (progress) => {
      world.platform.plan({ progress, pages: 50, holdAt: 0.42 });
      await asks();
      await until(world, '#docs', ['▓▓▓▓░░░░░░ 42%']);
    },
  );

  test('less than one percent is not taken for most of it', async () => {
    const job = (progress: number) =>
      ({ kind: 'answer', status: 200, body: { jobId: 'x', status: 'running', progress } }) as const;
    for (const progress of [0.9, 0.95, 3]) {
      world.platform.wire.order('GET /v1/static-export/jobs/{jobId}', job(progress));
    }
    const shown = new Set<string>();
    world.slack.wire.onCall(({ detail }) => void shown.add(/ \d+%/.exec(String(detail.text))?.[0] ?? ''));
    await asks();
    await until(world, '#docs', ['42%']);
    expect(shown).not.toContain(' 90%');
    expect(shown).not.toContain(' 95%');
  });

  test('prints an unknown status as it is, and invents no percentage', async () => {
    world.platform.plan({
      progress: 'none',
      pageCount: 'none',
      runningStatus: 'packaging <!here>',
      holdAt: 0.5,
    });
    await asks();
    await until(world, '#docs', ['packaging <!here> · started TIME']);
    expect(world.slack.messages.flatMap(({ notifies }) => notifies)).toEqual([]);
  });
});

describe('where it is asked', () => {
  test('a private channel with the bot in it gets it like any other', async () => {
    await asks('#private');
    await until(world, '#private', ['42%']);
  });

  test('the direct messages with the bot get it', async () => {
    await asks('@ana');
    await until(world, '@ana', ['42%']);
  });

  test('a conversation that the bot cannot join: it goes to the person', async () => {
    await asks('ana+ben');
    await until(world, '@ana', [`${CARD} — Running`, '42%']);
    world.platform.finish('docs.acme.com');
    await until(world, '@ana', ['is ready']);
    expect(sees(world, 'ana+ben')).toEqual([]);
  });

  test.each(['#elsewhere', '#secret'])(
    '%s, without the bot: told privately, and nothing is started',
    async (where) => {
      await asks(where);
      expect(await until(world, where, ['post here'])).toEqual([
        "I can't post here yet, so nothing was started. Type /invite @Docket, then run the command again.",
      ]);
      expect(world.platform.starts).toEqual([]);
      await person('ana').types(where, '/invite @Docket');
      await asks(where);
      await until(world, where, ['42%']);
      expect(world.platform.starts).toHaveLength(1);
    },
  );

  test('a channel whose ending can no longer be posted: the ending goes to the person, with the fix', async () => {
    await asks();
    await until(world, '#docs', ['42%']);
    world.slack.channel('#docs').archived = true;
    world.platform.finish('docs.acme.com');
    const texts = await until(world, '@ana', ['is ready']);
    expect(texts).toEqual([
      expect.stringMatching(/^I couldn't post this in the channel: it is archived.\n✅ @ana/),
    ]);
    expect(notified(world, 'ana')).toBe(1);
  });
});

describe('an export that does not go well', () => {
  test('failed: says where and why, once, and can be tried again', async () => {
    await asks();
    await until(world, '#docs', ['42%']);
    world.platform.fail('docs.acme.com', 'Page <!channel> & "x" failed');
    const texts = await until(world, '#docs', ['failed at', '— Failed', 'Failed · 5 pages']);
    expect(texts).toContain(
      '❌ @ana The export of docs.acme.com failed at 42% after 1 s.\nThe platform said: "Page <!channel> & "x" failed"\nYour live site is not affected. ref …\n[Try again]',
    );
    expect(notified(world, 'ana')).toBe(1);

    await person('ben').clicks(messageWith(world, 'failed at'), 'Try again');
    await until(world, '#docs', ['— Running', '42%']);
    world.platform.finish('docs.acme.com');
    await until(world, '#docs', ['is ready']);
    expect(world.platform.starts).toHaveLength(2);
    expect(world.slack.messages).toHaveLength(4);
  });

  test('a button of an earlier try does nothing once there is a later one', async () => {
    await asks();
    await until(world, '#docs', ['42%']);
    world.platform.fail('docs.acme.com');
    await until(world, '#docs', ['failed at', '— Failed']);
    const first = messageWith(world, 'failed at');
    await person('ana').clicks(first, 'Try again');
    await world.slack.until(() => world.platform.starts.length === 2);
    world.platform.fail('docs.acme.com');
    await world.slack.until(
      () => sees(world, '#docs').filter((text) => text.includes('failed at')).length === 2,
    );
    await person('ana').clicks(first, 'Try again');
    expect(sees(world, '#docs').at(-1)).toBe(
      'That was settled already; look at the newest message in the thread.',
    );
    expect(world.platform.starts).toHaveLength(2);
  });

  test('a platform that says "Retry-After: 0" is not hammered', async () => {
    const limited = { kind: 'answer', status: 429, headers: { 'retry-after': '0' } } as const;
    world.platform.wire.order('POST /v1/static-export/jobs', limited, 6);
    await asks();
    await until(world, '#docs', ['42%']);
    const starts = world.platform.wire.calls.filter(({ name }) => name === 'POST /v1/static-export/jobs');
    const pauses = starts.slice(1).map(({ atMs }, index) => atMs - (starts[index]?.atMs ?? 0));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(35);
  });

  test.each([
    [
      400,
      'Unknown domain',
      'The platform doesn\'t accept docs.acme.com, so nothing was started. Check the spelling and type the command again.\nThe platform said: "Unknown domain"',
    ],
    [
      401,
      undefined,
      'My platform key was rejected, so nothing was started. Whoever runs Docket has to renew it.',
    ],
    [
      403,
      undefined,
      "Static export needs the Enterprise plan, and this organization doesn't seem to have it. Nothing was started.",
    ],
  ])('a start refused with %i says so', async (status, error, text) => {
    const body = error === undefined ? {} : { error };
    world.platform.wire.order('POST /v1/static-export/jobs', { kind: 'answer', status, body });
    await asks();
    const texts = await until(world, '#docs', ['❌', '— Not started']);
    expect(texts[1]).toContain(`❌ @ana ${text}`);
    expect(world.platform.starts).toEqual([]);
  });

  test('a start that the platform limits goes out by itself, and says until when it waits', async () => {
    const limited = { kind: 'answer', status: 429, headers: { 'retry-after': '1' } } as const;
    world.platform.wire.order('POST /v1/static-export/jobs', limited);
    await asks();
    await until(world, '#docs', [
      "Queued\nThe platform's limit is reached; nothing is lost. I go on about TIME.",
    ]);
    await until(world, '#docs', ['42%']);
    expect(world.platform.starts).toHaveLength(1);
  });

  test('a link that cannot be had is told, and had later by a click', async () => {
    await onlyBot({ timing: { giveUpMs: 400 } });
    const bundle = 'POST /v1/static-export/jobs/{jobId}/bundle';
    world.platform.wire.order(bundle, { kind: 'answer', status: 500 }, 1000);
    await asks();
    await until(world, '#docs', ['42%']);
    world.platform.finish('docs.acme.com');
    await until(world, '#docs', ["couldn't get a download link yet", '— Done, without a link yet']);
    world.platform.wire.clear();
    await person('ana').clicks(messageWith(world, "couldn't get"), 'Try again');
    await until(world, '#docs', ['is ready']);
    expect(world.platform.starts).toHaveLength(1);
  });

  test('a job that the platform forgets is told as lost', async () => {
    await asks();
    await until(world, '#docs', ['42%']);
    world.platform.forget('docs.acme.com');
    await until(world, '#docs', [
      '❌ @ana The platform no longer knows the export of docs.acme.com (404).\n[Start another]',
      '— Lost',
    ]);
  });

  test('a platform that is away while the job runs is told after a while, and again when it is back', async () => {
    await asks();
    await until(world, '#docs', ['42%']);
    world.platform.wire.order('GET /v1/static-export/jobs/{jobId}', { kind: 'answer', status: 503 }, 60);
    await until(world, '#docs', ["I can't reach the platform and keep trying; the job itself may be fine."]);
    world.platform.wire.clear();
    await world.slack.until(() => sees(world, '#docs').every((text) => !text.includes("can't reach")));
    world.platform.finish('docs.acme.com');
    await until(world, '#docs', ['is ready']);
    expect(world.slack.messages).toHaveLength(3);
  });

  test('a watch that takes too long ends, and goes on by a click', async () => {
    await onlyBot({ timing: { watchMs: 700 } });
    await asks();
    await until(world, '#docs', [
      '⌛ @ana I stopped watching the export of docs.acme.com after 1 s. It may still finish.\n[Check now]',
      '— No longer watched',
    ]);
    world.platform.finish('docs.acme.com');
    await person('ana').clicks(messageWith(world, 'stopped watching'), 'Check now');
    await until(world, '#docs', ['is ready', '— Done']);
    expect(world.platform.starts).toHaveLength(1);
  });
});

test('[Refresh] looks at once, and a second click right after it does nothing', async () => {
  await onlyBot({ timing: { lookMinMs: 60_000, lookMaxMs: 60_000 } });
  const looks = () => world.platform.wire.calls.filter(({ name }) => name.startsWith('GET')).length;
  world.platform.plan({ holdAt: 0.1, durationMs: 1 });
  await asks();
  await until(world, '#docs', ['[Refresh]']);
  const atMs = Date.now();
  world.platform.hold('docs.acme.com', 0.8);
  const before = looks();
  // What was looked at just now is not looked at again: the click counts once its look is two seconds old.
  await expect.poll(() => Date.now() - atMs, { timeout: 5000 }).toBeGreaterThan(2100);
  await person('ben').clicks(messageWith(world, '[Refresh]'), 'Refresh');
  await until(world, '#docs', ['80%']);
  await person('ben').clicks(messageWith(world, '80%'), 'Refresh');
  expect(looks()).toBe(before + 1);
});

describe('a start without an answer', () => {
  const lose = (when: 'before' | 'after') =>
    world.platform.wire.order('POST /v1/static-export/jobs', { kind: 'reset', when });
  const QUESTION =
    "⚠️ @ana The platform gave no clear answer, so I can't tell whether the export of docs.acme.com started.\nLook in the platform's dashboard before you start it again.\n[Start again] [Leave it]";

  test.each(['before', 'after'] as const)(
    '(lost %s it took effect) is asked about, never repeated',
    async (when) => {
      lose(when);
      await asks();
      const texts = await until(world, '#docs', ['⚠️', 'Start unclear']);
      expect(texts).toEqual([`${CARD} — Start unclear\nAsked for by @ana · details in the thread`, QUESTION]);
      expect(world.platform.starts).toHaveLength(when === 'after' ? 1 : 0);
      expect(notified(world, 'ana')).toBe(1);
    },
  );

  test('is started again by a click, once, whoever clicks how often', async () => {
    lose('before');
    await asks();
    await until(world, '#docs', ['⚠️']);
    const question = messageWith(world, '⚠️');
    const before = structuredClone(question);
    await Promise.all([
      person('ben').clicks(question, 'Start again'),
      person('ben').clicks(question, 'Start again'),
      person('ana').clicks(question, 'Start again'),
    ]);
    await until(world, '#docs', [
      '42%',
      'The platform gave no clear answer to the first start. Started again by @',
    ]);
    await person('ana').clicks(Object.assign(before, { deleted: false }), 'Leave it');
    expect(world.platform.starts).toHaveLength(1);
    world.platform.finish('docs.acme.com');
    await until(world, '#docs', ['is ready']);
    expect(world.slack.messages).toHaveLength(4);
  });

  test('is left at that by a click', async () => {
    lose('after');
    await asks();
    await until(world, '#docs', ['⚠️']);
    await person('ana').clicks(messageWith(world, '⚠️'), 'Leave it');
    await until(world, '#docs', ['The platform gave no clear answer to the start. Left at that by @ana.']);
    await asks();
    await until(world, '#docs', ['42%']);
    expect(world.platform.starts).toHaveLength(2);
  });

  test('keeps others from starting the same until it is answered', async () => {
    lose('after');
    await asks();
    await until(world, '#docs', ['⚠️']);
    const answer = await person('ben').types('#docs', '/docs-export docs.acme.com');
    expect(told(answer)).toBe(
      "I can't tell whether @ana's export of docs.acme.com started, so I start no other. Answer the question in its thread first.\n[Open thread]",
    );
  });
});

describe('asked for again', () => {
  test('an export that runs already is told privately, with the way to it', async () => {
    await asks();
    await until(world, '#docs', ['42%']);
    const answer = await person('ben').types('#docs', '/docs-export docs.acme.com');
    expect(told(answer)).toBe(
      'An export of docs.acme.com is at 42% (started by @ana 1 s ago).\n[Open thread] [Notify me too] [Start another]',
    );
    expect(await person('ben').clicks(answer.ephemeral as never, 'Open thread')).toMatchObject({ ok: true });
    expect(world.platform.starts).toHaveLength(1);
  });

  test('from elsewhere, no way into a conversation that the asker may not see is shown', async () => {
    await asks('#private');
    await until(world, '#private', ['42%']);
    const answer = await person('ben').types('#docs', '/docs-export docs.acme.com');
    expect(told(answer)).toBe(
      'An export of docs.acme.com is at 42% (started by @ana 1 s ago).\n[Notify me too] [Start another]',
    );
  });

  test('whoever wants to be told too is mentioned in the ending, once, however often they click', async () => {
    await asks();
    await until(world, '#docs', ['42%']);
    const { ephemeral } = await person('ben').types('#docs', '/docs-export docs.acme.com');
    if (!ephemeral) throw new Error('no answer');
    await person('ben').clicks(ephemeral, 'Notify me too');
    await person('ben').clicks(messageWith(world, '42%'), 'Notify me too');
    expect(
      sees(world, '#docs', 'ben').filter((text) => text === "I'll mention you when it ends."),
    ).toHaveLength(2);
    world.platform.finish('docs.acme.com');
    const texts = await until(world, '#docs', ['is ready', '— Done']);
    expect(texts.at(-1)).toContain('✅ @ana @ben The export of docs.acme.com is ready');
    expect(notified(world, 'ben')).toBe(1);
    expect(notified(world, 'ana')).toBe(1);
    expect(world.slack.messages).toHaveLength(3);
  });

  test('another one is started by a click, once, and leaves the first alone', async () => {
    await asks();
    await until(world, '#docs', ['42%']);
    const { ephemeral } = await person('ben').types('#docs', '/docs-export docs.acme.com');
    if (!ephemeral) throw new Error('no answer');
    await Promise.all([
      person('ben').clicks(ephemeral, 'Start another'),
      person('ben').clicks(ephemeral, 'Start another'),
    ]);
    await world.slack.until(() => sees(world, '#docs').filter((text) => text.includes('42%')).length === 2);
    expect(world.platform.starts).toHaveLength(2);
    const third = await person('ana').types('#docs', '/docs-export docs.acme.com');
    expect(told(third)).toContain('started by @ana');
    for (const { jobId } of world.platform.starts) world.platform.finish(jobId);
    await world.slack.until(
      () => sees(world, '#docs').filter((text) => text.includes('is ready')).length === 2,
    );
  });

  test('after its end it is a new export', async () => {
    for (const count of [1, 2]) {
      await asks();
      await world.slack.until(() => world.platform.starts.length === count);
      world.platform.finish('docs.acme.com');
      await world.slack.until(
        () => sees(world, '#docs').filter((text) => text.includes('is ready')).length === count,
      );
    }
  });
});

test('at log level trace there is no secret in the log either', async () => {
  await onlyBot({ env: { LOG_LEVEL: 'trace' } });
  await asks();
  await until(world, '#docs', ['42%']);
  world.platform.finish('docs.acme.com');
  await until(world, '#docs', ['is ready', 'Done · ', '— Done']);
  await world.slack.until(() => world.bots.at(-1)?.output().includes('"level":10'));
});

describe('refused at once, privately, before anything starts', () => {
  test.each([
    [
      '/docs-export https://docs.acme.com/v2',
      "https://docs.acme.com/v2 isn't a host name. Did you mean docs.acme.com?\n[Use it]",
    ],
    ['/docs-export localhost', "localhost isn't a host name. Type it like docs.acme.com."],
    [
      '/docs-export docs.acme.com --fast',
      'Type one domain and nothing else, such as /docs-export docs.acme.com',
    ],
    ['/docs-export ""', 'Which site? Type /docs-export docs.acme.com with your own domain.'],
    ['/docs-export', 'Which site? Type /docs-export docs.acme.com with your own domain.'],
  ])('%s', async (line, text) => {
    expect(told(await asks('#docs', line))).toBe(text);
    expect(world.slack.messages).toEqual([]);
    expect(world.platform.wire.calls).toEqual([]);
  });

  test('"Use it" starts what was meant, once', async () => {
    const { ephemeral } = await asks('#docs', '/docs-export https://docs.acme.com/v2');
    if (!ephemeral) throw new Error('no answer');
    await Promise.all([person('ana').clicks(ephemeral, 'Use it'), person('ana').clicks(ephemeral, 'Use it')]);
    await until(world, '#docs', ['42%']);
    expect(world.platform.starts).toHaveLength(1);
  });

  test('help', async () => {
    expect(told(await asks('#docs', '/docs-export help'))).toBe(
      '/docs-export [domain]\nExports a docs site as a static bundle and posts the download link when it is ready.\nFor example: /docs-export docs.acme.com',
    );
  });

  test.each(['gus', 'sue'] as const)(
    '%s, a guest, may not start anything, nor press a button',
    async (guest) => {
      const answer = await person(guest).types('#docs', '/docs-export docs.acme.com');
      expect(told(answer)).toContain("You can't start exports here");
      world.platform.wire.order('POST /v1/static-export/jobs', { kind: 'reset', when: 'before' });
      await asks();
      await until(world, '#docs', ['⚠️']);
      await person(guest).clicks(messageWith(world, '⚠️'), 'Start again');
      expect(sees(world, '#docs', guest).at(-1)).toContain("You can't start exports here");
      expect(world.platform.starts).toEqual([]);
    },
  );

  test('a workspace whose Slack does not tell in time who asks', async () => {
    world.slack.wire.order('users.info', { kind: 'hang', when: 'before' });
    const answer = await asks();
    expect(told(answer)).toBe(
      "Slack didn't tell me in time who you are, so nothing was started. Try again in a moment.",
    );
    await asks();
    await until(world, '#docs', ['42%']);
  });
});

describe('requests that are not what Slack sends', () => {
  const statusOf = async (request: Parameters<World['slack']['sendRaw']>[0]) =>
    (await world.slack.sendRaw(request)).status;
  const nowSec = () => Math.floor(Date.now() / 1000);

  test('another secret, an old and a future timestamp are refused', async () => {
    await asks('#docs', '/docs-export help');
    const { body } = world.slack.lastRequest ?? { body: '' };
    expect(await statusOf({ body, secret: 'some-other-signing-secret' })).toBe(401);
    expect(await statusOf({ body, timestampSec: nowSec() - 360 })).toBe(401);
    expect(await statusOf({ body, timestampSec: nowSec() + 360 })).toBe(401);
    expect(await statusOf({ body })).toBe(200);
  });

  test('another workspace is told that nothing was started', async () => {
    await asks('#docs', '/docs-export help');
    const body = (world.slack.lastRequest?.body ?? '')
      .replace(/team_id=\w+/, 'team_id=T0OTHER')
      .replace('text=help', 'text=docs.acme.com');
    const answer = await world.slack.sendRaw({ body });
    expect(answer.body).toContain('belongs to another workspace');
    expect(world.platform.wire.calls).toEqual([]);
  });

  test('a button of a version that is gone is answered and does nothing', async () => {
    await asks();
    await until(world, '#docs', ['42%']);
    world.platform.fail('docs.acme.com');
    await until(world, '#docs', ['[Try again]']);
    const message = messageWith(world, 'failed at');
    const blocks = JSON.parse(JSON.stringify(message.blocks).replace('export.try_again', 'export.no_longer'));
    await person('ana').clicks(Object.assign(message, { blocks }), 'Try again');
    expect(sees(world, '#docs').at(-1)).toBe(
      'This button is from another version of me and no longer works. Use a newer message, or type the command again.',
    );
  });
});

test('a person who is named like a mention mentions nobody', async () => {
  const user = world.slack.workspace.users.find(({ name }) => name === 'ben');
  if (user) Object.assign(user, { name: 'x<!channel>', realName: '<!channel> @here *b* <@U0ANA>' });
  await world.slack.person('ben').types('#docs', '/docs-export docs.acme.com');
  await until(world, '#docs', ['42%']);
  expect(world.slack.messages.flatMap(({ notifies }) => notifies)).toEqual([]);
});

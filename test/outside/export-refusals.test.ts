import { describe, expect, test } from 'vitest';
import { stage } from '../support/flows/stage.ts';

describe('refused at once, privately, before anything starts', () => {
  const scene = stage();
  const { asks, exporting, clicks, person, told, until, toldLast, messageWith } = scene;

  test.each([
    [
      '/docs-export https://docs.acme.com/v2',
      "https://docs.acme.com/v2 isn't a host name. Did you mean docs.acme.com?\n[Export docs.acme.com]",
    ],
    ['/docs-export localhost', "localhost isn't a host name. Type it like docs.acme.com."],
    ...['cancel', 'cancel se_3f9a77bd04c24a06', 'stop', 'cancel docs.acme.com'].map((typed) => [
      `/docs-export ${typed}`,
      "Exports can't be cancelled once started; an unwanted one does no harm.",
    ]),
  ])('%s', async (line, text) => {
    expect(told(await asks(line))).toBe(text);
    expect(scene.slack.messages).toEqual([]);
    expect(scene.platform.wire.calls).toEqual([]);
  });

  test('[Export docs.acme.com] starts what was meant, once, with the options that were typed', async () => {
    const { ephemeral } = await asks(
      '/docs-export --version “spring release” https://docs.acme.com/v2 --paths /guides,/api --private',
    );
    if (!ephemeral) throw new Error('no answer');
    await Promise.all([
      person('ana').clicks(ephemeral, 'Export docs.acme.com'),
      person('ana').clicks(ephemeral, 'Export docs.acme.com'),
    ]);
    await until([
      '42%',
      '⏳ Exporting · docs.acme.com spring release\nRequested by ana · only /guides and 1 more',
    ]);
    expect(scene.platform.starts).toMatchObject([
      { domain: 'docs.acme.com', version: 'spring release', paths: ['guides', 'api'] },
    ]);
    expect(scene.slack.ephemerals).toHaveLength(1);
    scene.platform.finish('docs.acme.com');
    await until(['link sent privately\n[Get my own link]']);
  });

  test('[Export docs.acme.com] tells of an export that runs already', async () => {
    await exporting(undefined, { who: 'ben' });
    const { ephemeral } = await asks('/docs-export https://docs.acme.com');
    await person('ana').clicks(ephemeral as never, 'Export docs.acme.com');
    expect(toldLast('ana')).toContain(
      'docs.acme.com is already being exported: 42%, requested by ben 1 s ago.\n[Open thread] [Notify me too] [Start another]',
    );
    expect(scene.platform.starts).toHaveLength(1);
  });

  test('a button of a version that is gone is answered and does nothing', async () => {
    await exporting();
    scene.platform.fail('docs.acme.com');
    await until(['[Try again]']);
    const message = messageWith('at 42%, after');
    const blocks = JSON.parse(JSON.stringify(message.blocks).replace('export.try_again', 'export.no_longer'));
    await person('ana').clicks(Object.assign(message, { blocks }), 'Try again');
    expect(toldLast('ana')).toBe(
      'This button is from another version of me and no longer works. Use a newer message, or type the command again.',
    );
  });

  test('what breaks on our side is told with the reference that the log has', async () => {
    await exporting();
    scene.platform.fail('docs.acme.com');
    await until(['at 42%, after', '❌ Export failed · docs.acme.com']);
    const { client } = scene.world.redis;
    for (const key of await client.keys('{docket}:run:*')) await client.hset(key, 'json', '{"job":"export"}');
    await clicks('ana', 'at 42%, after', 'Try again');
    const last = scene.slack.ephemerals.at(-1);
    const ref = /^Something broke on my side\. ref (\w{4,})$/.exec(last ? scene.slack.read(last) : '')?.[1];
    expect(ref).toBeDefined();
    const logged = () => {
      const lines = scene.world.bots.flatMap((bot) => bot.output().split('\n'));
      return lines.filter((line) => line.includes(`"ref":"${ref}"`));
    };
    await scene.slack.until(() => logged().length > 0);
    expect(logged()).toEqual([expect.stringContaining('request failed')]);
  });
});

describe('a domain that is a letter or two away from a known one is asked about, privately', () => {
  const scene = stage({
    bot: { env: { DOCS_DOMAIN: 'docs.acme.com' } },
    platform: { domains: ['docs.acme.com', 'docs.acm.com'], exportPlan: { holdAt: 0.42, durationMs: 40 } },
  });
  const { asks, person, told, toldLast, until } = scene;
  const question = "I don't know SITE. Did you mean docs.acme.com? Nothing was started.";
  const buttons = '\n[Export docs.acme.com] [Export SITE]';

  test.each(['docs.acm.com', 'dosc.acme.com', 'DOC.acme.com'])('%s', async (typed) => {
    const site = typed.toLowerCase();
    expect(told(await asks(`/docs-export ${typed}`))).toBe((question + buttons).replaceAll('SITE', site));
    expect(scene.slack.messages).toEqual([]);
    expect(scene.platform.wire.calls).toEqual([]);
  });

  test('its button exports the known one, as it was asked for', async () => {
    const { ephemeral } = await asks('/docs-export docs.acm.com --paths guides/start');
    if (!ephemeral) throw new Error('no answer');
    await person('ana').clicks(ephemeral, 'Export docs.acme.com');
    await until(['42%']);
    expect(scene.platform.starts).toMatchObject([{ domain: 'docs.acme.com' }]);
    expect(scene.platform.starts[0]?.paths).toHaveLength(1);
  });

  test('[Export …] asks the platform for the one that was typed', async () => {
    const { ephemeral } = await asks('/docs-export docs.acm.com');
    if (!ephemeral) throw new Error('no answer');
    await person('ana').clicks(ephemeral, 'Export docs.acm.com');
    await until(['42%']);
    expect(scene.platform.starts).toMatchObject([{ domain: 'docs.acm.com' }]);
  });

  test('so is one in a mention, once it is to be exported', async () => {
    await person('ana').says('#docs', '@Docket export docs.acm.com');
    const offer = await scene.slack.until(() => scene.slack.ephemerals.at(-1));
    await person('ana').clicks(offer, 'Export docs.acm.com');
    expect(toldLast('ana')).toBe((question + buttons).replaceAll('SITE', 'docs.acm.com'));
    expect(scene.platform.wire.calls).toEqual([]);
  });

  test('a domain further away is not', async () => {
    await asks('/docs-export help.acme.com');
    await scene.slack.until(() => scene.platform.wire.calls.length > 0);
  });
});

describe('a domain that is near one of those set up, and is not set up itself,', () => {
  const scene = stage({ bot: { config: 'projects:\n  acme:\n    domains: [docs.acme.com]\n' } });

  test('has a button for that one alone', async () => {
    const { told, asks, person, until } = scene;
    const answer = await asks('/docs-export docs.acm.com --private');
    expect(told(answer)).toBe(
      "I don't know docs.acm.com. Did you mean docs.acme.com? Nothing was started.\n[Export docs.acme.com]",
    );
    await person('ana').clicks(answer.ephemeral as never, 'Export docs.acme.com');
    await until(['42%']);
  });
});

describe('what the platform refuses at the start leaves nothing in the channel', () => {
  const scene = stage();
  const { asks, exporting, person, sees, toldLast, until } = scene;
  const START = 'POST /v1/static-export/jobs';
  const refuse = (status: number, error: string) =>
    scene.platform.wire.order(START, { kind: 'answer', status, body: { error } });
  const refused = (reason: string) =>
    scene.slack.until(() => (toldLast('ana') ?? '').includes(`The platform said: "${reason}"\n[Try again]`));
  const nothingIsLeft = () => scene.slack.until(() => scene.slack.messages.every(({ deleted }) => deleted));

  test.each([
    [400, 'Unknown domain'],
    [403, "Static export isn't enabled for this organization"],
    [404, 'No such thing'],
  ])('%i: whoever asked is told privately, with [Try again]', async (status, reason) => {
    refuse(status, reason);
    await asks();
    await refused(reason);
    await nothingIsLeft();
    expect(sees()).toEqual([toldLast('ana')]);
    expect(scene.slack.messages).toHaveLength(1);
  });

  test('[Try again] starts it once more, with a card of its own, and is told again', async () => {
    refuse(400, 'Unknown domain');
    await asks();
    await refused('Unknown domain');
    await nothingIsLeft();
    refuse(400, 'Still unknown');
    await person('ana').clicks(scene.slack.ephemerals.at(-1) as never, 'Try again');
    await refused('Still unknown');
    await nothingIsLeft();
    await person('ana').clicks(scene.slack.ephemerals.at(-1) as never, 'Try again');
    await until(['42%', '⏳ Exporting · docs.acme.com']);
    expect(scene.platform.starts).toHaveLength(1);
    expect(scene.slack.messages.filter(({ deleted }) => !deleted)).toHaveLength(2);
  });

  test('a card that Slack does not delete says so instead', async () => {
    scene.slack.wire.order('chat.delete', {
      kind: 'answer',
      status: 200,
      body: { ok: false, error: 'cant_delete_message' },
    });
    refuse(400, 'Unknown domain');
    await asks();
    await until(['❌ Not started · docs.acme.com']);
    await refused('Unknown domain');
    expect(scene.slack.messages).toHaveLength(1);
  });

  test.each([
    ['lost on the way', { kind: 'reset', when: 'before' }],
    ['made, without an answer', { kind: 'reset', when: 'after' }],
  ] as const)('a deletion that is %s is made once more', async (_, trouble) => {
    scene.slack.wire.order('chat.delete', trouble);
    refuse(400, 'Unknown domain');
    await asks();
    await refused('Unknown domain');
    await nothingIsLeft();
    expect(scene.slack.messages).toHaveLength(1);
  });

  test('an attempt that is refused after one that ran keeps the thread', async () => {
    await exporting();
    scene.platform.fail('docs.acme.com');
    await until(['at 42%, after', '❌ Export failed · docs.acme.com']);
    refuse(400, 'Unknown domain');
    await scene.clicks('ana', 'at 42%, after', 'Try again');
    await until(['The platform said: "Unknown domain"', '❌ Not started · docs.acme.com']);
  });
});

describe('refused for a while', () => {
  const scene = stage();
  const { asks, exporting, told } = scene;

  test('a workspace whose Slack does not tell in time who asks', async () => {
    scene.slack.wire.order('users.info', { kind: 'hang', when: 'before' });
    expect(told(await asks())).toBe(
      'Slack took too long to say who you are, so nothing was started. Try again in a moment.',
    );
    await exporting();
  });
});

describe('at log level trace', () => {
  const scene = stage({ bot: { env: { LOG_LEVEL: 'trace' } } });

  test('there is no secret in the log either', async () => {
    await scene.exporting();
    scene.platform.finish('docs.acme.com');
    await scene.until([', took', '✅ Exported · docs.acme.com']);
    await scene.slack.until(() => scene.world.bots.at(-1)?.output().includes('"level":20'));
  });
});

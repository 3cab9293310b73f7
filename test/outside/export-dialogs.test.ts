import { describe, expect, test } from 'vitest';
import { stage } from '../support/flows/stage.ts';

describe('/docs-export without a domain', () => {
  const scene = stage();
  const { asks, exporting, person, told, sees, until, toldLast, notified } = scene;
  const ana = () => person('ana');
  const fields = () =>
    ana()
      .fields()
      .map(({ label, value, error }) => [label, value, error].filter(Boolean).join(': '));

  test('keeps the options that were typed', async () => {
    await asks('/docs-export --version “spring release” --paths /guides,/api --private');
    expect(fields()).toEqual([
      'Domain',
      'Version: spring release',
      'Paths: /guides, /api',
      'Who gets the download link: Only me, by direct message',
    ]);
  });

  test('shows each problem at its field, and starts nothing until they are mended', async () => {
    await asks('/docs-export');
    await ana().submits({
      Domain: 'https://docs.acme.com/v2',
      Version: 'x'.repeat(101),
      Paths: '/guides api',
    });
    expect(fields()).toEqual([
      "Domain: https://docs.acme.com/v2: https://docs.acme.com/v2 isn't a host name. Did you mean docs.acme.com?",
      `Version: ${'x'.repeat(101)}: A version has at most 100 characters, and this one has 101. Shorten it.`,
      'Paths: /guides api: “/guides api” has a space in it. Put commas between paths: /guides,/api.',
      'Who gets the download link: Everyone in the thread',
    ]);
    expect(scene.slack.messages).toEqual([]);
    await ana().submits({ Domain: 'docs.acme.com', Version: '1.2', Paths: '/guides\n/api' });
    expect(ana().modal()).toBeUndefined();
    await until(['42%']);
    expect(scene.platform.starts).toMatchObject([
      { domain: 'docs.acme.com', version: '1.2', paths: ['guides', 'api'] },
    ]);
  });

  test('the card comes where the command was typed, and the link to who did', async () => {
    await asks('/docs-export', { where: '#private' });
    await ana().submits({
      Domain: 'Docs.Acme.com',
      'Who gets the download link': 'Only me, by direct message',
    });
    expect(ana().modal()).toBeUndefined();
    await until(['⏳ Exporting · docs.acme.com', 'Requested by ana', '42%'], '#private');
    scene.platform.finish('docs.acme.com');
    await until([', took', 'link sent privately\n[Get my own link]'], '#private');
    await until(
      ['✅ Exported · docs.acme.com · 12 pages, 1 byte, took 1 s\nRequested by ana', '[Download]'],
      '@ana',
    );
    expect(sees()).toEqual([]);
    // A direct message notifies without a mention, and once is enough.
    expect(sees('@ana')).toHaveLength(1);
    expect(notified('ana')).toBe(0);
  });

  test('where the bot may not post, that is told privately', async () => {
    await asks('/docs-export', { where: '#elsewhere' });
    await ana().submits({ Domain: 'docs.acme.com' });
    await until(["I can't post here yet, so nothing was started. Type /invite @Docket"], '#elsewhere');
    expect(scene.platform.starts).toEqual([]);
  });

  test('an export that runs already is told privately there, with buttons that work', async () => {
    await exporting('/docs-export docs.acme.com', { who: 'ben' });
    await asks('/docs-export');
    await ana().submits({ Domain: 'docs.acme.com' });
    expect(ana().modal()).toBeUndefined();
    expect(toldLast('ana')).toBe(
      'docs.acme.com is already being exported: 42%, requested by ben 1 s ago.\n[Open thread] [Notify me too] [Start another]',
    );
    const last = scene.slack.ephemerals.at(-1);
    if (last) await ana().clicks(last, 'Start another');
    await scene.slack.until(() => scene.platform.starts.length === 2);
  });

  test('submitted twice it is one export', async () => {
    await asks('/docs-export');
    const [first] = await Promise.all([
      ana().submits({ Domain: 'docs.acme.com' }),
      scene.slack
        .until(() => scene.slack.lastRequest?.body.includes('view_submission'))
        .then(() => scene.slack.resend()),
    ]);
    expect(first).toMatchObject({ ok: true });
    expect(await scene.slack.resend()).toMatchObject({ ok: true });
    await until(['42%']);
    expect(scene.platform.starts).toHaveLength(1);
    expect(toldLast('ana')).toBeUndefined();
  });

  test.each([
    ['refuses it', { kind: 'answer', status: 200, body: { ok: false, error: 'expired_trigger_id' } }],
    ['fails', { kind: 'answer', status: 500 }],
    ['does not answer', { kind: 'hang', when: 'before' }],
  ] as const)('when Slack %s, the fix is told privately and in time', async (_, fault) => {
    scene.slack.wire.order('views.open', fault, 5);
    const answer = await asks('/docs-export');
    expect(answer.tookMs).toBeLessThan(3000);
    expect(told(answer)).toBe(
      "Slack didn't open the form. Try again in a moment, or type the whole command. Add help to see how.",
    );
    expect(scene.platform.starts).toEqual([]);
  });

  test('submitted while Redis is away, it says that nothing was started', async () => {
    await asks('/docs-export');
    await scene.world.redis.kill();
    await ana().submits({ Domain: 'docs.acme.com' });
    expect(ana().reads(ana().modal())).toBe(
      "Export a docs site\nI can't keep track of work right now, so I start nothing I might lose. Try again in a minute.\n[Close]",
    );
    await scene.world.redis.start();
    expect(scene.platform.starts).toEqual([]);
  });
});

describe('a dialog of somebody who may no longer export', () => {
  const scene = stage({ bot: { timing: { permissionCacheMs: 0 } } });

  test('starts nothing, and says so', async () => {
    const ana = scene.person('ana');
    await scene.asks('/docs-export');
    const user = scene.slack.workspace.users.find(({ name }) => name === 'ana');
    if (user) user.isRestricted = true;
    await ana.submits({ Domain: 'docs.acme.com' });
    expect(ana.reads(ana.modal())).toBe(
      "Export a docs site\nYou can't start exports here, so nothing was started. Ask a full member of this workspace.\n[Close]",
    );
    expect(scene.platform.starts).toEqual([]);
    expect(await scene.audit()).toEqual(['ana export.start  → refused: not permitted']);
  });
});

import { describe, expect, test, vi } from 'vitest';
import { type Stage, stage } from '../support/flows/stage.ts';

const OWN = '✅ Exported · docs.acme.com';
const DONE = '12 pages, 1 byte, took 1 s\nRequested by ana · job se_…';
const UNTIL = 'the link works until TIME for anyone who has it';

const linkIn = (message: { blocks: unknown }) =>
  /https?:[^"]*X-Signature=[^"]*/.exec(JSON.stringify(message.blocks))?.[0];

/** Ana's export, finished, as far as the thread says so. */
async function finished(
  { asks, until, platform }: Stage,
  options: Parameters<Stage['asks']>[1] & { text?: string } = {},
) {
  const where = options.where ?? '#docs';
  await asks(options.text, options);
  await until(['42%'], where);
  platform.finish('docs.acme.com');
  return until([', took', '✅ Exported · docs.acme.com'], where);
}

/** Nobody but the person reads the link, and it works. */
async function onlyIn({ slack, sees }: Stage, who: 'ana' | 'gus') {
  await slack.until(() => sees(`@${who}`, who).length > 0);
  const holders = slack.messages.filter((message) => linkIn(message) !== undefined);
  expect(holders.map(({ channel }) => channel)).toEqual([slack.channel(`@${who}`).id]);
  expect((await fetch(linkIn(holders[0] ?? { blocks: [] }) ?? '')).status).toBe(200);
}

describe('a link for one person alone', () => {
  const scene = stage();
  const { clicks, sees, until, messageWith, notified, toldLast } = scene;

  test('with --private goes to the direct messages, and the thread says so', async () => {
    const texts = await finished(scene, { text: '/docs-export docs.acme.com --private' });
    expect(texts.at(-1)).toBe(`${OWN} · ${DONE} · link sent privately\n[Get my own link]`);
    await onlyIn(scene, 'ana');
    expect(sees('@ana')).toEqual([
      `${OWN} · ${DONE} · ${UNTIL}\n[Download] [⋯ New link] [⋯ Helm values] [⋯ Start another]`,
    ]);
    // The direct message notifies her.
    expect(notified('ana')).toBe(0);
  });

  test('[Get my own link] sends everybody one of their own, once', async () => {
    await finished(scene, { text: '/docs-export docs.acme.com --private' });
    await until(['link works'], '@ana');
    await clicks('ana', '[Get my own link]', 'Get my own link');
    expect(toldLast('ana')).toBe(
      'I already sent you a link, and it works until TIME: see your direct messages with me.',
    );
    await Promise.all([
      clicks('ben', '[Get my own link]', 'Get my own link'),
      clicks('ben', '[Get my own link]', 'Get my own link'),
    ]);
    await until(['[Download]'], '@ben', 'ben');
    expect(sees('@ben', 'ben')).toEqual([
      `✅ Your own link · docs.acme.com\n${UNTIL}\n[Download] [New link]`,
    ]);
    expect(linkIn(messageWith('Your own link'))).not.toBe(linkIn(messageWith('Helm values')));
    await clicks('ben', '[Get my own link]', 'Get my own link');
    expect(toldLast('ben')).toBe(
      'I already sent you a link, and it works until TIME: see your direct messages with me.',
    );
    expect(scene.platform.starts).toHaveLength(1);
    expect(scene.slack.messages).toHaveLength(5);
  });
});

describe('by the settings', () => {
  const config = 'links: requester\nallow:\n  export: [everyone, U0GUS]\n';
  const scene = stage({ bot: { config } });

  test('links: requester sends each link privately', async () => {
    const texts = await finished(scene);
    expect(texts.at(-1)).toContain('link sent privately\n[Get my own link]');
    await onlyIn(scene, 'ana');
  });
});

describe('of a guest who may export', () => {
  const scene = stage({ bot: { config: 'allow:\n  export: [everyone, U0GUS]\n' } });

  test('the link goes to the direct messages', async () => {
    const texts = await finished(scene, { who: 'gus' });
    expect(texts.at(-1)).toContain('link sent privately\n[Get my own link]');
    await onlyIn(scene, 'gus');
  });

  test('others each get one of their own', async () => {
    await finished(scene, { who: 'gus' });
    for (const who of ['ana', 'ben'] as const) {
      await scene.clicks(who, '[Get my own link]', 'Get my own link');
      await scene.until(['Your own link · docs.acme.com'], `@${who}`, who);
    }
    const links = scene.slack.messages.flatMap((message) => linkIn(message) ?? []);
    expect(new Set(links).size).toBe(3);
  });

  test('a full member still gets it in the thread', async () => {
    const texts = await finished(scene);
    expect(texts.at(-1)).toContain('[Download] [⋯ New link] [⋯ Helm values] [⋯ Start another]');
  });
});

describe('a link in the thread', () => {
  const scene = stage();
  const { person, until, messageWith, sees, toldLast } = scene;

  test('with a space in its address is encoded', async () => {
    const body = { bundleUrl: 'https://files.test/acme docs.tar.gz?X-Signature=0f9e8d7c6b5a49382716' };
    scene.platform.wire.order('POST /v1/static-export/jobs/{jobId}/bundle', {
      kind: 'answer',
      status: 200,
      body,
    });
    await finished(scene);
    const buttons = JSON.stringify(scene.messageWith(', took').blocks);
    expect(buttons).toContain('https://files.test/acme%20docs.tar.gz?X-Signature=0f9e8d7c6b5a49382716');
  });

  test('that ended in a message that somebody deleted is not told of', async () => {
    scene.platform.linkLifeMs = 1500;
    await finished(scene);
    scene.slack.workspace.remove(messageWith(', took'));
    await scene.slack.until(() =>
      scene.slack.wire.calls.some(({ detail }) => String(detail.text).includes('Link expired')),
    );
    const undelivered = () => scene.world.redis.client.zcard('{docket}:runs:active:outbox');
    await vi.waitFor(async () => expect(await undelivered()).toBe(0), 5000);
    expect(scene.slack.messages).toHaveLength(3);
  });

  test('can be had anew also while another export of the same site runs', async () => {
    await finished(scene);
    await scene.asks(undefined, { who: 'ben' });
    await scene.slack.until(() => scene.platform.starts.length === 2);
    const ending = messageWith(', took');
    const first = linkIn(ending);
    await person('ana').clicks(ending, 'New link');
    await scene.slack.until(() => linkIn(ending) !== first);
    expect(sees().filter((text) => text.includes(', took'))).toHaveLength(1);
  });

  test('[Helm values] of a private link are for nobody else', async () => {
    await finished(scene, { text: '/docs-export docs.acme.com --private' });
    await until(['link works'], '@ana');
    const leaked = {
      ...structuredClone(messageWith('link works')),
      channel: scene.slack.channel('#docs').id,
    };
    await person('ben').clicks(leaked, 'Helm values');
    expect(toldLast('ben')).toBe('This link went to somebody else. Choose [Get my own link] in the thread.');
    expect(person('ben').modal()).toBeUndefined();
    await person('ana').clicks(messageWith('link works'), 'Helm values');
    expect(person('ana').modal()).toBeDefined();
  });
});

import { describe, expect, test, vi } from 'vitest';
import { type Stage, stage } from '../support/flows/stage.ts';

const OWN = '✅ docs.acme.com is exported';
const UNTIL = 'The link works until TIME. Anyone who has it can download the bundle.';

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
  return until(['is exported', '✅ docs.acme.com exported', 'finished TIME'], where);
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
    expect(texts.at(-1)).toBe(
      '✅ @ana docs.acme.com is exported · 12 pages · 1 byte · took 1 s. I sent you the link privately.\n[Get my own link]',
    );
    await onlyIn(scene, 'ana');
    expect(sees('@ana')).toEqual([`${OWN}\n${UNTIL}\n[Download bundle] [Deployment settings] [⋯ New link]`]);
    expect(notified('ana')).toBe(1);
  });

  test('[Get my own link] sends everybody one of their own, once', async () => {
    await finished(scene, { text: '/docs-export docs.acme.com --private' });
    await until([OWN], '@ana');
    await clicks('ana', 'is exported · ', 'Get my own link');
    expect(toldLast('ana')).toBe(
      'I already sent you a link, and it works until TIME: see your direct messages with me.',
    );
    await Promise.all([
      clicks('ben', 'is exported · ', 'Get my own link'),
      clicks('ben', 'is exported · ', 'Get my own link'),
    ]);
    await until(['[Download bundle]'], '@ben', 'ben');
    expect(sees('@ben', 'ben')).toEqual([
      `Your own link to the export of docs.acme.com\n${UNTIL}\n[Download bundle] [⋯ New link]`,
    ]);
    expect(linkIn(messageWith('Your own link'))).not.toBe(linkIn(messageWith(OWN)));
    await clicks('ben', 'is exported · ', 'Get my own link');
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
    expect(texts.at(-1)).toContain('I sent you the link privately.\n[Get my own link]');
    await onlyIn(scene, 'ana');
  });
});

describe('of a guest who may export', () => {
  const scene = stage({ bot: { config: 'allow:\n  export: [everyone, U0GUS]\n' } });

  test('the link goes to the direct messages', async () => {
    const texts = await finished(scene, { who: 'gus' });
    expect(texts.at(-1)).toContain('✅ @gus docs.acme.com is exported');
    expect(texts.at(-1)).toContain('I sent you the link privately.\n[Get my own link]');
    await onlyIn(scene, 'gus');
  });

  test('others each get one of their own', async () => {
    await finished(scene, { who: 'gus' });
    for (const who of ['ana', 'ben'] as const) {
      await scene.clicks(who, 'is exported · ', 'Get my own link');
      await scene.until(['Your own link to the export of docs.acme.com'], `@${who}`, who);
    }
    const links = scene.slack.messages.flatMap((message) => linkIn(message) ?? []);
    expect(new Set(links).size).toBe(3);
  });

  test('a full member still gets it in the thread', async () => {
    const texts = await finished(scene);
    expect(texts.at(-1)).toContain('[Download bundle] [Deployment settings] [⋯ New link]');
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
    const buttons = JSON.stringify(scene.messageWith('is exported').blocks);
    expect(buttons).toContain('https://files.test/acme%20docs.tar.gz?X-Signature=0f9e8d7c6b5a49382716');
  });

  test('that ended in a message that somebody deleted is not told of', async () => {
    scene.platform.linkLifeMs = 1500;
    await finished(scene);
    scene.slack.workspace.remove(messageWith('is exported'));
    await scene.slack.until(() =>
      scene.slack.wire.calls.some(({ detail }) => String(detail.text).includes('🔒')),
    );
    const undelivered = () => scene.world.redis.client.zcard('{docket}:runs:active:outbox');
    await vi.waitFor(async () => expect(await undelivered()).toBe(0), 5000);
    expect(scene.slack.messages).toHaveLength(3);
  });

  test('can be had anew also while another export of the same site runs', async () => {
    await finished(scene);
    await scene.asks(undefined, { who: 'ben' });
    await scene.slack.until(() => scene.platform.starts.length === 2);
    const ending = messageWith('is exported');
    const first = linkIn(ending);
    await person('ana').clicks(ending, 'New link');
    await scene.slack.until(() => linkIn(ending) !== first);
    expect(sees().filter((text) => text.includes('is exported'))).toHaveLength(1);
  });

  test('[Deployment settings] of a private link are for nobody else', async () => {
    await finished(scene, { text: '/docs-export docs.acme.com --private' });
    await until([OWN], '@ana');
    const leaked = { ...structuredClone(messageWith(OWN)), channel: scene.slack.channel('#docs').id };
    await person('ben').clicks(leaked, 'Deployment settings');
    expect(toldLast('ben')).toBe('This link went to somebody else. Click [Get my own link] in the thread.');
    expect(person('ben').modal()).toBeUndefined();
    await person('ana').clicks(messageWith(OWN), 'Deployment settings');
    expect(person('ana').modal()).toBeDefined();
  });
});

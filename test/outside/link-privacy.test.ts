import { describe, expect, test, vi } from 'vitest';
import type { Call, Fault } from '../../demo/wire.ts';
import { type Stage, stage } from '../support/flows/stage.ts';

const OWN = '✅ Exported · docs.acme.com · 12 pages, ';
const PRIVATELY = 'link sent privately\n[Get my own link]';
const IN_THREAD = '[Download] [⋯ New link] [⋯ Helm values] [⋯ Start another]';
const NOBODY = "Slack doesn't let me send ana direct messages, so nobody has the link yet.";
const REFUSED = [
  '✅ Exported · docs.acme.com · 12 pages\nRequested by ana · link not sent',
  `✅ @ana Exported · docs.acme.com · 12 pages, 1 byte, took 1 s\n${NOBODY}\nRequested by ana · job se_… · link not sent · Slack's answer: messages_tab_disabled\n[Get my own link]`,
];

const INFO = 'conversations.info';
const slackError = (error: string, status = 200): Fault => ({
  kind: 'answer',
  status,
  body: { ok: false, error },
});
const limited: Fault = {
  kind: 'answer',
  status: 429,
  headers: { 'retry-after': '1' },
  body: { ok: false, error: 'ratelimited' },
};

const hasLink = ({ blocks }: { blocks: unknown }) => JSON.stringify(blocks).includes('X-Signature');

/** Where links can be read now. */
const holders = ({ slack }: Stage) =>
  slack.messages.flatMap((message) => (hasLink(message) ? [message.channel] : []));

const asked = ({ slack }: Stage) => slack.wire.calls.filter(({ name }) => name === INFO);

/** Waits until the only run waits for the end of its link: a click that meets a look is seen by the next one only. */
async function nobodyLooks({ world }: Stage) {
  const { client } = world.redis;
  const queue = '{docket}:docs-export';
  await vi.waitFor(async () => {
    const [, score] = await client.zrange(`${queue}:delayed`, '0', '0', 'WITHSCORES');
    // BullMQ keeps the time in all but the last twelve bits.
    expect(Number(score ?? 0) / 0x1000 - Date.now()).toBeGreaterThan(5000);
    for (const list of ['wait', 'active']) expect(await client.llen(`${queue}:${list}`)).toBe(0);
  }, 10_000);
}

/** Ana's export, finished, as far as the thread says so; answers its ending. */
async function finished({ exporting, until, platform }: Stage, where: string, text?: string) {
  await exporting(text, { where });
  platform.finish('docs.acme.com');
  const texts = await until([', took', '✅ Exported · docs.acme.com'], where);
  return texts.at(-1);
}

describe('a link that went to one person alone', () => {
  const scene = stage();
  const { clicks, until, messageWith, sees } = scene;

  test('stays private however often it is made anew, also when the channel is no longer shared', async () => {
    expect(await finished(scene, '#shared')).toContain(PRIVATELY);
    await until([OWN], '@ana');
    scene.slack.channel('#shared').shared = false;
    for (let times = 0; times < 2; times += 1) {
      const own = messageWith(OWN);
      const before = JSON.stringify(own.blocks);
      await nobodyLooks(scene);
      await clicks('ana', OWN, 'New link');
      await scene.slack.until(() => hasLink(own) && JSON.stringify(own.blocks) !== before);
      expect(holders(scene)).toEqual([own.channel]);
    }
    expect(sees('#shared').at(-1)).toContain(PRIVATELY);
    expect(scene.slack.messages).toHaveLength(4);
  });

  test('in the thread leaves it when the channel is shared by then', async () => {
    expect(await finished(scene, '#docs')).toContain(IN_THREAD);
    scene.slack.channel('#docs').shared = true;
    await clicks('ana', ', took', 'New link');
    await until([OWN], '@ana');
    await until([PRIVATELY]);
    // The card gives its link up with its next edit.
    await scene.slack.until(() => holders(scene).length === 1);
    expect(holders(scene)).toEqual([scene.slack.channel('@ana').id]);
  });
});

describe('when Slack does not tell whether the channel is shared', () => {
  const scene = stage();

  test.each<[string, Fault]>([
    ['429', limited],
    ['503', { kind: 'answer', status: 503 }],
    ['internal_error', slackError('internal_error')],
    ['a connection that breaks', { kind: 'reset', when: 'before' }],
    ['no answer', { kind: 'hang', when: 'before' }],
  ])('%s once: it is asked again, and the link is in the thread', async (_, fault) => {
    scene.slack.wire.order(INFO, fault);
    expect(await finished(scene, '#docs')).toContain(IN_THREAD);
    expect(asked(scene)).toHaveLength(2);
    // The card, and the ending in its thread.
    const { id } = scene.slack.channel('#docs');
    await scene.slack.until(() => holders(scene).length === 2);
    expect(holders(scene)).toEqual([id, id]);
  });

  test('at all: it is not asked again, and the link is private', async () => {
    scene.slack.wire.order(INFO, slackError('channel_not_found'), 1000);
    expect(await finished(scene, '#docs')).toContain(PRIVATELY);
    expect(asked(scene)).toHaveLength(1);
    await scene.until([OWN], '@ana');
  });
});

describe('when Slack does not tell for long whether the channel is shared', () => {
  const scene = stage({ bot: { timing: { giveUpMs: 700 } } });

  test.each<[string, Fault]>([
    ['503', { kind: 'answer', status: 503 }],
    ['a connection that breaks', { kind: 'reset', when: 'before' }],
  ])('%s: the link is private, and no link was made before that was known', async (_, fault) => {
    scene.slack.wire.order(INFO, fault, 1000);
    expect(await finished(scene, '#docs')).toContain(PRIVATELY);
    await scene.until([OWN], '@ana');
    expect(holders(scene)).toEqual([scene.slack.channel('@ana').id]);
    expect(asked(scene).length).toBeGreaterThan(2);
    const bundles = scene.platform.wire.calls.filter(({ name }) => name.endsWith('/bundle'));
    expect(bundles).toHaveLength(1);
    expect(bundles[0]?.atMs).toBeGreaterThanOrEqual(asked(scene).at(-1)?.atMs ?? Infinity);
  });
});

describe('when Slack takes no direct message', () => {
  const scene = stage();
  const { clicks, sees, until, messageWith, notified } = scene;
  const isDirect = ({ name, detail }: Call) =>
    name === 'chat.postMessage' && detail.channel === scene.slack.channel('@ana').id;

  test('the thread says that nobody has the link, and one can be had once Slack does', async () => {
    scene.slack.wire.order(isDirect, slackError('messages_tab_disabled'));
    await finished(scene, '#docs', '/docs-export docs.acme.com --private');
    await until(REFUSED);
    // An ending that says that the link was sent is gone, and mentioned nobody.
    await expect.poll(() => sees()).toEqual(REFUSED);
    expect(notified('ana')).toBe(1);
    expect(holders(scene)).toEqual([]);
    await clicks('ana', NOBODY, 'Get my own link');
    await until(['Your own link · docs.acme.com', '[Download]'], '@ana');
  });

  test.each(['iso', 'none'] as const)(
    'also when Slack says so only after the thread has its ending (dates: %s)',
    async (dates) => {
      scene.platform.plan({ holdAt: 0.42, durationMs: 40, dates });
      scene.slack.wire.order(isDirect, slackError('messages_tab_disabled'));
      const stop = scene.slack.wire.onCall(async (call, phase) => {
        if (phase !== 'before' || !isDirect(call)) return;
        await until([PRIVATELY]);
      });
      try {
        await scene.exporting('/docs-export docs.acme.com --private');
        scene.platform.finish('docs.acme.com');
        await until(REFUSED);
      } finally {
        stop();
      }
      await expect.poll(() => sees()).toEqual(REFUSED);
      expect(notified('ana')).toBe(1);
      expect(messageWith(', took').channel).toBe(scene.slack.channel('#docs').id);
      expect(holders(scene)).toEqual([]);
    },
  );
});

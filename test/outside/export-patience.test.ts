import { describe, expect, test } from 'vitest';
import { stage } from '../support/flows/stage.ts';

describe('with little patience', () => {
  const scene = stage({ bot: { timing: { giveUpMs: 400 } } });
  const { exporting, clicks, sees, until, messageWith } = scene;
  const bundle = 'POST /v1/static-export/jobs/{jobId}/bundle';

  test('a new link that cannot be had leaves the old one, and is told in a message of its own', async () => {
    await exporting();
    scene.platform.finish('docs.acme.com');
    await until([', took']);
    const ending = messageWith(', took');
    scene.platform.wire.order(bundle, { kind: 'answer', status: 503 }, 1000);
    await clicks('ana', ', took', 'New link');
    await until(['get a new download link']);
    expect(JSON.stringify(ending.blocks)).toContain('X-Signature');
    expect(scene.slack.messages).toHaveLength(4);
    scene.platform.wire.clear();
    await clicks('ana', 'get a new download link', 'New link');
    await scene.slack.until(() => sees().filter((text) => text.includes(', took')).length === 2);
    expect(scene.platform.starts).toHaveLength(1);
  });

  test('the old link of which that was said is taken out when it ends', async () => {
    scene.platform.linkLifeMs = 3000;
    await exporting();
    scene.platform.finish('docs.acme.com');
    await until([', took']);
    const ending = messageWith(', took');
    scene.platform.wire.order(bundle, { kind: 'answer', status: 503 }, 1000);
    await clicks('ana', ', took', 'New link');
    await until(['get a new download link', ', took']);
    await until([
      '⌛ Link expired · docs.acme.com\nThe export still exists, so a new link takes a second.\n[New link]',
    ]);
    expect(JSON.stringify(ending.blocks)).not.toContain('X-Signature');
    expect(sees().join('\n')).toContain('get a new download link');
    expect(scene.slack.messages).toHaveLength(4);
  });

  test('a private link stays private when another was tried for, though the channel is no longer shared', async () => {
    await exporting(undefined, { where: '#shared' });
    scene.platform.finish('docs.acme.com');
    await until(['✅ Exported · docs.acme.com'], '@ana');
    scene.slack.channel('#shared').shared = false;
    scene.platform.wire.order(bundle, { kind: 'answer', status: 503 }, 1000);
    await clicks('ana', '✅ Exported · docs.acme.com', 'New link');
    await until(['get a new download link'], '#shared');
    scene.platform.wire.clear();
    await clicks('ana', 'get a new download link', 'New link');
    await scene.slack.until(() => sees('@ana').filter((text) => text.includes(', took')).length === 2);
    await scene.slack.until(() => sees('#shared').filter((text) => text.includes(', took')).length === 2);
    const { id } = scene.slack.channel('#shared');
    const inThread = scene.slack.messages.filter(({ channel }) => channel === id);
    expect(JSON.stringify(inThread.map(({ blocks }) => blocks))).not.toContain('X-Signature');
  });
});

describe('an export that does not move', () => {
  const scene = stage({ bot: { timing: { stalledAfterMs: 500 } } });
  const { asks, exporting, sees, until } = scene;

  test('is told as such, without a new message, until it moves again', async () => {
    await exporting();
    await until([
      '⏳ Exporting · ▰▰▰▰▱▱▱▱▱▱ 42% · 5 pages so far · started TIME\nNo progress since TIME. Still checking.\njob se_…\n[Check now] [⋯ Notify me too]',
    ]);
    scene.platform.hold('docs.acme.com', 0.6);
    await scene.slack.until(
      () => sees().some((text) => /60% .* started TIME\njob se_…\n\[Check now\]/.test(text)),
      10_000,
      'a progress without the warning',
    );
    expect(scene.slack.messages).toHaveLength(2);
  });

  test('is not told as stalled when the platform tells no progress at all', async () => {
    scene.platform.plan({ progress: 'none', pageCount: 'none', holdAt: 0.5, durationMs: 10 });
    await asks();
    await until(['⏳ Exporting · started TIME']);
    const looks = () => scene.platform.wire.calls.filter(({ name }) => name.startsWith('GET'));
    await scene.slack.until(() => (looks().at(-1)?.atMs ?? 0) - (looks()[0]?.atMs ?? 0) > 900);
    expect(sees().join()).not.toContain('No progress');
  });
});

describe('a watch that takes too long', () => {
  const scene = stage({ bot: { timing: { watchMs: 700 } } });
  const { asks, clicks, until } = scene;

  test('ends, and goes on by a click', async () => {
    await asks();
    await until([
      '⌛ @ana No longer watched · docs.acme.com\nI stopped watching it after 1 s. It may still finish.\nRequested by ana · job se_…\n[Check now]',
      '⌛ No longer watched · docs.acme.com',
    ]);
    scene.platform.finish('docs.acme.com');
    await clicks('ana', 'stopped watching', 'Check now');
    await until([', took', '✅ Exported · docs.acme.com']);
    expect(scene.platform.starts).toHaveLength(1);
  });
});

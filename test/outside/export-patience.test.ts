import { describe, expect, test } from 'vitest';
import { stage } from '../support/flows/stage.ts';

describe('with little patience', () => {
  const scene = stage({ bot: { timing: { giveUpMs: 400 } } });
  const { exporting, clicks, sees, until, messageWith } = scene;
  const bundle = 'POST /v1/static-export/jobs/{jobId}/bundle';

  test('a new link that cannot be had leaves the old one, and is told in a message of its own', async () => {
    await exporting();
    scene.platform.finish('docs.acme.com');
    await until(['is exported']);
    const ending = messageWith('is exported');
    scene.platform.wire.order(bundle, { kind: 'answer', status: 503 }, 1000);
    await clicks('ana', 'is exported', 'New link');
    await until(['could not get a new download link yet']);
    expect(JSON.stringify(ending.blocks)).toContain('X-Signature');
    expect(scene.slack.messages).toHaveLength(4);
    scene.platform.wire.clear();
    await clicks('ana', 'could not get', 'Get the link');
    await scene.slack.until(() => sees().filter((text) => text.includes('is exported · ')).length === 2);
    expect(scene.platform.starts).toHaveLength(1);
  });

  test('the old link of which that was said is taken out when it ends', async () => {
    scene.platform.linkLifeMs = 3000;
    await exporting();
    scene.platform.finish('docs.acme.com');
    await until(['is exported']);
    const ending = messageWith('is exported');
    scene.platform.wire.order(bundle, { kind: 'answer', status: 503 }, 1000);
    await clicks('ana', 'is exported', 'New link');
    await until(['could not get a new download link yet', 'is exported · ']);
    await until(['🔒 The link ended TIME. The export is still there.\n[New link]']);
    expect(JSON.stringify(ending.blocks)).not.toContain('X-Signature');
    expect(sees().join('\n')).toContain('could not get a new download link yet');
    expect(scene.slack.messages).toHaveLength(4);
  });

  test('a private link stays private when another was tried for, though the channel is no longer shared', async () => {
    await exporting(undefined, { where: '#shared' });
    scene.platform.finish('docs.acme.com');
    await until(['✅ docs.acme.com is exported'], '@ana');
    scene.slack.channel('#shared').shared = false;
    scene.platform.wire.order(bundle, { kind: 'answer', status: 503 }, 1000);
    await clicks('ana', '✅ docs.acme.com is exported', 'New link');
    await until(['could not get a new download link yet'], '#shared');
    scene.platform.wire.clear();
    await clicks('ana', 'could not get', 'Get the link');
    await scene.slack.until(() => sees('@ana').filter((text) => text.includes('is exported')).length === 2);
    await scene.slack.until(
      () => sees('#shared').filter((text) => text.includes('is exported · ')).length === 2,
    );
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
      '⏳ Exporting · ▰▰▰▰▱▱▱▱▱▱ 42% · 5 pages so far · started TIME\nNo progress since TIME. Still checking.\njob se_…\n[Refresh] [Notify me too]',
    ]);
    scene.platform.hold('docs.acme.com', 0.6);
    await scene.slack.until(
      () => sees().some((text) => /60% .* started TIME\njob se_…\n\[Refresh\]/.test(text)),
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
      '💤 @ana I stopped watching the export of docs.acme.com after 1 s. It may still finish.\n[Check now]',
      '💤 No longer watched · docs.acme.com',
    ]);
    scene.platform.finish('docs.acme.com');
    await clicks('ana', 'stopped watching', 'Check now');
    await until(['is exported', '✅ docs.acme.com exported']);
    expect(scene.platform.starts).toHaveLength(1);
  });
});

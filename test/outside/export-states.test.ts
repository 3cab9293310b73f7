import { describe, expect, test } from 'vitest';
import { stage } from '../support/flows/stage.ts';

const ASKED = 'Requested by ana';

describe('an export that goes well', () => {
  const scene = stage();
  const { asks, person, sees, until, messageWith, notified } = scene;

  test('is one card, one progress that is edited, and one ending with a link that works', async () => {
    const answer = await asks();
    expect(answer).toMatchObject({ ok: true });
    expect(answer.ephemeral).toBeUndefined();
    await expect
      .poll(() => sees())
      .toEqual([
        `⏳ Exporting · docs.acme.com\n${ASKED}`,
        '⏳ Exporting · ▰▰▰▰▱▱▱▱▱▱ 42% · 5 pages so far · started TIME\njob se_…\n[Check now] [⋯ Notify me too]',
      ]);

    scene.platform.finish('docs.acme.com');
    await until([', took', '✅ Exported · docs.acme.com']);
    await expect
      .poll(() => sees())
      .toEqual([
        `✅ Exported · docs.acme.com · 12 pages\n${ASKED}\n[Download]`,
        `✅ @ana Exported · docs.acme.com · 12 pages, 1 byte, took 1 s\n${ASKED} · job se_… · the link works until TIME for anyone who has it\n[Download] [⋯ New link] [⋯ Helm values] [⋯ Start another]`,
      ]);
    expect(scene.slack.messages).toHaveLength(3);
    expect(notified('ana')).toBe(1);
    expect(scene.platform.starts).toHaveLength(1);

    const ending = messageWith(', took');
    expect(await person('ana').clicks(ending, 'Download')).toMatchObject({ ok: true });
    const bundle = await fetch(
      /https?:[^"]*X-Signature=[^"]*/.exec(JSON.stringify(ending.blocks))?.[0] ?? '',
    );
    expect(bundle.status).toBe(200);
  });

  test('with a version and pages: card and ending say so, and the platform gets them', async () => {
    await asks('/docs-export docs.acme.com --version "spring release" --paths /guides,/api');
    await until([
      '42%',
      '⏳ Exporting · docs.acme.com spring release\nRequested by ana · only /guides and 1 more',
    ]);
    expect(scene.platform.starts).toMatchObject([{ version: 'spring release', paths: ['guides', 'api'] }]);
    scene.platform.finish('docs.acme.com');
    await until([
      '✅ @ana Exported · docs.acme.com spring release · 2 pages',
      '✅ Exported · docs.acme.com spring release · 2 pages\nRequested by ana · only /guides and 1 more\n[Download]',
    ]);
  });

  test('is shown as queued while the platform has it queued', async () => {
    scene.platform.plan({ queuedMs: 1000, durationMs: 100 });
    await asks();
    await until(['🕒 Queued · requested TIME\njob se_…']);
    expect(sees()[0]).toBe(`🕒 Queued · docs.acme.com\n${ASKED}`);
    await until([', took']);
  });
});

describe('an export that does not go well', () => {
  const scene = stage();
  const { exporting, clicks, sees, until, messageWith, notified, toldLast } = scene;

  test('failed: says where and why, once, and can be tried again', async () => {
    await exporting();
    scene.platform.fail('docs.acme.com', 'Page <!channel> & "x" failed');
    const texts = await until(['at 42%, after', '❌ Export failed · docs.acme.com']);
    expect(texts).toContain(
      `❌ @ana Export failed · docs.acme.com · at 42%, after 1 s\nThe platform said: "Page <!channel> & "x" failed"\n${ASKED} · job se_… · your live site isn't affected · ref …\n[Try again]`,
    );
    expect(notified('ana')).toBe(1);

    await clicks('ben', 'at 42%, after', 'Try again');
    await until(['⏳ Exporting · docs.acme.com', '42%']);
    scene.platform.finish('docs.acme.com');
    await until([', took']);
    expect(scene.platform.starts).toHaveLength(2);
    await expect.poll(() => sees()).toHaveLength(3);
  });

  test('failed with a version and pages: [Try again] asks for the same', async () => {
    await exporting('/docs-export docs.acme.com --version 1.2 --paths /guides');
    scene.platform.fail('docs.acme.com', null);
    await until(['Export failed · docs.acme.com 1.2 · at 42%, after 1 s\nThe platform gave no reason.\n']);
    await clicks('ana', 'at 42%, after', 'Try again');
    await scene.slack.until(() => scene.platform.starts.length === 2);
    expect(scene.platform.starts[1]).toMatchObject({ version: '1.2', paths: ['guides'] });
  });

  test('a button of an earlier try does nothing once there is a later one', async () => {
    await exporting();
    scene.platform.fail('docs.acme.com');
    await until(['at 42%, after', '❌ Export failed · docs.acme.com']);
    const first = messageWith('at 42%, after');
    await scene.person('ana').clicks(first, 'Try again');
    await scene.slack.until(() => scene.platform.starts.length === 2);
    // Its own line, since that of the first one may still be there.
    const ofSecond = `job ${scene.platform.starts[1]?.jobId}`;
    await scene.slack.until(() => {
      const texts = scene.slack.messages.map((message) => scene.slack.read(message));
      return texts.some((text) => text.includes('42%') && text.includes(ofSecond));
    });
    scene.platform.fail('docs.acme.com');
    await scene.slack.until(() => sees().filter((text) => text.includes('at 42%, after')).length === 2);
    await scene.person('ana').clicks(first, 'Try again');
    expect(toldLast('ana')).toBe('Already handled: see the latest message in this thread.');
    expect(scene.platform.starts).toHaveLength(2);
  });

  test('a job that the platform forgets is told as lost, and another is started by a click', async () => {
    await exporting();
    scene.platform.forget('docs.acme.com');
    await until([
      `❌ @ana Not found · docs.acme.com\nThe platform no longer knows this export.\n${ASKED} · job se_… · HTTP 404\n[Try again]`,
      '❌ Not found · docs.acme.com',
    ]);
    await clicks('ben', 'no longer knows', 'Try again');
    await until(['42%', '⏳ Exporting · docs.acme.com']);
    expect(scene.platform.starts).toHaveLength(2);
  });
});

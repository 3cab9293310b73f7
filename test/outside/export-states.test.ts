import { describe, expect, test } from 'vitest';
import { stage } from '../support/flows/stage.ts';

const ASKED = 'Static export · requested by ana';

describe('an export that goes well', () => {
  const scene = stage();
  const { asks, person, sees, until, messageWith, notified } = scene;

  test('is one card, one progress that is edited, and one ending with a link that works', async () => {
    const answer = await asks();
    expect(answer).toMatchObject({ ok: true });
    expect(answer.ephemeral).toBeUndefined();
    await until(['42%', 'se_…']);
    expect(sees()).toEqual([
      `⏳ Exporting · docs.acme.com\n${ASKED}`,
      '⏳ Exporting · ▰▰▰▰▱▱▱▱▱▱ 42% · 5 pages so far · started TIME\njob se_…\n[Refresh] [Notify me too]',
    ]);

    scene.platform.finish('docs.acme.com');
    expect(await until(['is exported', 'finished TIME', '✅ docs.acme.com exported'])).toEqual([
      expect.stringMatching(
        /^✅ docs\.acme\.com exported · 12 pages · \d+ s\nStatic export · requested by ana\n\[Download\]$/,
      ),
      'requested TIME · started TIME · finished TIME · job se_…',
      '✅ @ana docs.acme.com is exported · 12 pages · 1 byte · took 1 s\nThe link works until TIME. Anyone who has it can download the bundle.\n[Download bundle] [Deployment settings] [⋯ New link]',
    ]);
    expect(scene.slack.messages).toHaveLength(3);
    expect(notified('ana')).toBe(1);
    expect(scene.platform.starts).toHaveLength(1);

    const ending = messageWith('is exported');
    expect(await person('ana').clicks(ending, 'Download bundle')).toMatchObject({ ok: true });
    const bundle = await fetch(
      /https?:[^"]*X-Signature=[^"]*/.exec(JSON.stringify(ending.blocks))?.[0] ?? '',
    );
    expect(bundle.status).toBe(200);
  });

  test('with a version and pages: card and ending say so, and the platform gets them', async () => {
    await asks('/docs-export docs.acme.com --version "spring release" --paths /guides,/api');
    await until(['42%', 'se_…']);
    expect(sees()[0]).toBe(
      '⏳ Exporting · docs.acme.com\nStatic export "spring release" · only /guides and 1 more · requested by ana',
    );
    expect(scene.platform.starts).toMatchObject([{ version: 'spring release', paths: ['guides', 'api'] }]);
    scene.platform.finish('docs.acme.com');
    await until([
      '✅ @ana docs.acme.com (spring release) is exported · 2 pages',
      '✅ docs.acme.com exported · 2 pages · ',
      '\nStatic export "spring release" · only /guides and 1 more · requested by ana\n[Download]',
    ]);
  });

  test('is shown as queued while the platform has it queued', async () => {
    scene.platform.plan({ queuedMs: 1000, durationMs: 100 });
    await asks();
    await until(['🕒 Queued · requested TIME\njob se_…']);
    expect(sees()[0]).toBe(`🕒 Queued · docs.acme.com\n${ASKED}`);
    await until(['is exported']);
  });
});

describe('an export that does not go well', () => {
  const scene = stage();
  const { exporting, clicks, sees, until, messageWith, notified, toldLast } = scene;

  test('failed: says where and why, once, and can be tried again', async () => {
    await exporting();
    scene.platform.fail('docs.acme.com', 'Page <!channel> & "x" failed');
    const texts = await until(['failed at', '❌ Export failed · docs.acme.com', 'finished TIME']);
    expect(texts).toContain(
      '❌ @ana The export of docs.acme.com failed at 42% after 1 s.\nThe platform said: "Page <!channel> & "x" failed"\nYour live site is not affected. · ref …\n[Start again]',
    );
    expect(notified('ana')).toBe(1);

    await clicks('ben', 'failed at', 'Start again');
    await until(['⏳ Exporting · docs.acme.com', '42%']);
    scene.platform.finish('docs.acme.com');
    await until(['is exported']);
    expect(scene.platform.starts).toHaveLength(2);
    expect(scene.slack.messages).toHaveLength(4);
  });

  test('failed with a version and pages: [Start again] asks for the same', async () => {
    await exporting('/docs-export docs.acme.com --version 1.2 --paths /guides');
    scene.platform.fail('docs.acme.com', null);
    await until([
      'The export of docs.acme.com (1.2) failed at 42% after 1 s.\nThe platform gave no reason.\n',
    ]);
    await clicks('ana', 'failed at', 'Start again');
    await scene.slack.until(() => scene.platform.starts.length === 2);
    expect(scene.platform.starts[1]).toMatchObject({ version: '1.2', paths: ['guides'] });
  });

  test('a button of an earlier try does nothing once there is a later one', async () => {
    await exporting();
    scene.platform.fail('docs.acme.com');
    await until(['failed at', '❌ Export failed · docs.acme.com']);
    const first = messageWith('failed at');
    await scene.person('ana').clicks(first, 'Start again');
    await scene.slack.until(() => scene.platform.starts.length === 2);
    scene.platform.fail('docs.acme.com');
    await scene.slack.until(() => sees().filter((text) => text.includes('failed at')).length === 2);
    await scene.person('ana').clicks(first, 'Start again');
    expect(toldLast('ana')).toBe('Already handled: see the latest message in this thread.');
    expect(scene.platform.starts).toHaveLength(2);
  });

  test('a job that the platform forgets is told as lost, and another is started by a click', async () => {
    await exporting();
    scene.platform.forget('docs.acme.com');
    await until([
      '❌ @ana The platform no longer knows the export of docs.acme.com (404).\n[Start again]',
      '❌ Not found · docs.acme.com',
    ]);
    await clicks('ben', 'no longer knows', 'Start again');
    await until(['42%', '⏳ Exporting · docs.acme.com']);
    expect(scene.platform.starts).toHaveLength(2);
  });
});

import { describe, expect, test, vi } from 'vitest';
import { type Stage, stage } from '../support/flows/stage.ts';

const refused = { kind: 'answer', status: 401, body: { error: 'Invalid API key' } } as const;
const LOOK = 'GET /v1/static-export/jobs/{jobId}';
const alert = (waits: string) =>
  `🔑 DOCS_API_KEY is rejected since TIME${waits}.\nSet a new one and restart me; what waits goes on by itself then.\nI tell you once an hour at most.`;

/** An operator has mended the key, and somebody looks, once the last look is two seconds old. */
async function goesOn({ platform, clicks, until, sees }: Stage) {
  platform.wire.clear();
  await vi.waitFor(async () => {
    await clicks('ana', '[Refresh]', 'Refresh');
    expect(sees().join()).not.toContain('rejected');
  }, 10_000);
  platform.finish('docs.acme.com');
  await until(['is exported']);
}

describe('a key that is rejected while watching, with admins', () => {
  const config = 'allow:\n  admin: [U0ANA, S0DOCS, U0BEN]\n';
  const scene = stage({ bot: { config } });
  const { asks, until, sees, notified } = scene;

  test('is told in the thread and once to each admin, whatever runs, and the export goes on', async () => {
    await asks('/docs-export docs.acme.com --version 1');
    await asks('/docs-export docs.acme.com');
    await scene.slack.until(() => sees().filter((text) => text.includes('42%')).length === 2);
    scene.platform.wire.order(LOOK, refused, 1000);
    const told = () =>
      sees().filter((text) =>
        text.includes(
          '⚠️ My platform key was rejected; the admins have been told. I go on when it works again.',
        ),
      );
    await scene.slack.until(() => told().length === 2);
    await until([alert('; 2 exports wait')], '@ana');
    await until([alert('; 2 exports wait')], '@ben', 'ben');
    expect(sees('@ana')).toHaveLength(1);
    expect(sees('@ben', 'ben')).toHaveLength(1);
    expect(notified('ana')).toBe(0);
  });

  test('goes on when it works again', async () => {
    await asks();
    await until(['42%']);
    scene.platform.wire.order(LOOK, refused, 1000);
    await until(['My platform key was rejected; the admins have been told.']);
    await goesOn(scene);
    expect(scene.platform.starts).toHaveLength(1);
  });

  test('rejected at the start: who asked is told, and so are the admins', async () => {
    scene.platform.wire.order('POST /v1/static-export/jobs', refused);
    await asks();
    await until([
      '❌ @ana The export of docs.acme.com was not started: my platform key was rejected; the admins have been told.\nThe platform said: "Invalid API key"\n[Start again]',
      '❌ Not started · docs.acme.com',
    ]);
    await until([alert('')], '@ben', 'ben');
    const written = scene.world.bots.map((bot) => bot.output()).join('');
    expect(written).toContain('the docs platform rejects DOCS_API_KEY of project default (401)');
  });
});

describe('a key that is rejected while watching, without admins', () => {
  const scene = stage();

  test('is told in the thread, with who can help', async () => {
    await scene.asks();
    await scene.until(['42%']);
    scene.platform.wire.order(LOOK, refused, 1000);
    await scene.until([
      '⚠️ My platform key was rejected; whoever runs Docket has to renew it. I go on when it works again.',
    ]);
    expect(scene.slack.messages).toHaveLength(2);
    await goesOn(scene);
  });
});

import { describe, expect, test } from 'vitest';
import { stage } from '../support/flows/stage.ts';

const refused = { kind: 'answer', status: 401, body: { error: 'Invalid API key' } } as const;
const LOOK = 'GET /v1/static-export/jobs/{jobId}';
const alert = (waits: string) =>
  `🔑 DOCS_API_KEY has been rejected since TIME${waits}.\nSet a new one and restart me; waiting work then resumes by itself.\nI'll remind you at most once an hour.`;

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
          "My access to the docs platform was rejected; your Docket admins know. I'll continue when it works again.",
        ),
      );
    await scene.slack.until(() => told().length === 2);
    await until([alert('; 2 exports wait')], '@ana');
    await until([alert('; 2 exports wait')], '@ben', 'ben');
    expect(sees('@ana')).toHaveLength(1);
    expect(sees('@ben', 'ben')).toHaveLength(1);
    expect(notified('ana')).toBe(0);
  });

  test('rejected at the start: who asked is told, and so are the admins', async () => {
    scene.platform.wire.order('POST /v1/static-export/jobs', refused);
    await asks();
    await until([
      '❌ @ana Not started · docs.acme.com\nMy access to the docs platform was rejected; your Docket admins know.\nThe platform said: "Invalid API key"\nRequested by ana\n[Try again]',
      '❌ Not started · docs.acme.com',
    ]);
    await until([alert('')], '@ben', 'ben');
    const written = scene.world.bots.map((bot) => bot.output()).join('');
    expect(written).toContain('the docs platform rejects DOCS_API_KEY of project default (401)');
  });
});

describe('a request that is forbidden, with admins', () => {
  const scene = stage({ bot: { config: 'allow:\n  admin: [U0BEN]\n' } });
  const { asks, exporting, until } = scene;
  const forbid = (call: string, body: object) =>
    scene.platform.wire.order(call, { kind: 'answer', status: 403, body });
  const causes = (reason: string) =>
    `🚫 The platform doesn't allow my request with DOCS_API_KEY.\nThe platform said: "${reason}"\nCheck the plan (exports need Enterprise), the platform's IP allowlist, and that the key has the scope write.\nHTTP 403 · I'll remind you at most once an hour.`;

  test('at the start: people read what the platform said, admins also what it can mean', async () => {
    forbid('POST /v1/static-export/jobs', {
      error: { message: 'Forbidden', details: [{ message: 'the key lacks the scope write' }] },
    });
    await asks();
    const told = `❌ Not started · docs.acme.com\nThe platform doesn't allow it; your Docket admins know.\nThe platform said: "Forbidden: the key lacks the scope write"\n[Try again]`;
    await scene.slack.until(() => scene.toldLast('ana') === told);
    await until([causes('Forbidden: the key lacks the scope write')], '@ben', 'ben');
  });

  test('at a poll', async () => {
    await exporting();
    forbid(LOOK, { error: 'IP address not allowed' });
    await until(["The platform doesn't let me see this export."]);
    await until([causes('IP address not allowed')], '@ben', 'ben');
  });

  test('for the link', async () => {
    await exporting();
    forbid('POST /v1/static-export/jobs/{jobId}/bundle', { error: 'No bundles for you' });
    scene.platform.finish('docs.acme.com');
    await until([
      `⚠️ @ana Exported, no link yet · docs.acme.com\nI couldn't get a download link.\nThe platform said: "No bundles for you"\nRequested by ana · job se_…\n[New link]`,
    ]);
  });
});

import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { deploymentStage, signatureOf } from '../support/flows/receiver.ts';

const MINUTE_MS = 60_000;
const site = 'docs.acme.com v1';

describe('a hostile receiver', async () => {
  const { scene, receiver, deploys, isIdle } = await deploymentStage({ link: true, startMs: Date.now() });
  const { until, sees, audit } = scene;
  const { received } = receiver;
  const linkOf = (response: ServerResponse) => received.at(-1)?.data.bundleUrl ?? String(response);

  test('that sends elsewhere is not followed: the new address is named at once, without its query', async () => {
    receiver.answers((response) => {
      const location = `${receiver.url}/elsewhere?link=${encodeURIComponent(linkOf(response))}`;
      response.writeHead(308, { location }).end();
    });
    await deploys('v1');
    const host = new URL(receiver.url).host;
    await until([
      `❌ @ana Not deployed to production · ${site}\nThe address of production has moved to ${host}/elsewhere, so your Docket admins have to change it in my settings.\nRequested by ana · HTTP 308\n[Try again]`,
    ]);
    expect(received).toHaveLength(1);
  });

  test.each([401, 403, 404])('behind a proxy that answers %i for a moment gets it', async (status) => {
    receiver.answers((response) => response.writeHead(received.length < 3 ? status : 204).end());
    await deploys('v1');
    await until([`📨 Sent to production · ${site}`]);
    expect(received).toHaveLength(3);
    expect(new Set(received.map(({ id, body }) => id + body)).size).toBe(1);
  });

  test('that answers 404 for ten minutes has rejected it', async () => {
    receiver.answers(404, '{\n  "detail": "\\u001b[31mno such hook\\u001b[0m"\n}');
    await deploys('v1');
    await scene.slack.until(() => received.length > 0);
    await later(scene.world.now() + 9 * MINUTE_MS);
    expect(sees().join('\n')).not.toContain('rejected');
    await later(scene.world.now() + 2 * MINUTE_MS);
    await until([
      `❌ @ana Not deployed to production · ${site}\nproduction rejected it. It said: "no such hook"\nRequested by ana · HTTP 404\n[Try again]`,
    ]);
  });

  test.each([
    ['whose first answer was lost and that refuses the repetition with 409 has it', true],
    ['that refuses the first message with 409 gets it again until it takes it', false],
  ])('%s', async (_, isLost) => {
    receiver.answers((response) => {
      if (received.length === 1 && isLost) response.destroy();
      else response.writeHead(received.length < 4 ? 409 : 204).end();
    });
    await deploys('v1');
    await until([`📨 Sent to production · ${site}`]);
    expect(received).toHaveLength(isLost ? 2 : 4);
  });

  test.each([200, 410])('whose answer %i has a body of 1 GB is cut off', async (status) => {
    let sent = 0;
    receiver.answers((response) => {
      response.writeHead(status, { 'content-length': 1_000_000_000 });
      const more = () => {
        while (sent < 1_000_000_000 && response.writable && response.write('gone '.repeat(1000)))
          sent += 5000;
      };
      response.on('drain', more).on('error', () => {});
      more();
    });
    await deploys('v1');
    if (status === 200) await until(['Sent to production']);
    else await until([`Not deployed to production · ${site}\nproduction rejected it. It said: "gone gone`]);
    expect(sent).toBeLessThan(20_000_000);
  });

  test('that drips its answer for ever is left after the time limit, and its status counts', async () => {
    const drips: NodeJS.Timeout[] = [];
    receiver.answers((response) => {
      response.writeHead(410);
      drips.push(setInterval(() => response.write('.'), 20));
    });
    await deploys('v1');
    await until([
      `Not deployed to production · ${site}\nproduction rejected it.`,
      'Requested by ana · HTTP 410',
    ]);
    for (const drip of drips) clearInterval(drip);
  });

  test('that sends back all it got shows nothing of it', async () => {
    receiver.answers((response, request) => {
      const link = linkOf(response);
      const echoes = [JSON.stringify(request.headers), receiver.secret, encodeURIComponent(link), link];
      response.writeHead(410).end(`no <!channel> <@U0BEN> ${echoes.join(' ')}\n${link}`);
    });
    await deploys('v1');
    const shown = (await until([`❌ @ana Not deployed to production · ${site}`])).join('\n');
    expect(shown).toContain('It said: "no <!channel> <@U0BEN> ');
    expect(scene.notified('ben')).toBe(0);
    expect(received).toHaveLength(1);
  });

  test('that calls back with the link shows nothing of it', async () => {
    await deploys('v1');
    await until(['Sent to production']);
    const link = received[0]?.data.bundleUrl ?? '';
    const message = `curl: (22) ${link} said 403 <!here>\u202Eevil\u0007 ${receiver.secret} ${'x'.repeat(3000)}`;
    expect(await receiver.callsBack({ state: 'failed', message })).toBe('204');
    const shown = await until([`❌ @ana production couldn't use this export · ${site}`]);
    expect(shown.join('\n')).toMatch(/It said: "curl: \(22\) … said 403 <!here>evil … x+…"/);
    expect(shown.join('\n')).not.toContain(signatureOf(link));
  });

  test.each([60, 5])('that fails for an hour is given up, with a link of %i min', async (minutes) => {
    scene.platform.linkLifeMs = minutes * MINUTE_MS;
    receiver.answers((response) => {
      // A wait beyond the hour is cut to its end.
      const isLast = scene.world.now() > startMs + 50 * MINUTE_MS;
      response.writeHead(500, isLast ? { 'retry-after': '7200' } : {}).end('oops');
    });
    const startMs = scene.world.now();
    await deploys('v1');
    await until(["It doesn't answer as it should. I'll keep trying for up to an hour."]);
    for (let minute = 6; minute <= 54; minute += 6) {
      if (minutes < 6) await endLinks();
      await later(startMs + minute * MINUTE_MS);
    }
    expect(sees().join('\n')).not.toContain('Not deployed');
    // For the same link it is the same message.
    const bodies = new Map(received.map(({ id, body }) => [id, body]));
    expect(received.every(({ id, body }) => bodies.get(id) === body)).toBe(true);
    await later(startMs + 61 * MINUTE_MS);
    await until([
      `❌ @ana Not deployed to production · ${site}\nI couldn't reach production for an hour, so it isn't there.\nRequested by ana · last answer: status 500\n[Try again]`,
    ]);
    expect(await audit()).toContain(`ana deployment production · ${site} → ended: gaveUp`);
  });

  /** Redis' own clock cannot be moved. */
  async function endLinks() {
    const { client } = scene.world.redis;
    await client.del(...(await client.keys('{docket}:link:*')));
  }

  /** Jumps, and waits for the next attempt. */
  async function later(ms: number) {
    const before = received.length;
    await scene.world.jumpTo(ms);
    await scene.slack.until(() => received.length > before);
    // Its answer counts at this time.
    await expect.poll(isIdle).toBe(true);
  }
});

describe('a callback', async () => {
  const other = `whsec_${randomBytes(24).toString('base64')}`;
  const { scene, receiver, deploys } = await deploymentStage({
    env: { OTHER_SECRET: other, GITHUB_TOKEN: 'github_pat_1234567890' },
    deployments: `      staging: { webhook: { url: http://127.0.0.1:9, secret: { env: OTHER_SECRET } } }
      preview: { github: { repository: acme/infra, event: docs-export, token: { env: GITHUB_TOKEN } } }`,
  });
  const { until, sees, audit } = scene;
  const live = { state: 'live' };

  test('that its deployment did not sign just now has the answer of an unknown one, and changes nothing', async () => {
    await deploys('v1');
    await until(['📨 Sent to production · TIME\nRequested by ana', '[Download] [Deploy to staging]']);
    const shown = sees();
    const id = receiver.received[0]?.id ?? '';
    const [, run = ''] = id.split('_');
    const [exported = ''] = await scene.world.redis.client
      .keys('{docket}:run:*')
      .then((keys) => keys.map((key) => key.split(':').at(-1) ?? '').filter((one) => one !== run));
    const atMs = Date.now();
    const forgeries: [string, string, Parameters<typeof receiver.callsBack>[2]?][] = [
      ['another deployment’s secret', id, { secret: other }],
      ['a made-up signature', id, { headers: { 'webhook-signature': `v1,${'A'.repeat(43)}=` } }],
      ['no signature', id, { headers: { 'webhook-signature': '' } }],
      ['the signature of another body', id, { headers: { 'webhook-id': `${id}_other` } }],
      ['ten minutes ago', id, { atMs: atMs - 600_000 }],
      ['in ten minutes', id, { atMs: atMs + 600_000 }],
      ['an own id that does not begin with that of the webhook', id, { own: 'msg_mine' }],
      ['an own id without end', id, { own: id + 'x'.repeat(5000) }],
      ['an unknown update', `msg_${'0'.repeat(24)}_1_0`],
      ['a run of another kind', `msg_${exported}_1_0`],
      ['no id', 'msg_1'],
      ['an id with more', `${id}?x=1`],
      ['an id that climbs', `${id}%2F..%2F..`],
    ];
    for (const [what, about, how] of forgeries)
      expect([what, await receiver.callsBack(live, about, how)]).toEqual([what, '401']);
    expect(sees()).toEqual(shown);
    expect((await audit()).join('\n')).not.toContain('reported');
  });

  test('that is too long, or garbage, is refused', async () => {
    await deploys('v1');
    await until(['📨 Sent to production · TIME\nRequested by ana', '[Download] [Deploy to staging]']);
    const shown = sees();
    const help = '400 Send { "state": "live" or "failed", "message": "…" }.';
    for (const body of [
      'live',
      '[]',
      'null',
      '{"state":"LIVE"}',
      '{"state":"failed","message":{}}',
      '\u0000',
    ])
      expect([body, await receiver.callsBack(body)]).toEqual([body, help]);
    expect(await receiver.callsBack({ ...live, message: 'x'.repeat(1_000_000) })).toBe('413');
    expect(sees()).toEqual(shown);
  });

  test.each([
    [{ state: 'failed', message: null }, 'It gave no reason.'],
    [{ state: 'failed', error: { message: 'disk full' } }, 'It said: "disk full"'],
    [{ state: 'failed', message: '{"title":"disk full"}' }, 'It said: "disk full"'],
    [{ state: 'failed', message: '\u001b[31mdisk\u001b[0m full\nmore' }, 'It said: "disk full"'],
  ])('%j is one with a reason that people can read', async (body, said) => {
    await deploys('v1');
    await until(['Sent to production']);
    expect(await receiver.callsBack(body)).toBe('204');
    await until([
      `❌ @ana production couldn't use this export · ${site}\n${said}\nRequested by ana\n[Try again]`,
    ]);
  });

  test('that comes again counts once', async () => {
    await deploys('v1');
    await until(['Sent to production']);
    expect(await receiver.callsBack({ state: 'failed' })).toBe('204');
    await until([`❌ @ana production couldn't use this export · ${site}`]);
    for (const state of ['live', 'failed', 'live', 'failed'])
      expect(await receiver.callsBack({ state })).toBe('204');
    await until([`✅ @ana Live on production · ${site}`]);
    const reported = (await audit()).filter((line) => line.includes('reported'));
    expect(reported.map((line) => line.split('→ ')[1])).toEqual(['reported: failed', 'reported: live']);
  });

  test('is answered with an error while Redis is frozen, so that the deployment repeats it', async () => {
    await deploys('v1');
    await until(['Sent to production']);
    scene.world.redis.freeze();
    const answer = receiver.callsBack(live).finally(() => scene.world.redis.thaw());
    expect(await answer).toBe('503');
    expect(await receiver.callsBack(live)).toBe('204');
    await until(['Live on production']);
  });
});

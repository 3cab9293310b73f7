import { on, once } from 'node:events';
import { request } from 'node:http';
import type { Duplex } from 'node:stream';
import { describe, expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { clientOf, refusal, widerManifest } from '../test-support/bot.ts';
import { connect, startSlack, ticketFor } from '../test-support/sockets.ts';
import { createStandInSlack } from './slack.ts';

/** A WebSocket of which only the bytes are seen. */
async function bareSocket(url: string): Promise<Duplex> {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  };
  const asked = request(url.replace('ws:', 'http:'), { headers }).end();
  const [, socket] = await once(asked, 'upgrade');
  return socket as Duplex;
}

async function statusOf(url: string): Promise<number | undefined> {
  const ws = new WebSocket(url);
  ws.on('error', () => {});
  const [, response] = await once(ws, 'unexpected-response');
  return response.statusCode;
}

describe('apps.connections.open', () => {
  test('gives an absolute address of this very server', async () => {
    const { slack, open } = await startSlack();
    const url = new URL(await open());
    expect(url.host).toBe(new URL(slack.apiUrl).host);
    expect(url).toMatchObject({ protocol: 'ws:', pathname: '/link/' });
    expect(url.searchParams.get('ticket')).not.toBe('');
  });

  test('takes the app token alone, and the app token opens nothing else', async () => {
    const { slack } = await startSlack();
    const { bot, app } = slack.tokens;
    expect(await refusal(clientOf(slack, bot).apps.connections.open({}))).toMatchObject({
      error: 'not_allowed_token_type',
    });
    expect(await refusal(clientOf(slack, app).auth.test())).toMatchObject({
      error: 'not_allowed_token_type',
    });
    expect(await refusal(clientOf(slack, 'xapp-other').apps.connections.open({}))).toMatchObject({
      error: 'invalid_auth',
    });
    expect(slack.violations).toEqual([
      'apps.connections.open: not_allowed_token_type',
      'auth.test: not_allowed_token_type',
      'apps.connections.open: invalid_auth',
    ]);
  });

  test('needs connections:write', async () => {
    const { slack } = await startSlack({ appScopes: ['authorizations:read'] });
    expect(await refusal(ticketFor(slack))).toMatchObject({
      error: 'missing_scope',
      needed: 'connections:write',
    });
    expect(slack.violations).toEqual(['apps.connections.open: missing_scope · needs connections:write']);
  });
});

describe('a ticket', () => {
  test.each(['used', 'old', 'unknown'])('%s opens nothing', async (kind) => {
    const clock = { ms: Date.now() };
    const { slack, open } = await startSlack({ now: () => clock.ms });
    let url = await open();
    if (kind === 'used') await once(new WebSocket(url), 'open');
    if (kind === 'old') clock.ms += 30_001;
    if (kind === 'unknown') url = url.replace('ticket=', 'ticket=x');
    expect(await statusOf(url)).toBe(401);
    expect(slack.violations).toEqual(['socket: a ticket that is used up, too old or unknown']);
  });

  test('good for the ordered refusal', async () => {
    const { slack, open } = await startSlack();
    slack.sockets.order('refuse');
    expect(await statusOf(await open())).toBe(503);
    expect(slack.violations).toEqual([]);
  });
});

describe('a connection', () => {
  test('begins with hello', async () => {
    const { slack } = await startSlack();
    await connect(slack);
    const { received } = await connect(slack);
    expect(received).toEqual([
      {
        type: 'hello',
        num_connections: 2,
        connection_info: { app_id: 'A0DOCKET' },
        debug_info: expect.any(Object),
      },
    ]);
    expect(slack.sockets).toMatchObject({ open: 2, opened: 2 });
  });

  test('without the ordered hello takes no envelopes', async () => {
    const { slack, ana, open } = await startSlack();
    slack.sockets.order('no hello');
    await once(new WebSocket(await open()), 'open');
    expect(slack.sockets.open).toBe(0);
    expect(await ana.types('#docs', '/docs-export')).toMatchObject({ failed: 'dispatch_failed' });
  });

  test('beyond the tenth is refused, and closed', async () => {
    const { slack } = await startSlack();
    for (let count = 0; count < 10; count += 1) await connect(slack);
    const { ws, received } = await connect(slack);
    expect(received).toMatchObject([{ type: 'disconnect', reason: 'too_many_websockets' }]);
    await once(ws, 'close');
    expect(slack.sockets.open).toBe(10);
    expect(slack.violations).toEqual(['socket: more than 10 connections']);
  });

  test('is pinged, and cut off when nothing answers', async () => {
    const { slack, open } = await startSlack({ pingEveryMs: 200 });
    const { ws } = await connect(slack);
    await once(ws, 'ping');
    await once(ws, 'ping');
    expect(slack.sockets.open).toBe(1);
    const deaf = new WebSocket(await open(), { autoPong: false });
    await once(deaf, 'close');
    await slack.until(() => slack.sockets.open === 1);
    expect(ws.readyState).toBe(WebSocket.OPEN);
  });

  test('stays open below after the closing handshake, as with Slack, until the bot ends it', async () => {
    const { slack } = await startSlack();
    const socket = await bareSocket(await ticketFor(slack));
    let ended = false;
    socket.on('end', () => {
      ended = true;
    });
    socket.write(Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8]));
    for await (const [chunk] of on(socket, 'data')) if ((chunk as Buffer).includes(0x88)) break;
    // Many round trips: by now its end would have come.
    for (let count = 0; count < 5; count += 1) await connect(slack);
    expect(ended).toBe(false);
    expect(slack.sockets.open).toBe(6);
    socket.end();
    await slack.until(() => slack.sockets.open === 5);
  });

  test('ends when the bot ends the TCP connection', async () => {
    const { slack } = await startSlack();
    const { ws } = await connect(slack);
    ws.terminate();
    await slack.until(() => slack.sockets.open === 0);
  });

  test('is ended on request: all at once, or with a word before', async () => {
    const { slack } = await startSlack();
    const first = await connect(slack);
    slack.sockets.cut();
    await once(first.ws, 'close');
    const second = await connect(slack);
    slack.sockets.disconnect('warning', 10_000);
    await slack.until(() => second.received.length === 2);
    expect(second.received[1]).toMatchObject({ type: 'disconnect', reason: 'warning' });
    expect(slack.sockets.open).toBe(0);
    slack.sockets.disconnect('refresh_requested');
    const [code] = await once(second.ws, 'close');
    expect(code).toBe(1005);
  });
});

test('the manifest decides how requests go', async () => {
  const manifest = widerManifest({ socketMode: true });
  const slack = createStandInSlack({ manifest });
  onTestFinished((await slack.listen()).close);
  const { envelopes } = await connect(slack);
  await slack.person('ana').types('#docs', '/docs-export');
  expect(envelopes()).toHaveLength(1);
});

import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { clientOf, refusal } from '../test-support/bot.ts';
import { connect, startSlack } from '../test-support/sockets.ts';

async function statusOf(url: string): Promise<number | undefined> {
  const ws = new WebSocket(url);
  ws.on('error', () => {});
  const [, response] = await once(ws, 'unexpected-response');
  return response.statusCode;
}

describe('apps.connections.open', () => {
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
});

describe('a connection', () => {
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
});

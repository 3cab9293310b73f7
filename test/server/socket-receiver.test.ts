import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { createStandInSlack } from '../../demo/slack/slack.ts';
import { clientOf } from '../../demo/test-support/bot.ts';
import {
  acknowledges,
  apiThatNames,
  connected,
  type Listener,
  quick,
  receiver,
} from '../support/server/socket.ts';

describe('an envelope', () => {
  test('is acknowledged only after its listener has finished, whenever that called ack', async () => {
    const finish = Promise.withResolvers<void>();
    const { slack, ana } = await connected(async ({ ack }) => {
      await ack({ text: 'Done' });
      await finish.promise;
    });
    const answer = ana.types('#docs', '/docs-export');
    await slack.until(() => slack.sockets.envelopes.length === 1);
    // A round trip over the same process: an early acknowledgement would have come by now.
    await clientOf(slack).auth.test();
    expect(slack.sockets.envelopes[0]?.outcome).toBeUndefined();
    finish.resolve();
    expect(await answer).toMatchObject({ ok: true, ephemeral: { text: 'Done' } });
  });

  test.each<[string, Listener]>([
    [
      'fails after ack',
      async ({ ack }) => {
        await ack();
        throw new Error('broken');
      },
    ],
    ['never calls ack', async () => {}],
  ])('whose listener %s is not acknowledged, and others are', async (_, bad) => {
    const listeners: Listener[] = [bad];
    const { ana, lines } = await connected((event) => (listeners.shift() ?? acknowledges)(event), {
      answerWithinMs: 300,
    });
    expect(await ana.types('#docs', '/docs-export')).toMatchObject({ failed: 'operation_timeout' });
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 40, msg: expect.stringMatching(/not acknowledged|no listener took/) }),
    );
    expect(await ana.types('#docs', '/docs-export')).toMatchObject({ ok: true });
  });

  test.each([
    [
      'an event without its event',
      { envelope_id: 'x', type: 'events_api', payload: { type: 'app_rate_limited' } },
    ],
    ['a null', null],
    ['a list', []],
    ['an unknown type', { envelope_id: 'y', type: 'unheard_of', payload: {} }],
    ['a payload of null', { envelope_id: 'n', type: 'interactive', payload: null }],
    ['an event of null', { envelope_id: 'e', type: 'events_api', payload: { event: null } }],
    ['no payload', { envelope_id: 'z', type: 'slash_commands' }],
  ])('that is %s harms nobody', async (_, message) => {
    const { slack, ana } = await connected(async ({ body, ack }) => {
      if (body.command) await ack();
    });
    slack.sockets.sendRaw(JSON.stringify(message));
    slack.sockets.sendRaw('no JSON');
    expect(await ana.types('#docs', '/docs-export')).toMatchObject({ ok: true });
    expect(await ana.types('#docs', '/docs-export')).toMatchObject({ ok: true });
    expect(slack.sockets.opened).toBe(2);
    expect(slack.violations).toEqual([]);
  });
});

describe('the connections', () => {
  test('that Slack refuses are reported with the fix, without the token, and asked for again', async () => {
    const slack = createStandInSlack({ transport: 'socket' });
    onTestFinished((await slack.listen()).close);
    const { receiver: refused, lines } = receiver(slack.apiUrl, acknowledges, {
      appToken: 'xapp-wrong-token',
    });
    const starting = refused.start();
    await slack.until(() => slack.wire.calls.length >= 4);
    const text = JSON.stringify(lines);
    expect(text).toContain('"code":"invalid_auth"');
    expect(refused.problem()).toContain('Check SLACK_APP_TOKEN');
    expect(text + refused.problem()).not.toContain('wrong-token');
    await starting;
  });

  test('that fail are tried at growing intervals', async () => {
    const slack = createStandInSlack({ transport: 'socket' });
    onTestFinished((await slack.listen()).close);
    slack.wire.order('apps.connections.open', { kind: 'answer', status: 500 }, 1000);
    const timing = { ...quick, retryMinMs: 50, retryMaxMs: 10_000 };
    const { receiver: trying } = receiver(slack.apiUrl, acknowledges, { timing });
    void trying.start();
    await slack.until(() => slack.wire.calls.length === 8);
    const atMs = slack.wire.calls.map((call) => call.atMs);
    // Two lines, each after 50, 100 and 200 ms.
    expect((atMs[6] ?? 0) - (atMs[0] ?? 0)).toBeGreaterThanOrEqual(345);
  });

  test('on which Slack is silent are given up', async () => {
    const silent = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    onTestFinished(() => silent.close());
    const seen: WebSocket[] = [];
    silent.on('connection', (ws) => {
      seen.push(ws);
      ws.send(JSON.stringify({ type: 'hello' }));
      // From here on it neither answers a ping nor says goodbye.
      ws.pause();
    });
    onTestFinished(() => seen.forEach((ws) => void ws.terminate()));
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    const apiUrl = await apiThatNames(() => `ws://127.0.0.1:${port}/`);
    await receiver(apiUrl, acknowledges, { timing: { ...quick, socketPongMs: 150 } }).receiver.start();
    await expect.poll(() => seen.length).toBeGreaterThan(2);
  });
});

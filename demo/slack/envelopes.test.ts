import { describe, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { widerManifest } from '../test-support/bot.ts';
import { acknowledge, connect, type Envelope, startSlack } from '../test-support/sockets.ts';

const silent = () => undefined;

describe('an envelope', () => {
  test('carries an event, again when it was not acknowledged', async () => {
    const manifest = widerManifest({ events: ['message.channels'] });
    const { slack, ana } = await startSlack({ manifest, eventRetryDelaysMs: [0, 1], answerWithinMs: 400 });
    const answers: unknown[] = [undefined, undefined];
    const bot = await connect(slack, (received) =>
      answers.length > 0 ? answers.pop() : acknowledge(received),
    );
    await ana.says('#docs', 'hello');
    await slack.until(() => slack.events[0]?.ended);
    expect(bot.envelopes()).toMatchObject([
      { type: 'events_api', accepts_response_payload: false, payload: { event: { text: 'hello' } } },
      { retry_attempt: 1, retry_reason: 'timeout' },
      { retry_attempt: 2, retry_reason: 'timeout' },
    ]);
    expect(bot.envelopes()[0]).not.toHaveProperty('retry_attempt');
    expect(slack.events).toMatchObject([{ attempts: [0, 0, 200], accepted: true }]);
    expect(slack.violations).toEqual([
      'event message: no answer in time',
      'event message: no answer in time',
    ]);
  });

  test('goes over one connection, each in turn, and again with the same id when it is sent again', async () => {
    const { slack, ana } = await startSlack();
    const bots = [await connect(slack), await connect(slack)];
    for (let count = 0; count < 3; count += 1) await ana.types('#docs', '/docs-export');
    expect(bots.map((bot) => bot.envelopes().length)).toEqual([2, 1]);
    await slack.resend();
    const ids = bots.map((bot) => bot.envelopes().at(-1)?.envelope_id);
    expect(ids[0]).toBe(ids[1]);
  });

  test('that nobody acknowledges is an operation_timeout; the late acknowledgement changes nothing', async () => {
    const { slack, ana } = await startSlack({ answerWithinMs: 30 });
    const { ws, envelopes } = await connect(slack, silent);
    expect(await ana.types('#docs', '/docs-export')).toMatchObject({
      ok: false,
      failed: 'operation_timeout',
    });
    expect(slack.violations).toEqual(['/docs-export: no answer within 30 ms']);
    ws.send(JSON.stringify({ envelope_id: envelopes()[0]?.envelope_id, payload: { text: 'late' } }));
    await new Promise((pong) => ws.once('pong', pong).ping());
    expect(slack.violations).toHaveLength(1);
    expect(ana.sees('#docs')).toEqual([]);
    expect(slack.sockets.envelopes).toMatchObject([{ outcome: 'late' }]);
  });
});

describe('an acknowledgement', () => {
  const twice = (received: Envelope, ws: WebSocket) => {
    ws.send(JSON.stringify(acknowledge(received)));
    return acknowledge(received);
  };
  test.each<[string, (received: Envelope, ws: WebSocket) => unknown, string]>([
    ['that is no JSON', () => 'ok', 'socket: what came is no acknowledgement'],
    ['without an id', () => ({ payload: {} }), 'socket: what came is no acknowledgement'],
    ['of something else', () => ({ envelope_id: 'x' }), 'socket: acknowledged what was not sent'],
    ['that comes twice', twice, 'socket: acknowledged twice'],
    [
      'with blocks that do not work',
      (received) => ({ ...acknowledge(received), payload: { blocks: [{}] } }),
      '',
    ],
  ])('%s', async (_, reply, violation) => {
    const { slack, ana } = await startSlack({ answerWithinMs: 500 });
    await connect(slack, reply);
    const answer = await ana.types('#docs', '/docs-export');
    const expected = violation || '/docs-export: acknowledged with invalid_blocks';
    await slack.until(() => slack.violations.includes(expected));
    if (reply !== twice) expect(answer.ok).toBe(false);
  });

  test('over another connection', async () => {
    const { slack, ana } = await startSlack({ answerWithinMs: 50 });
    const sockets: WebSocket[] = [];
    const reply = (received: Envelope, ws: WebSocket) => {
      const other = sockets.find((one) => one !== ws);
      other?.send(JSON.stringify(acknowledge(received)));
    };
    sockets.push((await connect(slack, reply)).ws, (await connect(slack, reply)).ws);
    expect(await ana.types('#docs', '/docs-export')).toMatchObject({ failed: 'operation_timeout' });
    expect(slack.violations).toContain('socket: acknowledged over another connection');
  });
});

import { on, once } from 'node:events';
import { request } from 'node:http';
import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import {
  createStandInSlack,
  type StandInSlack,
  type StandInSlackOptions,
} from '../../../demo/slack/slack.ts';
import { clientOf, refusal, widerManifest } from '../../support/demo/slack/bot.ts';

const open: { close(): Promise<void> | void }[] = [];
afterEach(async () => {
  for (const item of open.splice(0).reverse()) await item.close();
});

async function setting(options: StandInSlackOptions = {}) {
  const slack = createStandInSlack({ transport: 'socket', ...options });
  open.push(await slack.listen());
  return { slack, ana: slack.person('ana'), open: () => ticketFor(slack) };
}

async function ticketFor(slack: StandInSlack): Promise<string> {
  const answer = await clientOf(slack, slack.tokens.app).apps.connections.open({});
  return String(answer.url);
}

type Said = Record<string, unknown> & { envelope_id?: string };

/** A bot that writes down what Slack says, and answers envelopes as told. */
async function connect(slack: StandInSlack, reply: (said: Said, ws: WebSocket) => unknown = acknowledge) {
  const ws = new WebSocket(await ticketFor(slack));
  const said: Said[] = [];
  ws.on('message', (data) => {
    const message = JSON.parse(String(data)) as Said;
    said.push(message);
    const answer = message.envelope_id === undefined ? undefined : reply(message, ws);
    if (answer !== undefined) ws.send(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
  open.push({ close: () => ws.terminate() });
  await once(ws, 'message');
  return { ws, said, envelopes: () => said.filter(({ envelope_id: id }) => id !== undefined) };
}

function acknowledge({ envelope_id }: Said) {
  return { envelope_id, payload: {} };
}

const silent = () => undefined;

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
    const { slack, open } = await setting();
    const url = new URL(await open());
    expect(url.host).toBe(new URL(slack.apiUrl).host);
    expect(url).toMatchObject({ protocol: 'ws:', pathname: '/link/' });
    expect(url.searchParams.get('ticket')).not.toBe('');
  });

  test('takes the app token alone, and the app token opens nothing else', async () => {
    const { slack } = await setting();
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
    const { slack } = await setting({ appScopes: ['authorizations:read'] });
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
    const { slack, open } = await setting({ now: () => clock.ms });
    let url = await open();
    if (kind === 'used') await once(new WebSocket(url), 'open');
    if (kind === 'old') clock.ms += 30_001;
    if (kind === 'unknown') url = url.replace('ticket=', 'ticket=x');
    expect(await statusOf(url)).toBe(401);
    expect(slack.violations).toEqual(['socket: a ticket that is used up, too old or unknown']);
  });

  test('good for the ordered refusal', async () => {
    const { slack, open } = await setting();
    slack.sockets.order('refuse');
    expect(await statusOf(await open())).toBe(503);
    expect(slack.violations).toEqual([]);
  });
});

describe('a connection', () => {
  test('begins with hello', async () => {
    const { slack } = await setting();
    await connect(slack);
    const { said } = await connect(slack);
    expect(said).toEqual([
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
    const { slack, ana, open } = await setting();
    slack.sockets.order('no hello');
    await once(new WebSocket(await open()), 'open');
    expect(slack.sockets.open).toBe(0);
    expect(await ana.types('#docs', '/docs-export')).toMatchObject({ failed: 'dispatch_failed' });
  });

  test('beyond the tenth is told so, and closed', async () => {
    const { slack } = await setting();
    for (let count = 0; count < 10; count += 1) await connect(slack);
    const { ws, said } = await connect(slack);
    expect(said).toMatchObject([{ type: 'disconnect', reason: 'too_many_websockets' }]);
    await once(ws, 'close');
    expect(slack.sockets.open).toBe(10);
    expect(slack.violations).toEqual(['socket: more than 10 connections']);
  });

  test('is pinged, and cut off when nothing answers', async () => {
    const { slack, open } = await setting({ pingEveryMs: 200 });
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
    const { slack } = await setting();
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
    const { slack } = await setting();
    const { ws } = await connect(slack);
    ws.terminate();
    await slack.until(() => slack.sockets.open === 0);
  });

  test('is ended on request: all at once, or with a word before', async () => {
    const { slack } = await setting();
    const first = await connect(slack);
    slack.sockets.cut();
    await once(first.ws, 'close');
    const second = await connect(slack);
    slack.sockets.disconnect('warning', 10_000);
    await slack.until(() => second.said.length === 2);
    expect(second.said[1]).toMatchObject({ type: 'disconnect', reason: 'warning' });
    expect(slack.sockets.open).toBe(0);
    slack.sockets.disconnect('refresh_requested');
    const [code] = await once(second.ws, 'close');
    expect(code).toBe(1005);
  });
});

describe('an envelope', () => {
  test('carries a command, and its acknowledgement a private answer', async () => {
    const { slack, ana } = await setting();
    const bot = await connect(slack, ({ envelope_id }) => ({ envelope_id, payload: { text: 'Started' } }));
    expect(await ana.types('#docs', '/docs-export docs.acme.com')).toMatchObject({
      ok: true,
      status: 200,
      ephemeral: { text: 'Started', via: 'ack', to: 'U0ANA' },
    });
    expect(bot.envelopes()).toEqual([
      {
        envelope_id: expect.any(String),
        type: 'slash_commands',
        accepts_response_payload: true,
        payload: expect.objectContaining({
          command: '/docs-export',
          text: 'docs.acme.com',
          is_enterprise_install: 'false',
          trigger_id: expect.any(String),
        }),
      },
    ]);
  });

  test('carries a click, which takes no payload', async () => {
    const { slack, ana } = await setting({ manifest: widerManifest({ events: [] }) });
    const bot = await connect(slack, ({ envelope_id }) => ({ envelope_id, payload: { text: 'Hi' } }));
    const button = { type: 'button', action_id: 'a', text: { type: 'plain_text', text: 'Go' } };
    const blocks = [{ type: 'actions', elements: [button] }];
    await clientOf(slack).apiCall('chat.postMessage', {
      channel: slack.channel('#docs').id,
      text: 'x',
      blocks,
    });
    const [message] = slack.messages;
    if (!message) throw new Error('no message');
    expect(await ana.clicks(message, 'Go')).toMatchObject({ ok: true });
    expect(bot.envelopes()[0]).toMatchObject({
      type: 'interactive',
      accepts_response_payload: false,
      payload: { type: 'block_actions', actions: [{ action_id: 'a' }] },
    });
    expect(slack.violations).toEqual([
      'block_actions [Go]: acknowledged with a payload, which it does not accept',
    ]);
  });

  test('carries an event, again when it was not acknowledged', async () => {
    const manifest = widerManifest({ events: ['message.channels'] });
    const { slack, ana } = await setting({ manifest, eventRetryDelaysMs: [0, 1], answerWithinMs: 400 });
    const answers: unknown[] = [undefined, undefined];
    const bot = await connect(slack, (said) => (answers.length > 0 ? answers.pop() : acknowledge(said)));
    await ana.says('#docs', 'hello');
    await slack.until(() => slack.events[0]?.over);
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
    const { slack, ana } = await setting();
    const bots = [await connect(slack), await connect(slack)];
    for (let count = 0; count < 3; count += 1) await ana.types('#docs', '/docs-export');
    expect(bots.map((bot) => bot.envelopes().length)).toEqual([2, 1]);
    await slack.resend();
    const ids = bots.map((bot) => bot.envelopes().at(-1)?.envelope_id);
    expect(ids[0]).toBe(ids[1]);
  });

  test('fails for the person when no bot is connected, which breaks no rule', async () => {
    const { slack, ana } = await setting();
    expect(await ana.types('#docs', '/docs-export')).toMatchObject({
      ok: false,
      status: 0,
      failed: 'dispatch_failed',
    });
    expect(slack.violations).toEqual([]);
  });

  test('that nobody acknowledges is an operation_timeout; the late acknowledgement changes nothing', async () => {
    const { slack, ana } = await setting({ answerWithinMs: 30 });
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

  test.each(['cut when sent', 'cut when acknowledged'] as const)('is lost by order: %s', async (fault) => {
    const { slack, ana } = await setting();
    const bot = await connect(slack, fault === 'cut when sent' ? silent : acknowledge);
    slack.sockets.order(fault);
    expect(await ana.types('#docs', '/docs-export')).toMatchObject({ failed: 'dispatch_failed' });
    await slack.until(() => bot.envelopes().length === 1 && slack.sockets.open === 0);
    expect(slack.sockets.envelopes).toMatchObject([{ outcome: 'lost' }]);
    expect(slack.violations).toEqual([]);
  });

  test('still goes over a connection that Slack wants renewed while there is no other', async () => {
    const { slack, ana } = await setting();
    const old = await connect(slack);
    slack.sockets.disconnect('warning');
    expect(await ana.types('#docs', '/docs-export')).toMatchObject({ ok: true });
    const young = await connect(slack);
    await ana.types('#docs', '/docs-export');
    expect([old.envelopes().length, young.envelopes().length]).toEqual([1, 1]);
  });

  test('is watched by listeners', async () => {
    const { slack, ana } = await setting();
    await connect(slack);
    const seen: string[] = [];
    const stop = slack.sockets.onEnvelope(({ type }, moment) => seen.push(`${type} ${moment}`));
    await ana.types('#docs', '/docs-export');
    stop();
    await ana.types('#docs', '/docs-export');
    expect(seen).toEqual(['slash_commands sent', 'slash_commands acknowledged']);
  });
});

describe('an acknowledgement', () => {
  const twice = (said: Said, ws: WebSocket) => {
    ws.send(JSON.stringify(acknowledge(said)));
    return acknowledge(said);
  };
  test.each<[string, (said: Said, ws: WebSocket) => unknown, string]>([
    ['that is no JSON', () => 'ok', 'socket: what came is no acknowledgement'],
    ['without an id', () => ({ payload: {} }), 'socket: what came is no acknowledgement'],
    ['of something else', () => ({ envelope_id: 'x' }), 'socket: acknowledged what was not sent'],
    ['that comes twice', twice, 'socket: acknowledged twice'],
    ['with blocks that do not work', (said) => ({ ...acknowledge(said), payload: { blocks: [{}] } }), ''],
  ])('%s', async (_, reply, violation) => {
    const { slack, ana } = await setting({ answerWithinMs: 500 });
    await connect(slack, reply);
    const answer = await ana.types('#docs', '/docs-export');
    const expected = violation || '/docs-export: acknowledged with invalid_blocks';
    await slack.until(() => slack.violations.includes(expected));
    if (reply !== twice) expect(answer.ok).toBe(false);
  });

  test('in binary', async () => {
    const { slack, ana } = await setting({ answerWithinMs: 50 });
    await connect(slack, (said, ws) => ws.send(Buffer.from(JSON.stringify(acknowledge(said)))));
    expect(await ana.types('#docs', '/docs-export')).toMatchObject({ failed: 'operation_timeout' });
    expect(slack.violations).toContain('socket: what came is no acknowledgement');
  });

  test('over another connection', async () => {
    const { slack, ana } = await setting({ answerWithinMs: 50 });
    const sockets: WebSocket[] = [];
    const reply = (said: Said, ws: WebSocket) => {
      const other = sockets.find((one) => one !== ws);
      other?.send(JSON.stringify(acknowledge(said)));
    };
    sockets.push((await connect(slack, reply)).ws, (await connect(slack, reply)).ws);
    expect(await ana.types('#docs', '/docs-export')).toMatchObject({ failed: 'operation_timeout' });
    expect(slack.violations).toContain('socket: acknowledged over another connection');
  });
});

test('a raw request cannot go over a socket', async () => {
  const { slack } = await setting();
  await expect(slack.sendRaw({ body: 'a=1' })).rejects.toThrow('over HTTP only');
});

test('the manifest decides how requests go', async () => {
  const manifest = widerManifest({ socketMode: true });
  const slack = createStandInSlack({ manifest });
  open.push(await slack.listen());
  const { envelopes } = await connect(slack);
  await slack.person('ana').types('#docs', '/docs-export');
  expect(envelopes()).toHaveLength(1);
});

test("a modal's submission is answered in the acknowledgement", async () => {
  const plain = (text: string) => ({ type: 'plain_text', text });
  const name = {
    type: 'input',
    block_id: 'name',
    label: plain('Name'),
    element: { type: 'plain_text_input', action_id: 'text' },
  };
  const view = { type: 'modal', title: plain('Form'), submit: plain('Save'), blocks: [name] };
  const answers = [{ response_action: 'errors', errors: { name: 'Taken' } }, {}];
  const { slack, ana } = await setting();
  const bot = await connect(slack, ({ envelope_id, accepts_response_payload: accepts }) => ({
    envelope_id,
    payload: (bot.envelopes().length > 1 && accepts && answers.shift()) || {},
  }));
  await ana.types('#docs', '/docs-export');
  const { trigger_id } = (bot.envelopes()[0]?.payload ?? {}) as { trigger_id?: string };
  await clientOf(slack).apiCall('views.open', { trigger_id, view });
  expect(await ana.submits({ Name: 'acme' })).toMatchObject({ ok: true, errors: { name: 'Taken' } });
  expect(ana.fields()).toMatchObject([{ value: 'acme', error: 'Taken' }]);
  expect(await ana.submits({ Name: 'other' })).toMatchObject({ ok: true });
  expect(ana.modal()).toBeUndefined();
  expect(bot.envelopes()[2]).toMatchObject({
    type: 'interactive',
    accepts_response_payload: true,
    payload: { type: 'view_submission', view: { state: { values: { name: { text: { value: 'other' } } } } } },
  });
  expect(slack.violations).toEqual([]);
});

import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import { createStandInSlack, type StandInSlack, type StandInSlackOptions } from '../slack/slack.ts';
import { clientOf } from './bot.ts';

/** The stand-in Slack over Socket Mode, and `open`, which asks for an address to connect to. */
export async function startSlack(options: StandInSlackOptions = {}) {
  const slack = createStandInSlack({ transport: 'socket', ...options });
  onTestFinished((await slack.listen()).close);
  return { slack, ana: slack.person('ana'), open: () => ticketFor(slack) };
}

async function ticketFor(slack: StandInSlack): Promise<string> {
  const answer = await clientOf(slack, slack.tokens.app).apps.connections.open({});
  return String(answer.url);
}

export type Envelope = Record<string, unknown> & { envelope_id?: string };

/** Connects a bot that keeps what it receives, and answers envelopes by `reply`. */
export async function connect(
  slack: StandInSlack,
  reply: (received: Envelope, ws: WebSocket) => unknown = acknowledge,
) {
  const ws = new WebSocket(await ticketFor(slack));
  const received: Envelope[] = [];
  ws.on('message', (data) => {
    const message = JSON.parse(String(data)) as Envelope;
    received.push(message);
    const answer = message.envelope_id === undefined ? undefined : reply(message, ws);
    if (answer !== undefined) ws.send(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
  onTestFinished(() => ws.terminate());
  await once(ws, 'message');
  return { ws, received, envelopes: () => received.filter(({ envelope_id: id }) => id !== undefined) };
}

export function acknowledge({ envelope_id }: Envelope) {
  return { envelope_id, payload: {} };
}

import type { AddressInfo } from 'node:net';
import { App, HTTPReceiver } from '@slack/bolt';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { Agent, request } from 'undici';
import { serve } from './remote.ts';

/**
 * What every Slack app on BullMQ does at least: Bolt acknowledges a command or an event once a job is added, and the job
 * of a reply makes one request. Its own Bolt receiver, and one process, as Docket is one.
 */
const { REDIS_URL = '', SIGNING_SECRET = '', SEND_TO = '', API_KEY = '' } = process.env;
const NAME = 'floor';
const prefix = '{floor}';
const CONCURRENCY = 50;

interface Reply {
  text: string;
}

const connect = () => new Redis(REDIS_URL, { maxRetriesPerRequest: null });
const queue = new Queue<Reply | Record<string, string>>(NAME, { connection: connect(), prefix });
const receiver = new HTTPReceiver({ signingSecret: SIGNING_SECRET });
const app = new App({
  receiver,
  authorize: async () => ({ botToken: 'xoxb-floor', botId: 'B0DOCKET', botUserId: 'U0DOCKET' }),
});
app.command('/docs-export', async ({ ack, body }) => {
  const { user_id: user, channel_id: channel, text, response_url: url } = body;
  await queue.add('export', { user, channel, text, url }, { removeOnComplete: true });
  await ack();
});
app.event('message', async ({ event }) => {
  if (!('thread_ts' in event) || !('text' in event) || 'bot_id' in event) return;
  await queue.add('reply', { text: event.text ?? '' }, { removeOnComplete: true });
});

// A new connection for each request, as Docket makes one for each call that must not happen twice.
const dispatcher = new Agent({ pipelining: 0 });
let worker: Worker<Reply> | undefined;

const handlers = {
  async start(): Promise<number> {
    await queue.waitUntilReady();
    const server = await app.start(0);
    return (server.address() as AddressInfo).port;
  },
  /** Takes jobs from now on. */
  async work() {
    const take = async ({ data: { text } }: { data: Reply }) => {
      const { body } = await request(SEND_TO, {
        method: 'POST',
        headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
        body: JSON.stringify({ prompt: text }),
        dispatcher,
      });
      await body.dump();
    };
    worker = new Worker(NAME, take, { connection: connect(), prefix, concurrency: CONCURRENCY });
    await worker.waitUntilReady();
  },
};

export type BoltFloor = typeof handlers;
serve(handlers);

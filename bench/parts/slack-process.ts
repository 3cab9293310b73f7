import { setTimeout as pause } from 'node:timers/promises';
import { createStandInSlack } from '../../demo/slack/slack.ts';
import { serve, sharedMs } from './remote.ts';

/** Slack in a process of its own, with people who type and reply at a rate. */
/** As many as needed for no quota to be reached: an export counts for its channel and for its requester. */
const PEOPLE = 200;
/** Domains that are typed, one after another. */
const DOMAINS = 5000;
const CHANNELS = Number(process.env.CHANNELS ?? 50);

// Several workspaces: each process is one of them.
const id = process.env.TEAM;
// Two of these processes may share the bot: one answers it, the other sends requests to it.
const signingSecret = `8f0e2d4c6b1a39587f6e5d4c3b2a1908${id ?? ''}`;
const team = id && { id, domain: id.toLowerCase(), name: id, url: `https://${id.toLowerCase()}.slack.com/` };
const slack = createStandInSlack({
  ...{ transport: 'http', rateLimits: false, signingSecret },
  ...(team && { team }),
});
slack.workspace.users.push(
  ...Array.from({ length: PEOPLE }, (_, index) => {
    const ana = slack.workspace.users.find(({ name }) => name === 'ana');
    if (ana === undefined) throw new Error('ana is not here');
    return { ...ana, id: `U1P${index}`, name: `person${index}`, realName: `Person ${index}` };
  }),
);
const channels = Array.from({ length: CHANNELS }, (_, index) =>
  slack.workspace.addChannel({
    label: `#bench-${index}`,
    name: `bench-${index}`,
    kind: 'public',
    archived: false,
    shared: false,
    members: new Set(slack.workspace.users.map(({ id }) => id)),
  }),
);

/** When the request with a text was sent. */
const sentAtMs: Record<string, number> = {};
const MARKED = /n\d+ please/;
const send = globalThis.fetch;
globalThis.fetch = (url, init) => {
  const marked = typeof init?.body === 'string' ? MARKED.exec(init.body)?.[0] : undefined;
  if (marked !== undefined) sentAtMs[marked] ??= sharedMs();
  return send(url, init);
};

let [typed, written] = [0, 0];
let server: { url: string } | undefined;

/** Calls `act` so often; resolves when the answers to all of it are there. */
async function atRate(perSecond: number, forMs: number, act: () => Promise<unknown>): Promise<void> {
  const running: Promise<unknown>[] = [];
  const beganMs = performance.now();
  for (let count = 0; (count * 1000) / perSecond < forMs; count += 1) {
    const waitMs = beganMs + (count * 1000) / perSecond - performance.now();
    if (waitMs > 0) await pause(waitMs);
    running.push(act());
  }
  await Promise.all(running);
}

const handlers = {
  async listen() {
    server ??= await slack.listen();
    return {
      apiUrl: `${server.url}/api/`,
      token: slack.tokens.bot,
      signingSecret: slack.tokens.signingSecret,
    };
  },

  /** The ids of its channels and people. */
  places: () => ({ teamId: slack.team.id, channels: channels.map(({ id }) => id), people: PEOPLE }),

  /** How many messages there are. */
  messages: () => slack.messages.length,

  /** Sends requests to this port, and there to the path of this workspace if it is one of several. */
  sendTo(port: number, workspace?: string) {
    const path = workspace === undefined ? '/slack/events' : `/slack/${workspace}/events`;
    slack.botUrl = `http://127.0.0.1:${port}${path}`;
  },

  /** Returns how long each acknowledgement took, in milliseconds; a command that was refused counts as `refused`. */
  async typeCommands(perSecond: number, forMs: number): Promise<{ tookMs: number[]; refused: number }> {
    const tookMs: number[] = [];
    let refused = 0;
    await atRate(perSecond, forMs, async () => {
      typed += 1;
      const channel = channels[typed % channels.length];
      const fields = {
        token: 'stand-in-verification-token',
        team_id: slack.team.id,
        team_domain: slack.team.domain,
        channel_id: channel?.id ?? '',
        channel_name: channel?.name ?? '',
        user_id: `U1P${typed % PEOPLE}`,
        user_name: `person${typed % PEOPLE}`,
        command: '/docs-export',
        text: `site-${typed % DOMAINS}.acme.com`,
        api_app_id: slack.workspace.bot.appId,
        is_enterprise_install: 'false',
        response_url: `${server?.url}/commands/bench-${typed}`,
        trigger_id: `bench.${typed}`,
      };
      const answer = await slack.sendRaw({ body: new URLSearchParams(fields).toString() });
      if (answer.status !== 200 || answer.body !== '') refused += 1;
      tookMs.push(answer.tookMs);
    });
    return { tookMs, refused };
  },

  /** Has ana follow these jobs, each in a thread of its own, and returns the threads. */
  async follow(jobs: { id: string; ref: string }[]): Promise<string[]> {
    const threads: string[] = [];
    for (const { id, ref } of jobs) {
      await slack.person('ana').types('#docs', `/docs-agent follow ${id}`);
      const card = await slack.until(() =>
        slack.messages.find((message) => slack.read(message).includes(ref)),
      );
      threads.push(card.ts);
    }
    return threads;
  },

  /** Has ana reply in the threads, one after another; returns the beginning of each text, with when it was sent. */
  async reply(threads: string[], perSecond: number, forMs: number): Promise<Record<string, number>> {
    const from = written;
    await atRate(perSecond, forMs, () => {
      written += 1;
      const text = `n${written} please improve the page about errors`;
      return slack.person('ana').says('#docs', text, { threadTs: threads[written % threads.length] ?? '' });
    });
    const own = Object.entries(sentAtMs).filter(([text]) => Number(/\d+/.exec(text)) > from);
    return Object.fromEntries(own);
  },

  violations: () => slack.violations,
};

export type SlackProcess = typeof handlers;
serve(handlers);

import { randomBytes, randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { type Call, createWire, fetchOf, listenLocally, type Wire } from '../wire.ts';
import { createEvents, type EventDelivery, RETRY_DELAYS_MS } from './events.ts';
import { createFiles, type StandInFile } from './files.ts';
import type { Inside } from './inside.ts';
import { type Manifest, readManifest } from './manifest.ts';
import { createPerson, type Person } from './person.ts';
import { createRateLimits, noRateLimits } from './rate-limits.ts';
import { namesOf, render } from './render.ts';
import {
  type Answer,
  createRequests,
  type Delivery,
  type RawRequest,
  type Requests,
  type SlackRequest,
} from './requests.ts';
import { createReplies } from './response-url.ts';
import { channelNamed, createAcme, PERSON_NAMES, type PersonName, userNamed } from './seed.ts';
import type { Refuses } from './shown-here.ts';
import { createSockets, type Sockets } from './socket-mode.ts';
import { createTickets } from './tickets.ts';
import { createTriggers } from './triggers.ts';
import { createUploads } from './upload.ts';
import { createViews } from './views.ts';
import { createWebApi } from './web-api.ts';
import type { Channel, Ephemeral, SentMessage, Team, Workspace } from './workspace.ts';

// What a test waits for normally comes within milliseconds; this only ends a test that would hang.
const UNTIL_MS = 10_000;
// Changes elsewhere (the platform, a process) are noticed as soon.
const RECHECK_MS = 25;
// Slack does not say how often it asks; clients wait 30 s for it.
const PING_EVERY_MS = 10_000;
// Long enough that nobody can count on it at once.
const FILES_READY_AFTER_MS = 150;

export interface StandInSlackOptions {
  /** Epoch milliseconds; the real time when left out. */
  now?: () => number;
  /** Docket's own manifest.yml when left out. */
  manifest?: Manifest;
  botUrl?: string;
  /** The workspace; Acme when left out. Its people and channels have the same ids in each. */
  team?: Team;
  /** The bot's token; one of its own when left out. */
  botToken?: string;
  /** Its own for each, unless one is given. */
  signingSecret?: string;
  /** How requests reach the bot; what the manifest says when left out. */
  transport?: 'http' | 'socket';
  /** What the app token may do: `connections:write`, unless a test of refusals says else. */
  appScopes?: string[];
  /** The pause between two pings of a socket. */
  pingEveryMs?: number;
  /** Slack's 3 s, unless a test of lateness wants to be quick. */
  answerWithinMs?: number;
  /** `false` lets every call of the bot through; a number takes so many times as many as Slack does. */
  rateLimits?: false | number;
  /** Whether the app counts as distributed outside of Slack's Marketplace: it reads 15 messages a minute then. */
  distributed?: boolean;
  /** What this workspace refuses; `refuses` of the stand-in changes it later. */
  refuses?: Refuses;
  /** How long after its upload a file is ready, and shared. */
  filesReadyAfterMs?: number;
  /** The pauses before an event is sent again: at once, 1 min, 5 min. */
  eventRetryDelaysMs?: readonly number[];
}

/** A Slack on this machine, as strict as the real one where Docket could go wrong. */
export interface StandInSlack {
  wire: Wire;
  /** Reaches this Slack without a port: for `new WebClient(token, { fetch, slackApiUrl: slack.apiUrl })`. */
  fetch: typeof fetch;
  /** Valid with `fetch`, and with any client once it listens. */
  readonly apiUrl: string;
  /** Serves on loopback; `SLACK_API_URL` is `url` + `/api/`. */
  listen(port?: number): Promise<{ url: string; close(): Promise<void> }>;
  /** Where the bot receives requests, such as http://127.0.0.1:3123/slack/events. */
  botUrl: string | undefined;
  tokens: { bot: string; signingSecret: string; app: string };
  /** The WebSocket connections of the bot, and trouble with them. */
  sockets: Sockets;
  team: Team;
  workspace: Workspace;
  manifest: Manifest;
  /** Gives a channel another id, as Slack does when a private one becomes shared; the old one is unknown then. */
  changeChannelId(where: string): Promise<void>;
  /** An administrator removes the app: its token is refused from then on. */
  uninstall(): Promise<void>;
  person(name: PersonName): Person;
  /** `#docs`, an id, `@ana` for her direct messages with the bot, `ana+ben`, `ana+ben+docket`. */
  channel(where: string): Channel;
  messages: SentMessage[];
  ephemerals: Ephemeral[];
  /** Files of the bot whose upload was finished, the oldest first. */
  files: StandInFile[];
  /** What this workspace refuses from now on. */
  refuses: Refuses;
  /** Calls that its own rate limits refused, so that a test can ask for none. */
  limited: Call[];
  /** Resets the counts of its rate limits, as if minutes had passed. */
  forgetCalls(): void;
  /** Rules that the bot broke, in words, so that a test can ask for none. */
  violations: string[];
  /** What somebody who sees everything reads in a message. */
  read(message: Pick<SentMessage, 'text' | 'blocks' | 'files'>): string;
  /** Calls `check` after every change until it returns something; rejects after the timeout with all that is visible. */
  until<T>(check: () => T | undefined | false | null, timeoutMs?: number, what?: string): Promise<T>;
  /** The last command, click or modal that was sent to the bot. */
  readonly lastRequest: SlackRequest | undefined;
  /** Runs when a request leaves for the bot, and when its outcome is known. */
  watchRequests: Requests['watch'];
  /** Sends the very same bytes again, signature and all. */
  resend(request?: SlackRequest): Promise<Answer>;
  /** Sends what no person here would: bad signatures, old timestamps, other teams. */
  sendRaw(request: RawRequest): Promise<Delivery>;
  /** Sends an event that nobody here can cause, such as `app_uninstalled`. */
  sendEvent(
    event: Record<string, unknown>,
    options?: { shared?: boolean; eventId?: string },
  ): Promise<EventDelivery>;
  events: EventDelivery[];
  /** Events leave, and are signed, once this has ended. */
  holdEvents(until: Promise<void>): void;
  /** Stops waiting retries of events, and files that are not ready yet. */
  stop(): void;
}

/** Composes the stand-in. It needs no port until `listen`, and no bot until a person acts. */
export function createStandInSlack(options: StandInSlackOptions = {}): StandInSlack {
  const now = options.now ?? Date.now;
  const wire = createWire(now);
  const workspace = createAcme(now, options.team);
  const limits =
    options.rateLimits === false
      ? noRateLimits
      : createRateLimits(now, options.rateLimits, options.distributed);
  const limited: Call[] = [];
  const tokens = {
    // Its own for each: a bot that outlives its world must not be taken for one of another.
    bot: options.botToken ?? `xoxb-stand-in-${randomUUID()}`,
    signingSecret: options.signingSecret ?? randomBytes(16).toString('hex'),
    app: 'xapp-stand-in-app-token',
    verification: 'stand-in-verification-token',
  };
  let baseUrl = 'http://slack.invalid';
  const inside: Inside = {
    workspace,
    tokens,
    manifest: options.manifest ?? readManifest(),
    appScopes: options.appScopes ?? ['connections:write'],
    tickets: createTickets(now, workspace.newId),
    files: createFiles(workspace, options.filesReadyAfterMs ?? FILES_READY_AFTER_MS),
    refuses: { ...options.refuses },
    distributed: options.distributed ?? false,
    triggers: createTriggers(now, workspace.newId),
    views: createViews(workspace),
    violations: [],
    baseUrl: () => baseUrl,
  };
  const botUrl = () => slack.botUrl;
  const answerWithinMs = options.answerWithinMs ?? 3000;
  const sockets = createSockets({
    inside,
    answerWithinMs,
    pingEveryMs: options.pingEveryMs ?? PING_EVERY_MS,
  });
  const transport = options.transport ?? (inside.manifest.socketMode ? 'socket' : 'http');
  const overSocket = transport === 'socket' ? sockets.deliver : undefined;
  const requests = createRequests({ inside, botUrl, overSocket, answerWithinMs });
  const retryDelaysMs = options.eventRetryDelaysMs ?? RETRY_DELAYS_MS;
  const events = createEvents({ inside, requests, retryDelaysMs });
  const replies = createReplies(inside, wire);
  const app = new Hono()
    .route('/', createWebApi({ inside, wire, limits, limited, now }))
    .route('/', replies.app)
    .route('/', createUploads(inside.files, wire));
  const people = new Map(
    PERSON_NAMES.map((name) => [
      name,
      createPerson(userNamed(workspace, name), { inside, requests, replies, events }),
    ]),
  );

  const slack: StandInSlack = {
    wire,
    fetch: fetchOf(app),
    get apiUrl() {
      return `${baseUrl}/api/`;
    },
    async listen(port) {
      const server = createServer(getRequestListener(app.fetch));
      const cutSockets = sockets.attach(server);
      const { url, close } = await listenLocally(server, port);
      baseUrl = url;
      return {
        url,
        async close() {
          events.stop();
          inside.files.stop();
          cutSockets();
          await close();
        },
      };
    },
    botUrl: options.botUrl,
    tokens,
    sockets,
    team: workspace.team,
    workspace,
    manifest: inside.manifest,
    person(name) {
      const found = people.get(name);
      if (!found) throw new Error(`Nobody here is called ${name}`);
      return found;
    },
    async changeChannelId(where) {
      const channel = channelNamed(workspace, where);
      const old = channel.id;
      channel.id = workspace.newId('C');
      for (const message of [...workspace.messages, ...workspace.ephemerals])
        if (message.channel === old) message.channel = channel.id;
      await events.change('channel_id_changed', { old_channel_id: old, new_channel_id: channel.id });
    },
    async uninstall() {
      tokens.bot = `xoxb-stand-in-${randomUUID()}`;
      await events.change('tokens_revoked', { tokens: { oauth: [], bot: [workspace.bot.userId] } });
      await events.change('app_uninstalled', {});
    },
    channel: (where) => channelNamed(workspace, where),
    messages: workspace.messages,
    ephemerals: workspace.ephemerals,
    files: inside.files.finished,
    refuses: inside.refuses,
    limited,
    forgetCalls: limits.forget,
    violations: inside.violations,
    read: (message) => render(message, namesOf(workspace)),
    until: (look, timeoutMs = UNTIL_MS, what = 'what was waited for') =>
      waitFor(look, {
        timeoutMs,
        onChange: workspace.onChange,
        missing: () => `${what} did not come.\n${dump()}`,
      }),
    get lastRequest() {
      return requests.last;
    },
    watchRequests: requests.watch,
    resend(request = requests.last) {
      if (!request) throw new Error('Nothing was sent yet');
      return requests.send(request);
    },
    sendRaw: (request) => requests.deliver(requests.raw(request)),
    sendEvent: events.send,
    holdEvents: events.hold,
    events: events.deliveries,
    stop() {
      events.stop();
      inside.files.stop();
    },
  };

  function dump(): string {
    const label = (id: string) => workspace.channels.find((channel) => channel.id === id)?.label ?? id;
    const indented = (text: string) => text.replaceAll('\n', '\n    ');
    const shown = workspace.messages.map((message) => {
      const thread = message.threadTs ? ` in ${message.threadTs}` : '';
      const gone = message.deleted ? ' (deleted)' : '';
      return `  ${label(message.channel)} ${message.ts}${thread} ${message.from}${gone}:\n    ${indented(slack.read(message))}`;
    });
    const ephemerals = workspace.ephemerals.map(
      (message) =>
        `  ${label(message.channel)} only for ${message.to}:\n    ${indented(slack.read(message))}`,
    );
    const calls = wire.calls
      .slice(-15)
      .map(({ n, name, outcome }) => `  ${n} ${name} → ${outcome ?? 'unanswered'}`);
    return [
      'Messages:',
      ...shown,
      'Ephemerals:',
      ...ephemerals,
      'Last calls:',
      ...calls,
      'Violations:',
      ...inside.violations.map((rule) => `  ${rule}`),
    ].join('\n');
  }

  return slack;
}

function waitFor<T>(
  check: () => T | undefined | false | null,
  parts: { timeoutMs: number; onChange(listener: () => void): () => void; missing(): string },
): Promise<T> {
  return new Promise((resolve, reject) => {
    function recheck() {
      try {
        const found = check();
        if (found !== undefined && found !== false && found !== null) finish(() => resolve(found));
      } catch (error) {
        finish(() => reject(error));
      }
    }
    function finish(end: () => void) {
      stopListening();
      clearInterval(timer);
      clearTimeout(limit);
      end();
    }
    const stopListening = parts.onChange(recheck);
    const timer = setInterval(recheck, RECHECK_MS);
    const limit = setTimeout(() => finish(() => reject(new Error(parts.missing()))), parts.timeoutMs);
    recheck();
  });
}

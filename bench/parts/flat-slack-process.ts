import { setTimeout as pause } from 'node:timers/promises';
import { createStandInSlack } from '../../demo/slack/slack.ts';
import { createMovedTime } from './moved-clock.ts';
import { serve } from './remote.ts';

/** Slack in a process of its own, at a time that can be moved, with people who export sites and follow jobs. */
const WHERE = '#docs';
const AT_ONCE = 25;
const WAIT_MS = 120_000;

const time = createMovedTime();
const slack = createStandInSlack({ transport: 'http', rateLimits: false, now: time.now });
const ana = slack.person('ana');
let server: { url: string } | undefined;

const keyOf = ({ metadata }: (typeof slack.messages)[number]) => String(metadata?.event_payload.key ?? '');

/** Does each, so many at once. Returns what they came to, in their order. */
async function all<T, R>(list: readonly T[], act: (one: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const left = list.entries();
  const take = async () => {
    for (const [index, one] of left) results[index] = await act(one);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, take));
  return results;
}

/** Types until it is accepted, as a person would; what got no answer in time may be accepted already. */
async function type(command: string) {
  for (;;) {
    const { ok, ephemeral } = await ana.types(WHERE, command);
    if (ok && (ephemeral === undefined || slack.read(ephemeral).includes('already'))) return;
    await pause(500);
  }
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
  move: time.move,
  sendTo(port: number) {
    slack.botUrl = `http://127.0.0.1:${port}/slack/events`;
  },

  /** Has ana export these sites; returns when the ending of each is posted. */
  async exportAll(sites: string[]): Promise<void> {
    let asked = 0;
    const endings = () => slack.messages.filter((message) => keyOf(message).includes('.end.')).length;
    for (const site of sites) {
      await type(`/docs-export ${site}`);
      asked += 1;
      await slack.until(() => endings() > asked - AT_ONCE, WAIT_MS, 'an ending');
    }
    await slack.until(() => endings() >= asked, WAIT_MS, 'all endings');
  },

  /** Has ana follow each job in a thread of its own and write there. Returns the threads. */
  followAll: (jobs: { id: string; ref: string }[]): Promise<string[]> =>
    all(jobs, async ({ id, ref }) => {
      await type(`/docs-agent follow ${id}`);
      const card = await slack.until(
        () => slack.messages.findLast((one) => one.text.includes(ref) && keyOf(one).endsWith('.card')),
        WAIT_MS,
        `the card of ${ref}`,
      );
      await ana.says(WHERE, 'please improve the page about errors', { threadTs: card.ts });
      return card.ts;
    }),

  /** Has ana end following in these threads. */
  async stopAll(threads: string[]): Promise<void> {
    await all(threads, (threadTs) => ana.says(WHERE, '@docket stop', { threadTs }));
  },

  /** Whether the bot has answered all events. */
  isQuiet: () => slack.events.every(({ ended }) => ended),

  /** Forgets all messages. */
  forget() {
    for (const list of [slack.messages, slack.ephemerals, slack.wire.calls, slack.events]) list.splice(0);
  },
  violations: () => slack.violations,
};

export type FlatSlackProcess = typeof handlers;
serve(handlers);

import { setTimeout as pause } from 'node:timers/promises';
import type { StandInPlatform } from '../../demo/docs-platform/platform.ts';
import type { StandInSlack } from '../../demo/slack/slack.ts';

const EXPORT_EVERY_MS = 2000;
const REPLY_EVERY_MS = 500;
const THREADS = 8;
const SEND = 'POST /v2/agent/{projectId}/job/{jobId}/message';

/** What `workFor` does to the bot. */
export const workText = (spell: (ms: number) => string) =>
  `an export every ${spell(EXPORT_EVERY_MS)} in the same channels, and a reply every ${spell(REPLY_EVERY_MS)} in ${THREADS} threads`;

/** The sites that people have exported in so long a time. */
export const domainsFor = (ms: number) =>
  Array.from({ length: Math.floor(ms / EXPORT_EVERY_MS) }, (_, index) => `site-${index}.acme.com`);

interface Thread {
  channel: string;
  ts: string;
}

/** Has ana follow an agent job in a thread of each of the channels, some in the same one. */
export async function followThreads(
  { slack, platform }: { slack: StandInSlack; platform: StandInPlatform },
  channelOf: (index: number) => string,
  project: string,
): Promise<Thread[]> {
  const threads: Thread[] = [];
  for (let index = 0; index < THREADS; index += 1) {
    const ref = `agent/t${index}.`;
    const channel = channelOf(index);
    const job = platform.agent.add({ ref });
    await slack.person('ana').types(channel, `/docs-agent follow ${job} --project ${project}`);
    const card = await slack.until(() => slack.messages.find((message) => slack.read(message).includes(ref)));
    threads.push({ channel, ts: card.ts });
  }
  return threads;
}

/** Starts and stops one clock for each key. */
function createStopwatches() {
  const startedAtMs = new Map<string, number>();
  const tookMs: number[] = [];
  return {
    tookMs,
    start: (key: string) => void startedAtMs.set(key, performance.now()),
    stop(key: string) {
      const atMs = startedAtMs.get(key);
      startedAtMs.delete(key);
      if (atMs !== undefined) tookMs.push(performance.now() - atMs);
    },
    running: () => startedAtMs.size,
  };
}

/** Measures how long people wait: from a command to the card of its export, from a reply to the platform. */
export function watchPeople({ slack, platform }: { slack: StandInSlack; platform: StandInPlatform }) {
  const [cards, replies] = [createStopwatches(), createStopwatches()];
  slack.workspace.onChange(() => {
    const message = slack.messages.at(-1);
    if (message?.from === 'docket') cards.stop(/site-\d+\.acme\.com/.exec(message.text)?.[0] ?? '');
  });
  platform.wire.onCall((call, phase) => {
    if (call.name !== SEND || phase !== 'before') return;
    const { prompt } = call.detail.body as { prompt: string };
    replies.stop(prompt);
  });

  function ask(channel: string, domain: string) {
    cards.start(domain);
    void slack.person('ben').types(channel, `/docs-export ${domain}`);
  }

  function reply({ channel, ts }: Thread, text: string) {
    replies.start(text);
    void slack.person('ana').says(channel, text, { threadTs: ts });
  }

  return {
    /** In milliseconds, as are `replies`. */
    cards: cards.tookMs,
    replies: replies.tookMs,

    /** Has people ask for the exports of `domains`, and reply, for so long; then waits for the last cards and replies. */
    async workFor(
      ms: number,
      graceMs: number,
      {
        domains,
        threads,
        channelOf,
      }: { domains: string[]; threads: Thread[]; channelOf(index: number): string },
    ): Promise<void> {
      let [asked, written] = [0, 0];
      const timers = [
        setInterval(() => {
          ask(channelOf(asked), domains[asked] ?? '');
          asked += 1;
        }, EXPORT_EVERY_MS),
        setInterval(() => {
          const thread = threads[written % threads.length];
          if (thread) reply(thread, `n${written} please improve the page about errors`);
          written += 1;
        }, REPLY_EVERY_MS),
      ];
      await pause(ms);
      for (const timer of timers) clearInterval(timer);
      await slack.until(
        () => cards.running() + replies.running() === 0,
        graceMs,
        'the last cards and replies',
      );
    },
  };
}

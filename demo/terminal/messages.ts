import type { StandInSlack } from '../slack/slack.ts';
import { type Block, type Ephemeral, isMessage, type SentMessage } from '../slack/workspace.ts';
import { dataLines } from './data-blocks.ts';
import type { Screen } from './print.ts';

/** Prints each message of Docket's, as people read it, when it is posted and when it is edited from now on. */
export function printMessages(slack: StandInSlack, screen: Screen): void {
  const printed = new Map<SentMessage | Ephemeral, { edits: number; lines: string[] }>();
  /** The thread that was printed last: its first message's `ts`. */
  let lastThread: string | undefined;
  const nameOf = (id: string) =>
    slack.workspace.users.find((user) => user.id === id)?.realName.split(' ')[0] ?? id;

  function print(message: SentMessage | Ephemeral): void {
    const before = printed.get(message);
    if (before?.edits === message.edits.length) return;
    const lines = linesOf(message);
    printed.set(message, { edits: message.edits.length, lines });
    const inThread = message.threadTs !== undefined;
    if (!isMessage(message)) {
      screen.printEvent('private', `Only ${nameOf(message.to)} sees`, lines, inThread);
    } else if (before) {
      const changed = lines.filter((line) => !before.lines.includes(line));
      if (changed.length > 0)
        screen.printEvent('edits', 'Docket edits ✎', [...placeOf(message), ...changed], inThread);
    } else {
      const label = inThread ? 'Docket replies' : 'Docket posts';
      screen.printEvent('posts', label, [...placeOf(message), ...lines], inThread);
      if (message.notifies.length > 0)
        screen.printMore(`  🔔 notifies ${message.notifies.map(nameOf).join(', ')}`);
    }
  }

  /** Returns which thread a reply is in, where another message was printed in between. */
  function placeOf({ ts, threadTs = ts }: SentMessage): string[] {
    const isElsewhere = threadTs !== ts && threadTs !== lastThread;
    lastThread = threadTs;
    const root = slack.messages.find((message) => message.ts === threadTs);
    return isElsewhere && root ? [`under "${linesOf(root)[0]}":`] : [];
  }

  /** Returns what people read, with the buttons of each part below it. */
  function linesOf({ text, blocks, ...message }: SentMessage | Ephemeral): string[] {
    const files = 'files' in message ? message.files : [];
    const parts = withTimesAsSeen(blocks, slack.workspace.nowMs(), zoneOf(message));
    const shown = parts.flatMap((block) => dataLines(block, screen.room) ?? linesOfPart('', [block]));
    return [
      ...(blocks.length > 0 ? shown : linesOfPart(text, [])),
      ...files.map(({ name }) => `[file: ${name}]`),
    ];
  }

  /** What one person alone sees has the times of their zone; all else those of this machine's. */
  const zoneOf = (message: object) =>
    'to' in message ? slack.workspace.users.find(({ id }) => id === message.to)?.tz : undefined;

  const linesOfPart = (text: string, blocks: Block[]) =>
    slack.read({ text, blocks }).split('\n').filter(Boolean);

  slack.workspace.onChange(() => {
    for (const message of slack.messages) if (message.from === 'docket') print(message);
    for (const message of slack.ephemerals) print(message);
  });
}

/** Returns the blocks with times as a Slack client shows them here, instead of their fallback. */
function withTimesAsSeen(blocks: Block[], nowMs: number, zone: string | undefined): Block[] {
  return JSON.parse(JSON.stringify(blocks), (_key, node) => {
    const asSeen = (format: string, seconds: number) => momentAsSeen(format, seconds * 1000, nowMs, zone);
    if (node?.type === 'mrkdwn') {
      const text = String(node.text).replace(/<!date\^(\d+)\^([^|]+)\|[^>]*>/g, (_date, seconds, format) =>
        asSeen(format, Number(seconds)),
      );
      return { ...node, text };
    }
    if (node?.type !== 'date' || typeof node.format !== 'string') return node;
    return { type: 'text', text: asSeen(node.format, node.timestamp) };
  });
}

const DAY_MS = 24 * 3_600_000;
const relativeTime = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

function momentAsSeen(format: string, atMs: number, nowMs: number, timeZone: string | undefined): string {
  const dateOf = (ms: number) => new Date(ms).toLocaleDateString('en', { dateStyle: 'medium', timeZone });
  const date = dateOf(atMs);
  // As Slack has it, see "Formatting dates" of its reference.
  const near = [-1, 0, 1].find((days) => date === dateOf(nowMs + days * DAY_MS));
  const pretty = near === undefined ? date : relativeTime.format(near, 'day');
  const seconds = Math.round((atMs - nowMs) / 1000);
  return format
    .replace('{ago}', relativeTime.format(seconds, 'second'))
    .replace('{date_short_pretty}', pretty)
    .replace('{time}', new Date(atMs).toLocaleTimeString('en-GB', { timeStyle: 'short', timeZone }));
}

import type { StandInSlack } from '../slack/slack.ts';
import { type Block, type Ephemeral, isMessage, type SentMessage } from '../slack/workspace.ts';
import type { Screen } from './print.ts';

/** Prints each message of Docket's, as people read it, when it is posted and when it is edited from now on. */
export function printMessages(slack: StandInSlack, screen: Screen): void {
  const printed = new Map<SentMessage | Ephemeral, { edits: number; lines: string[] }>();
  const nameOf = (id: string) =>
    slack.workspace.users.find((user) => user.id === id)?.realName.split(' ')[0] ?? id;

  function print(message: SentMessage | Ephemeral): void {
    const before = printed.get(message);
    if (before?.edits === message.edits.length) return;
    const blocks = withTimesAsSeen(message.blocks, slack.workspace.nowMs());
    const lines = slack.read({ text: message.text, blocks }).split('\n');
    printed.set(message, { edits: message.edits.length, lines });
    const inThread = message.threadTs !== undefined;
    if (!isMessage(message)) {
      screen.printEvent('private', `Only ${nameOf(message.to)} sees`, lines, inThread);
    } else if (before) {
      const changed = lines.filter((line) => !before.lines.includes(line));
      if (changed.length > 0) screen.printEvent('edits', 'Docket edits ✎', changed, inThread);
    } else {
      screen.printEvent('posts', inThread ? 'Docket replies' : 'Docket posts', lines, inThread);
      if (message.notifies.length > 0)
        screen.printMore(`  🔔 notifies ${message.notifies.map(nameOf).join(', ')}`);
    }
  }

  slack.workspace.onChange(() => {
    for (const message of slack.messages) if (message.from === 'docket') print(message);
    for (const message of slack.ephemerals) print(message);
  });
}

/** Returns the blocks with times as a Slack client shows them here, instead of their fallback. */
function withTimesAsSeen(blocks: Block[], nowMs: number): Block[] {
  return JSON.parse(JSON.stringify(blocks), (_key, node) => {
    if (node?.type !== 'date' || typeof node.format !== 'string') return node;
    return { type: 'text', text: momentAsSeen(node.format, node.timestamp * 1000, nowMs) };
  });
}

function momentAsSeen(format: string, atMs: number, nowMs: number): string {
  const at = new Date(atMs);
  const isToday = at.toDateString() === new Date(nowMs).toDateString();
  const date = at.toLocaleDateString('en', { dateStyle: 'medium' });
  const seconds = Math.round((atMs - nowMs) / 1000);
  return format
    .replace('{ago}', new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(seconds, 'second'))
    .replace('{date_short_pretty}', isToday ? 'today' : date)
    .replace('{time}', at.toLocaleTimeString('en-GB', { timeStyle: 'short' }));
}

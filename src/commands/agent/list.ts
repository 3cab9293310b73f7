import type { ListedThread } from '../../jobs/agent/thread/record.ts';
import { threadLine } from '../../jobs/agent/thread/view.ts';
import { threadPermalink } from '../../jobs/agent/thread/visible.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { formatCount } from '../../slack/text.ts';
import type { Caller, CommandTools } from '../tools.ts';
import { findThreads } from './threads.ts';

/** More lines than this help nobody; the rest is counted. */
const MAX_LINES = 15;

/** The followed threads that this person may see; with `project`, those of that one. */
export async function listThreads(
  project: string | undefined,
  caller: Caller,
  tools: CommandTools,
): Promise<Message> {
  const matches = (thread: ListedThread) => project === undefined || thread.project === project;
  const { threads, rest } = await findThreads(caller, tools, MAX_LINES, matches);
  if (threads.length === 0)
    return message([
      ['No agent job that you can see here is followed. Follow one with '],
      [{ code: '/docs-agent follow <job id>' }],
    ]);
  const lines = threads.map((thread) => threadLine(thread, threadPermalink(thread, tools.workspaceUrl)));
  return message(rest > 0 ? [...lines, [`and ${formatCount(rest)} more`]] : lines);
}

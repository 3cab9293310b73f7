import { threadLine } from '../../jobs/agent/thread/list-view.ts';
import type { ListedThread } from '../../jobs/agent/thread/record.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { count } from '../../slack/text.ts';
import type { Caller, CommandTools } from '../command.ts';
import { addressOf, threadsFor } from './threads.ts';

/** More lines than this help nobody; the rest is counted. */
const LINES = 15;

/** The followed threads that this person may see; with `project`, those of that one. */
export async function listThreads(
  project: string | undefined,
  caller: Caller,
  tools: CommandTools,
): Promise<Message> {
  const wanted = (thread: ListedThread) => project === undefined || thread.project === project;
  const { threads, rest } = await threadsFor(caller, tools, LINES, wanted);
  if (threads.length === 0)
    return message([
      ['No agent job that you can see here is followed. Follow one with '],
      [{ code: '/docs-agent follow <job id>' }],
    ]);
  const lines = threads.map((thread) => threadLine(thread, addressOf(thread, tools)));
  return message(rest > 0 ? [...lines, [`and ${count(rest)} more`]] : lines);
}

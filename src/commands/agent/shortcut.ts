import type { ThreadRun } from '../../jobs/agent/thread/record.ts';
import { within } from '../../runtime/within.ts';
import { message } from '../../slack/blocks.ts';
import { mentionedIn, messageMarkdown } from '../../slack/markdown/message.ts';
import { noNames } from '../../slack/markdown/names.ts';
import type { CommandTools, MessageShortcut, ShortcutMessage } from '../command.ts';
import { OPTIONS, sendDialogView, takesMore } from './modal.ts';
import { threadsFor } from './threads.ts';

/** The longest that names may hold up a dialog, whose trigger ends soon; without them it says "@someone". */
const NAMES_MS = 300;

/** "Send to the docs agent" in the menu of any message. */
export const sendShortcut: MessageShortcut = {
  callback: 'agent.send_message',
  may: 'agent',

  async run(chosen, caller, tools) {
    const rootTs = chosen.threadTs ?? chosen.ts;
    const isHere = ({ place }: Pick<ThreadRun, 'place'>) =>
      place?.channel === caller.channel.id && place.rootTs === rootTs;
    const [{ threads: known }, text] = await Promise.all([
      threadsFor(caller, tools, OPTIONS, undefined, isHere),
      textOf(chosen, tools),
    ]);
    const threads = known.filter(takesMore);
    if (threads.length === 0) return noneFollowed;
    const here = threads.find(isHere);
    await tools.openDialog(caller, sendDialogView({ threads, here, text }, caller));
    return undefined;
  },
};

async function textOf(
  { content }: ShortcutMessage,
  { names, botUserId }: Pick<CommandTools, 'names' | 'botUserId'>,
): Promise<string> {
  const known = await within(NAMES_MS, names(mentionedIn(content))).catch(() => noNames);
  return messageMarkdown(content, known, { withoutMention: botUserId }).trim();
}

const noneFollowed = message([
  [
    'No agent job that you can see here is followed and takes instructions, so there is nowhere to send this. Follow one with ',
  ],
  [{ code: '/docs-agent follow <job id>' }],
]);

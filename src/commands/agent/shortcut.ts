import { acceptsInstructions, type ThreadRun } from '../../jobs/agent/thread/record.ts';
import { within } from '../../runtime/within.ts';
import { message } from '../../slack/blocks.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import { findMentions, messageToMarkdown } from '../../slack/markdown/message.ts';
import { noNames } from '../../slack/markdown/names.ts';
import type { MessageShortcut, ShortcutMessage } from '../registry.ts';
import type { CommandTools } from '../tools.ts';
import { sendModalView } from './modal.ts';
import { findThreads } from './threads.ts';

/** The longest that names may hold up a modal, whose trigger ends soon; without them it says "@someone". */
const NAMES_TIMEOUT_MS = 300;

/** "Send to the docs agent" in the menu of any message. */
export const sendShortcut: MessageShortcut = {
  callbackId: 'agent.send_message',
  may: 'agent',

  async run(chosen, caller, tools) {
    const rootTs = chosen.threadTs ?? chosen.ts;
    const isHere = ({ place }: Pick<ThreadRun, 'place'>) =>
      place?.channel === caller.channel.id && place.rootTs === rootTs;
    const [{ threads: known }, text] = await Promise.all([
      findThreads(caller, tools, SLACK_LIMITS.selectOptions, undefined, isHere),
      textOf(chosen, tools),
    ]);
    const threads = known.filter(acceptsInstructions);
    if (threads.length === 0) return noneFollowed;
    const here = threads.find(isHere);
    await tools.openModal(caller, sendModalView({ threads, here, text }));
    return undefined;
  },
};

async function textOf({ content }: ShortcutMessage, { names, botUserId }: CommandTools): Promise<string> {
  const known = await within(NAMES_TIMEOUT_MS, names(findMentions(content))).catch(() => noNames);
  return messageToMarkdown(content, known, { withoutMention: botUserId }).trim();
}

const noneFollowed = message([
  [
    'No agent job that you can see here is followed and takes instructions, so there is nowhere to send this. Follow one with ',
  ],
  [{ code: '/docs-agent follow <job id>' }],
]);

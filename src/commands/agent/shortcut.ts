import { mentionMessage } from '../../jobs/agent/mention/view.ts';
import { acceptsInstructions, type ThreadRun } from '../../jobs/agent/thread/record.ts';
import { projectsWithId } from '../../projects.ts';
import { withTimeout } from '../../runtime/with-timeout.ts';
import { message } from '../../slack/blocks.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import { findMentions, messageToMarkdown } from '../../slack/markdown/message.ts';
import { noNames } from '../../slack/markdown/names.ts';
import type { CommandTools } from '../intake.ts';
import type { MessageShortcut, ShortcutMessage } from '../registry.ts';
import { openSendModal, type SendTargets } from './modal.ts';
import { noAgentMessage, resolveAgentProject } from './project.ts';
import { findThreads } from './threads.ts';

/** Maximum delay of a modal by look-ups of names, since its trigger expires soon; then it shows "@someone". */
const NAMES_TIMEOUT_MS = 300;

/** "Send to the docs agent" in the menu of any message. */
export const sendShortcut: MessageShortcut = {
  callbackId: 'agent.send_message',
  may: 'agent',

  async run(chosen, caller, tools) {
    const rootTs = chosen.threadTs ?? chosen.ts;
    const { teamId, channel } = caller;
    const isHere = ({ place }: Pick<ThreadRun, 'place'>) =>
      place?.channel === channel.id && place.rootTs === rootTs;
    const [{ threads: known }, isClosed, text] = await Promise.all([
      findThreads(caller, tools, SLACK_LIMITS.selectOptions, undefined, isHere),
      tools.intake.isClosed({ teamId, channel: channel.id, rootTs }, caller),
      textOf(chosen, tools),
    ]);
    const threads = known.filter(acceptsInstructions);
    const here = threads.find(isHere);
    // A thread follows one job at a time.
    const newJob = isClosed || known.some(isHere) ? undefined : newJobIn(channel.id, tools);
    if (threads.length > 0 || newJob !== undefined) {
      await openSendModal(chosen, { threads, here, newJob, text }, caller, tools);
      return undefined;
    }
    if (isClosed) return mentionMessage('', { kind: 'closed' });
    return noAgentMessage(tools.projects, channel.id) ?? noneFollowed;
  },
};

function newJobIn(channel: string, { projects }: CommandTools): SendTargets['newJob'] {
  const withAgent = projectsWithId(projects);
  if (withAgent.length === 0) return undefined;
  const here = resolveAgentProject(projects, { channel });
  return { projects: withAgent, project: here.kind === 'project' ? here.name : undefined };
}

async function textOf({ content }: ShortcutMessage, { names, botUserId }: CommandTools): Promise<string> {
  const known = await withTimeout(NAMES_TIMEOUT_MS, names(findMentions(content))).catch(() => noNames);
  return messageToMarkdown(content, known, { withoutMention: botUserId }).trim();
}

const noneFollowed = message([
  [
    'No followed job that you can see here takes instructions, so there is nowhere to send this. Follow one with ',
  ],
  [{ code: '/docs-agent follow <job id>' }],
]);

import { mentionButton, mentionRun } from '../../jobs/agent/mention/record.ts';
import { projectMessage } from '../../jobs/agent/mention/view.ts';
import { agentActions } from '../../jobs/agent/thread/buttons.ts';
import { newInstruction } from '../../jobs/agent/thread/instruction.ts';
import { newThread } from '../../jobs/agent/thread/record.ts';
import { message } from '../../slack/blocks.ts';
import { type EphemeralMessage, replaceOriginal } from '../../slack/response-url.ts';
import { idOf } from '../../store/ids.ts';
import { defineButton } from '../feature.ts';
import { resolveAgentProject } from './new-thread.ts';

/** [Start a new job] under a mention: its thread follows the job that is made with its words. */
export const startNewButton = defineButton({
  action: agentActions.startNew,
  may: 'agent',
  value: mentionButton,
  async run({ mention: id }, caller, tools): Promise<EphemeralMessage | undefined> {
    const mention = await tools.intake.load(id, mentionRun, caller);
    if (mention?.answer?.kind !== 'offer') return notFound;
    const { teamId, threadTs, answer } = mention;
    const { user, external, channel, ts, files } = mention.reply;
    if (user !== caller.user.id) return notYours;
    const project = resolveAgentProject(tools.projects, { channel });
    if (project.kind === 'unclear') return projectMessage(project.problem, '/docs-agent new …', 'new');
    const owner = { id: caller.user.id, name: caller.user.name };
    const thread = newThread(
      {
        id: idOf('agent-new', mention.id),
        teamId,
        project: project.name,
        agentJobId: undefined,
        owner,
        checked: true,
        asked: { channel, joinable: true, isPublic: false, external, rootTs: threadTs ?? ts, ts },
        mode: tools.replyMode,
        instruction: newInstruction({
          id: ts,
          by: owner,
          atMs: Math.round(Number(ts) * 1000),
          isReply: true,
          text: answer.text,
          files,
          creates: true,
        }),
      },
      tools.now(),
    );
    const acceptance = await tools.intake.start(thread, caller);
    return acceptance.kind === 'claimed' ? alreadyFollowed : started;
  },
});

const started = replaceOriginal('A new job starts in this thread.');

const notFound = message([['I no longer remember this message. Mention me again with what is to be done.']]);

const notYours = message([['Only whoever wrote this can start a job with it.']]);

const alreadyFollowed = message([['This thread follows a job by now: reply there to instruct the agent.']]);

import { type Message, message } from '../../slack/blocks.ts';
import { cut, oneLine } from '../../slack/text.ts';
import { quoted, shortId, threadButtonOf } from './phrases.ts';
import { agentActions, type Note, type ThreadRun } from './thread.ts';

/** What one person is told alone, in the thread. */
export function noteMessage(thread: ThreadRun, note: Note): Message {
  switch (note.kind) {
    case 'question':
      return questionMessage(thread, note);
    case 'sentOnce':
      return message([
        ['It goes to the agent. From now on, mention @Docket when a reply of yours is for the agent.'],
      ]);
    case 'files':
      return message([["I take the text. I can't pass files on to the agent."]]);
    case 'edited':
      return message([['That was already sent. Reply with the correction instead.']]);
    case 'notPermitted': {
      const whom = cut(oneLine(note.about ?? ''), 200) || 'whoever runs Docket';
      return message([[`You can't instruct the docs agent here, so nothing was sent. Ask ${whom}.`]]);
    }
    case 'tooEmpty':
      return message([
        ['There is no text in that, so nothing was sent. Write what the agent should do; it gets no files.'],
      ]);
    case 'help':
      return helpMessage();
    case 'mode':
      return message([[modeWords(note.about ?? thread.mode)]]);
    case 'followsAlready':
      return message([
        [`This thread follows ${jobWords(thread)}. Type `, { code: '@Docket stop' }, ' first.'],
      ]);
    case 'settled':
      return message([['That is settled already, so nothing was changed.']]);
  }
}

function questionMessage(thread: ThreadRun, { about, excerpt }: Note): Message {
  const ids = about === undefined ? [] : [about];
  return message(
    [[`Is this for the agent?  ${quoted(excerpt)}`]],
    [
      threadButtonOf(thread, 'Send', agentActions.send, ids),
      threadButtonOf(thread, 'Not for the agent', agentActions.notForAgent, ids),
      threadButtonOf(thread, 'Always in this thread', agentActions.always, ids),
    ],
  );
}

const jobWords = ({ agentJobId }: ThreadRun) =>
  agentJobId === undefined ? 'a job that is about to be made' : `job ${shortId(agentJobId)}`;

function helpMessage(): Message {
  return message([
    ['Mention @Docket with what the agent should do, or with one of these:'],
    [{ code: '@Docket stop' }, ' — stop following the job'],
    [{ code: '@Docket only when mentioned' }, ' — other replies are talk'],
    [{ code: '@Docket all replies' }, ' — every reply goes to the agent'],
    [{ code: '@Docket follow <job id>' }, ' — follow another job, after a stop'],
    ['A reply that starts with "aside" never goes to the agent.'],
  ]);
}

/** A later switch may be under way when this is said: it is about its own. */
function modeWords(mode: string): string {
  switch (mode) {
    case 'mention':
      return 'From now on, only replies that mention @Docket go to the agent.';
    case 'all':
      return 'From now on, every reply goes to the agent, unless it starts with "aside".';
    default:
      return 'From now on, replies go to the agent while one person alone writes here; then I ask first.';
  }
}

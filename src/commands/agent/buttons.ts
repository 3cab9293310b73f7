import { isAlone } from '../../jobs/agent/thread/asking.ts';
import { agentActions, type ThreadButton, threadButton } from '../../jobs/agent/thread/buttons.ts';
import { clicked } from '../../jobs/agent/thread/click.ts';
import { type ThreadClick, threadClicks } from '../../jobs/agent/thread/event.ts';
import { type Person, type ThreadRun, threadRun } from '../../jobs/agent/thread/record.ts';
import { maySee } from '../../jobs/may-see.ts';
import { person } from '../../jobs/wording-view.ts';
import { message } from '../../slack/blocks.ts';
import { inPlace, type PrivateAnswer } from '../../slack/response-url.ts';
import type { Caller, CommandTools } from '../command.ts';
import { defineButton } from '../command.ts';

type Action = ThreadClick['action'];

/** The buttons of a thread that follows a job. Its look does what was clicked; here is only said what cannot be. */
export const threadButtons = threadClicks.map((action) =>
  defineButton({
    action: agentActions[action],
    may: 'agent',
    value: threadButton,
    run: (button, caller, tools) => click(action, button, caller, tools),
  }),
);

async function click(
  action: Action,
  button: ThreadButton,
  caller: Caller,
  tools: CommandTools,
): Promise<PrivateAnswer | undefined> {
  const thread = await tools.intake.load(button.run, threadRun, caller);
  if (thread === undefined) return gone;
  if (!(await maySee(thread, caller, tools.isPublic))) return notHere;
  const { about, attempt } = button;
  const by: Person = { id: caller.user.id, name: caller.user.name };
  const entry: ThreadClick = { kind: 'clicked', action, by, about, attempt };
  const why = whyNot(thread, entry, tools.now());
  if (why !== undefined) return why.told;
  // What may be wanted once more is another click each time; of everything else, the first click alone counts. What
  // was on its way when it was discarded may come back to wait.
  const eachCounts = again.has(action) || action === 'discard';
  const parts = ['click', action, ...about, attempt, ...(eachCounts ? [caller.requestId] : [])];
  const told = await tools.intake.tell('agent-thread', thread.id, { entry, once: parts.join(' ') }, caller);
  if (told === 'gone') return gone;
  if (told === 'repeated') {
    // The same person clicked twice.
    if (again.has(action) || asks.has(action)) return undefined;
    return alreadyBy(thread, entry);
  }
  const { agentJobId: job } = thread;
  await tools.note({ subject: job ?? 'new job', job, result: 'accepted' });
  return answerTo(thread, entry);
}

const again: ReadonlySet<Action> = new Set(['checkJob', 'checkNow', 'onlyMentioned', 'allReplies', 'stop']);

/** What is said to a click that counts, where nothing else shows it. */
function answerTo(thread: ThreadRun, { action, by }: ThreadClick): PrivateAnswer | undefined {
  switch (action) {
    case 'send':
      return inPlace(`It goes to the agent.${fromNowOn(thread, by, 'it')}`);
    case 'notForAgent':
      return inPlace(`Not sent.${fromNowOn(thread, by, 'the agent')}`);
    case 'always':
      // Where only mentions count, no answer makes other replies count.
      return thread.mode === 'mention'
        ? inPlace(`It goes to the agent.${fromNowOn(thread, by, 'it')}`)
        : inPlace('It goes to the agent, and so do your later replies here.');
    case 'onlyMentioned':
      return message([['Only replies with @Docket count here from now on.']]);
    case 'allReplies':
      return message([['Every reply here counts from now on.']]);
    case 'checkJob':
    case 'checkNow':
      return message([["I'm looking."]]);
    case 'discard':
    case 'sendAgain':
    case 'leave':
    case 'stop':
      return undefined;
  }
}

/** What an answer means for this person's later replies; nothing where they count as they did before. */
function fromNowOn(thread: ThreadRun, { id }: Person, whom: string): string {
  if (thread.mode === 'all' || isAlone(thread, id)) return '';
  return ` From now on, mention @Docket when a reply of yours is for ${whom}.`;
}

/** What to say to a click that changes nothing, as far as the thread tells; `told` may be nothing. */
function whyNot(
  thread: ThreadRun,
  entry: ThreadClick,
  nowMs: number,
): { told: PrivateAnswer | undefined } | undefined {
  const { action, about, by } = entry;
  if (thread.state === 'ended') return { told: sends.has(action) ? nothingSent : over };
  if (again.has(action)) return undefined;
  if (asks.has(action)) {
    const author = thread.instructions.find(({ id }) => about.includes(id))?.by;
    if (author !== undefined && author.id !== by.id) return { told: notYours(author) };
  }
  return clicked(thread, entry, nowMs) === thread ? { told: alreadyBy(thread, entry) } : undefined;
}

/** The answers to a question; it was asked of one person. */
const asks: ReadonlySet<Action> = new Set(['send', 'notForAgent', 'always']);
const sends: ReadonlySet<Action> = new Set(['send', 'notForAgent', 'always', 'discard', 'sendAgain']);

/** A click that came after another one. Whoever clicked twice knows; everybody else is told. */
function alreadyBy(thread: ThreadRun, { about: [id], attempt, by }: ThreadClick): PrivateAnswer | undefined {
  const trouble = thread.troubles.find((one) => one.id === id && one.attempt === attempt);
  const answer = trouble?.answer;
  if (answer === undefined || answer.action === 'late' || answer.action === 'lateNot') return settled;
  if (answer.by.id === by.id) return undefined;
  const what = answer.action === 'leave' ? 'left it at that' : 'sent it again';
  return message([[`@${person(answer.by.name)} ${what} already.`]]);
}

const settled = message([['That was settled already; look at the newest message in the thread.']]);

const gone = message([['I no longer follow this thread.']]);

const over = message([['This thread follows no job any more.']]);

const nothingSent = message([['This thread follows no job any more, so nothing can be sent.']]);

const notHere = message([
  ["This thread is somebody else's, in a conversation that you are not in. Ask them."],
]);

const notYours = ({ name }: Person) =>
  message([[`Only @${person(name)} can say that: it is about their message.`]]);

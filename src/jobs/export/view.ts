import { layout, type Message, message, type Part } from '../../slack/blocks.ts';
import type { OutboxMessage } from '../../slack/outbox.ts';
import { cut, singleLine } from '../../slack/text.ts';
import { personName } from '../wording-view.ts';
import { exportActions } from './buttons.ts';
import { endingMessage, privateLinkMessage, retractedMessage } from './ending-view.ts';
import { runButtonOf, site } from './phrases.ts';
import { cardMessage, progressMessage, troubleLine } from './progress-view.ts';
import { type DoneEnding, type ExportRun, isRetracted } from './record.ts';
import { hasEnded } from './state-view.ts';

/** The key of a run's card. The card in direct messages is a different message from the channel's. */
export const cardKey = (run: ExportRun) => `${run.id}.card${run.inDirectMessage ? '.dm' : ''}`;

/** Returns every message of a run in its present form. Earlier endings stay as they were. */
export function exportMessages(run: ExportRun): OutboxMessage[] {
  const { ending, answer, earlier } = run;
  if (ending?.kind === 'noPlace' || run.state === 'accepted') return [];
  const user = run.requester.id;
  const messages: OutboxMessage[] = [];

  const place = run.inDirectMessage ? { user } : { channel: run.asked.channel };
  const retracted = isRetracted(run) ? { retracted: true as const } : {};
  messages.push({ key: cardKey(run), place, kind: 'state', message: cardMessage(run), ...retracted });

  const wasWatched = run.startedAtMs !== undefined || run.unknownJobId !== undefined;
  const isKnown = wasWatched || (run.joined && run.snapshots.length > 0);
  // While the first link is made the message stays as it is: the next edit is the last.
  const isEnding = run.state === 'bundling' && run.relinked === 0 && run.pollFailure === undefined;
  if (!isEnding && (isKnown || troubleLine(run).length > 0)) {
    const kind = hasEnded(run) ? 'state' : 'progress';
    const inThread = { under: cardKey(run) };
    const message = progressMessage(run);
    messages.push({ key: `${run.id}.progress`, place: inThread, kind, message, ...retracted });
  }
  if (run.state === 'unknown') messages.push(inThread(run, `question.${run.attempt}`, questionMessage(run)));
  if (answer) messages.push(inThread(run, `question.${answer.attempt}`, answeredMessage(run, answer)));
  if (earlier) messages.push(...doneMessages(run, earlier.ending, earlier.resumed));
  if (ending?.kind === 'done') messages.push(...doneMessages(run, ending, run.resumed));
  else if (isRetracted(run))
    // The requester gets the answer in the conversation of the request.
    for (const { id } of run.watchers)
      messages.push({
        key: `${run.id}.refused.${run.attempt}.${id}`,
        place: { user: id },
        kind: 'ending',
        message: retractedMessage(run),
      });
  else if (ending && ending.kind !== 'left') {
    // A failed further link gets its own message, since the old link may still work.
    const suffix = run.relinked > 0 ? `.${run.relinked}` : '';
    const name = `end.${run.attempt}.${run.resumed}${suffix}`;
    const message = endingMessage(run, ending);
    // A lost permission is shown only to the person.
    const isPrivate = ending.kind === 'notStarted' && ending.why === 'permission';
    messages.push(
      isPrivate
        ? { key: `${run.id}.${name}`, place: { user }, kind: 'ending', message }
        : inThread(run, name, message),
    );
  }
  return messages;
}

/** A message in the thread, or in the requester's direct messages if the thread refuses it. */
const inThread = (run: ExportRun, name: string, content: Message): OutboxMessage => ({
  key: `${run.id}.${name}`,
  place: { under: cardKey(run) },
  kind: 'ending',
  message: content,
  fallbackRecipient: run.requester.id,
});

/** The messages with a link. A further link edits the same ones, unless the job was watched again for it. */
function doneMessages(run: ExportRun, ending: DoneEnding, resumed: number): OutboxMessage[] {
  const ended = inThread(run, `end.${run.attempt}.${resumed}`, endingMessage(run, ending));
  const direct: OutboxMessage = {
    key: privateKey(run, resumed),
    place: { user: run.requester.id },
    kind: 'ending',
    message: privateLinkMessage(run, ending),
  };
  const messages = ending.privately ? [ended, direct] : [ended];
  // If somebody deleted the message, its expiry is not worth a new post.
  return ending.expired ? messages.map((one) => ({ ...one, kind: 'state', repost: false })) : messages;
}

/** The key of the direct message with a link that is kept out of the thread. */
export const privateKey = (run: ExportRun, resumed: number) => `${run.id}.private.${run.attempt}.${resumed}`;

const LOOK_FIRST = 'Look in its dashboard first: starting again could run it twice.';

export function questionMessage(run: ExportRun): Message {
  const { unknownJobId } = run;
  const question = `Did the export of ${site(run)} start? The platform gave no clear answer.`;
  const wrongId: Part[][] =
    unknownJobId === undefined
      ? []
      : [['The platform has no job with that ID: ', { code: cut(singleLine(unknownJobId), 200) }]];
  return layout({
    lines: [['⚠️ ', { mention: run.requester.id }, ` ${question}`], ...wrongId],
    small: [[LOOK_FIRST]],
    buttons: [
      { ...runButtonOf(run, "It's there: watch it", exportActions.watchIt), style: 'primary' },
      {
        ...runButtonOf(run, 'Start again', exportActions.startAgain),
        confirm: {
          title: 'Start it again?',
          text: 'If the first one did start, this exports the same pages twice.',
          yes: 'Start again',
          no: 'Cancel',
        },
      },
      runButtonOf(run, 'Leave it', exportActions.leave),
    ],
    text: [[`${question} `, { mention: run.requester.id }], ...wrongId, [LOOK_FIRST]],
  });
}

export function answeredMessage(run: ExportRun, { action, by }: NonNullable<ExportRun['answer']>): Message {
  const start = `the export of ${site(run)}`;
  const who = personName(by);
  const texts = {
    startAgain: `It was unclear whether ${start} had started. ${who} started it again.`,
    leave: `It's unclear whether ${start} started. ${who} chose not to start it again.`,
    watchIt: `It was unclear whether ${start} had started. It had: ${who} found it.`,
    late: `It was unclear whether ${start} had started. It had: the platform's answer came late.`,
  };
  return message([[texts[action]]]);
}

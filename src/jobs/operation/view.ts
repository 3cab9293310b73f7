import { type ButtonParts, type Line, layout, type Message, message, type Part } from '../../slack/blocks.ts';
import type { PollFailure } from '../engine/polling.ts';
import {
  adminsText,
  FAILURE_SHOWN_AFTER,
  keyRejectedText,
  LABELS,
  personName,
  projectMissingText,
  type StateWord,
} from '../shared/wording-view.ts';
import type { StartAnswer } from './record.ts';

const queued: StateWord = { icon: '🕒', label: 'Queued' };

/** The words of the states and endings that every operation has. */
export const OPERATION_WORDS = {
  postingCard: queued,
  starting: queued,
  unknown: { icon: '❔', label: 'Needs an answer' },
  notStarted: { icon: '❌', label: 'Not started' },
  noPlace: { icon: '❌', label: 'Not started' },
  lost: { icon: '❌', label: 'Not found' },
  gaveUp: { icon: '⌛', label: 'No longer watched' },
  left: { icon: '➖', label: 'Not started again' },
  broken: { icon: '❌', label: 'Stopped by an error' },
} as const satisfies Record<string, StateWord>;

/** A word and a time; empty without a time. */
export const timeParts = (word: string, time: number | undefined, format = '{time}'): Part[] =>
  time === undefined ? [] : [`${word} `, { time, format }];

/** Why the platform cannot be asked at present. `what` runs there. */
export function failureLine(
  run: { pollFailure?: PollFailure | undefined; project: string },
  hasStarted: boolean,
  what: string,
): Part[] {
  const { pollFailure: failure } = run;
  switch (failure?.kind) {
    case undefined:
      return [];
    case 'down':
    case 'lost':
      if (failure.untilMs !== undefined)
        return [...timeParts(`The docs platform has trouble. I'll keep trying until`, failure.untilMs), '.'];
      if (!hasStarted)
        return ["The docs platform isn't answering, so nothing has started yet. I'll keep trying."];
      if (failure.inARow < FAILURE_SHOWN_AFTER) return [];
      return ["I can't reach the platform. I'll keep trying; the job itself may be fine."];
    case 'limit': {
      const text = "The platform's limit is reached; nothing is lost. I'll continue at about";
      return [...timeParts(text, failure.nextMs), '.'];
    }
    case 'key': {
      return [`${keyRejectedText(failure.adminsAlerted)}. I'll continue when it works again.`];
    }
    case 'forbidden':
      return [`The platform doesn't let me see ${what}. I'll continue when it does.`];
    case 'project':
      return [`${projectMissingText(run)}. I'll continue when it's back.`];
  }
}

/** Asks whether a start happened. `subject` is such as "export of docs.acme.com". */
export const startQuestion = (
  by: { id: string },
  subject: string,
  buttons: ButtonParts[],
  more?: Line,
): Message =>
  layout({
    icon: '❔',
    mention: [by],
    lines: [
      [{ bold: `Did the ${subject} start?` }],
      'The platform gave no clear answer. Look in its dashboard first.',
      more,
    ],
    buttons,
  });

/** Replaces the question whether a start happened, once it is answered; `late` is the platform's own answer. */
export function answeredStart(start: string, { action, by }: Pick<StartAnswer, 'action' | 'by'>): Message {
  const texts = {
    startAgain: `It was unclear whether ${start} had started. ${personName(by.name)} started it anyway.`,
    leave: `It's unclear whether ${start} started. ${personName(by.name)} chose not to start it again.`,
    watchIt: `It was unclear whether ${start} had started. It had: ${personName(by.name)} found it.`,
    late: `It was unclear whether ${start} had started. It had: the platform's answer came late.`,
    newer: '',
  };
  return message([texts[action]]);
}

/** The question of [Start anyway] after a start that may have happened. `text` says what happens twice. */
export const confirmStart = (text: string) => ({
  title: 'Start it anyway?',
  yes: LABELS.startAnyway,
  no: 'Cancel',
  text: `If the first one did start, ${text}.`,
});

/** Why the platform certainly did not start something, in full sentences. */
export const notStartedReason = (why: string, run: { project: string }, adminsAlerted?: boolean): string =>
  ({
    plan: `The platform doesn't allow it; ${adminsText(adminsAlerted)}.`,
    key: `${keyRejectedText(adminsAlerted)}.`,
    limit: "The platform's limit is reached. Try again later.",
    down: "The docs platform isn't answering as it should. Try again in a little while.",
    project: `${projectMissingText(run)}. Ask your Docket admins.`,
  })[why] ?? 'The platform refused it.';

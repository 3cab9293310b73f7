import { type Message, message, type Part } from '../../slack/blocks.ts';
import type { RunBase } from '../../store/runs.ts';
import type { RunNeeds } from '../shared/feature.ts';
import type { StartAnswer } from './record.ts';

interface Asked extends RunBase {
  attempt: number;
  by: { id: string };
  answer?: StartAnswer | undefined;
}

const startOf = (attempt: number) => `start ${attempt}`;

/** If nobody clearly knows whether something started, the person who asked for it has to decide. */
export const startNeeds = <R extends Asked>(texts: {
  icon?: string;
  /** The question in one line. */
  line: (run: R) => string;
  question: (run: R) => Message;
  answered: (run: R, answer: StartAnswer) => Message;
  /** Replaces a question that is no longer open, if its answer is not known. */
  wasAnswered: (run: R) => string;
}): RunNeeds<R> => ({
  of: (run) => (run.state === 'unknown' ? [{ user: run.by.id, id: startOf(run.attempt) }] : []),
  line: (run): Part[] => [`${texts.icon ?? '⚠️'} `, { bold: 'Start unclear' }, ` · ${texts.line(run)}`],
  question: texts.question,
  answered: (run, { id }) =>
    run.answer && startOf(run.answer.attempt) === id
      ? texts.answered(run, run.answer)
      : message([texts.wasAnswered(run)]),
});

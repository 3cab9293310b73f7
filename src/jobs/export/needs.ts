import { message } from '../../slack/blocks.ts';
import type { RunNeeds } from '../feature.ts';
import { site } from './phrases.ts';
import type { ExportRun } from './record.ts';
import { answeredMessage, questionMessage } from './view.ts';

/** If the platform never clearly answered a start, the requester has to decide. */
export const exportNeeds: RunNeeds<ExportRun> = {
  of: (run) => (run.state === 'unknown' ? [{ user: run.requester.id, id: startOf(run.attempt) }] : []),
  line: (run) => ['⚠️ ', { bold: 'Start unclear' }, ` · Did the export of ${site(run)} start?`],
  question: questionMessage,
  answered: (run, { id }) =>
    run.answer && startOf(run.answer.attempt) === id
      ? answeredMessage(run, run.answer)
      : message([[`The question about ${site(run)} was already answered: its thread shows the result.`]]),
};

const startOf = (attempt: number) => `start ${attempt}`;

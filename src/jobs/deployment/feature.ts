import { message } from '../../slack/blocks.ts';
import { joinFacts } from '../../slack/text.ts';
import { site } from '../export/progress-view.ts';
import { defineHomeRuns, type Feature, type RunNeeds } from '../feature.ts';
import { type UpdateRun, updateKind } from './record.ts';
import { answeredMessage, nameOf, questionMessage } from './view.ts';

/** If GitHub never clearly answered a start, the person who asked for the update has to decide. */
export const updateNeeds: RunNeeds<UpdateRun> = {
  of: (run) => (run.state === 'unknown' ? [{ user: run.by.id, id: startOf(run.attempt) }] : []),
  line: (run) => ['⚠️ ', { bold: 'Start unclear' }, ` · Did the workflow start? ${updateSubject(run)}`],
  question: questionMessage,
  answered: (run, { id }) =>
    run.answer && startOf(run.answer.attempt) === id
      ? answeredMessage(run, run.answer)
      : message([[`The question about ${nameOf(run)} was already answered.`]]),
};

/** The deployment and the export. */
export const updateSubject = (run: UpdateRun) => joinFacts(nameOf(run), site(run));

const startOf = (attempt: number) => `start ${attempt}`;

export const deploymentFeature: Feature = {
  permission: { name: 'deploy', may: 'Update deployments' },

  // Only its questions: the export's thread shows the rest.
  homeRuns: defineHomeRuns<UpdateRun>({
    job: 'deployment',
    title: 'Updates',
    ...updateKind,
    needs: updateNeeds,
    entry: () => undefined,
  }),
};

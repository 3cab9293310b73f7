import { message } from '../../slack/blocks.ts';
import { joinFacts } from '../../slack/text.ts';
import { site } from '../export/progress-view.ts';
import { defineHomeRuns, type Feature, type RunNeeds } from '../feature.ts';
import { type UpdateRun, updateKind } from './record.ts';
import { answeredMessage, nameOf, questionMessage } from './view.ts';

/** If GitHub gave no clear answer to a start, the person who requested the update has to decide. */
export const updateNeeds: RunNeeds<UpdateRun> = {
  of: (run) => (run.state === 'unknown' ? [{ user: run.by.id, id: startOf(run.attempt) }] : []),
  line: (run) => ['⚠️ ', { bold: 'Start unclear' }, ` · Did the workflow start? ${updateSubject(run)}`],
  question: questionMessage,
  answered: (run, { id }) =>
    run.answer && startOf(run.answer.attempt) === id
      ? answeredMessage(run, run.answer)
      : message([`The question about ${nameOf(run)} was already answered.`]),
};

/** Returns the deployment and the export as text. */
export const updateSubject = (run: UpdateRun) => joinFacts(nameOf(run), site(run));

const startOf = (attempt: number) => `start ${attempt}`;

export const deploymentFeature: Feature = {
  permission: { name: 'deploy', may: 'Update deployments' },

  // Home lists only the questions: the export's thread shows the rest.
  homeRuns: defineHomeRuns<UpdateRun>({
    job: 'deployment',
    title: 'Updates',
    ...updateKind,
    needs: updateNeeds,
    entry: () => undefined,
  }),
};

import { message } from '../../slack/blocks.ts';
import { joinFacts } from '../../slack/text.ts';
import { site } from '../export/progress-view.ts';
import { defineHomeRuns, type Feature, type RunNeeds } from '../shared/feature.ts';
import { filterVisible } from '../shared/origin.ts';
import { readTaken, takenAlias, type UpdateRun, updateKind, updateOf, updateRun } from './record.ts';
import { answeredMessage, liveLine, nameOf, questionMessage } from './view.ts';

/** If GitHub gave no clear answer to a start, the person who requested the update has to decide. */
export const updateNeeds: RunNeeds<UpdateRun> = {
  of: (run) => (run.state === 'unknown' ? [{ user: run.by.id, id: startOf(run.attempt) }] : []),
  line: (run) => ['❔ ', { bold: 'Start unclear' }, ` · Did the workflow start? ${updateSubject(run)}`],
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
  permission: { name: 'deploy' },

  // Home lists only the questions: the export's thread shows the rest.
  homeRuns: defineHomeRuns<UpdateRun>({
    job: 'deployment',
    title: 'Deployments',
    ...updateKind,
    needs: updateNeeds,
    entry: () => undefined,
  }),

  async live(teamId, viewer, { runs, projects, isPublic }) {
    const names = projects.flatMap(({ name: project, deployments = [] }) =>
      deployments.map(({ name: deployment }) => takenAlias({ project, deployment })),
    );
    const taken = await Promise.all(names.map((name) => runs.byAlias(name)));
    const ids = taken.flatMap((alias) => readTaken(alias).slice(0, 1).map(updateOf));
    const own = (await runs.loadAll(ids, updateRun)).filter((run) => run.teamId === teamId);
    return (await filterVisible(own, updateKind.visible, viewer, isPublic)).map(liveLine);
  },
};

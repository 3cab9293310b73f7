import { joinFacts } from '../../slack/text.ts';
import { site } from '../export/progress-view.ts';
import { startNeeds } from '../operation/needs.ts';
import { defineHomeRuns, type Feature } from '../shared/feature.ts';
import { filterVisible } from '../shared/origin.ts';
import { readTaken, takenAlias, type UpdateRun, updateKind, updateOf, updateRun } from './record.ts';
import { answeredMessage, liveLine, nameOf, questionMessage } from './view.ts';

export const updateNeeds = startNeeds<UpdateRun>({
  icon: '❔',
  line: (run) => `Did the workflow start? ${updateSubject(run)}`,
  question: questionMessage,
  answered: answeredMessage,
  wasAnswered: (run) => `The question about ${nameOf(run)} was already answered.`,
});

/** Returns the deployment and the export as text. */
export const updateSubject = (run: UpdateRun) => joinFacts(nameOf(run), site(run));

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

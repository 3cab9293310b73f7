import { defineRestore } from '../../engine/restore.ts';
import { type EditionRun, editionRun, pagesKey, sinceKey } from './record.ts';
import { editionMessages } from './view.ts';

export const editionRestore = defineRestore<EditionRun>({
  job: 'digest',
  schema: editionRun,
  keys: (run) => [
    ...editionMessages(run).map(({ key }) => key),
    pagesKey(run),
    sinceKey(run),
    `${run.id}.failed`,
    `${run.id}.late`,
  ],

  async close({ run }, { runs, forget }) {
    if (run.state === 'collecting') {
      await forget(run);
      return { skipped: 1 };
    }
    if (run.state === 'ended') return {};
    // A file cannot be searched in Slack, so no further one is shared.
    const sections = run.sections.filter((section) => section !== 'csv');
    await runs.saveStep({ ...run, sections, ...(run.csv?.state !== 'done' && { csv: undefined }) });
    return {};
  },
});

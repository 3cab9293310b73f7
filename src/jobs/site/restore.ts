import { defineRestore } from '../engine/restore.ts';
import { startStep } from '../operation/record.ts';
import { afterUpdate } from './job.ts';
import { type SiteRun, siteRun } from './record.ts';
import { siteMessages } from './view.ts';

export const siteRestore = defineRestore<SiteRun>({
  job: 'site',
  schema: siteRun,
  isFirst: true,

  keys: (run) => [
    ...siteMessages(run).map(({ key }) => key),
    `${run.id}.line.dm`,
    `${run.id}.question.${run.attempt}`,
    `${run.id}.end`,
  ],

  async close({ run }, { runs, teams, doubt }) {
    if (run.state === 'postingCard' || run.state === 'starting') await doubt(run, startStep(run));
    // The exports that follow it may have been started since: schedules get their events now, and skip them.
    if (run.state === 'watching' && run.branch === undefined)
      for (const { job, id, event, dedupeKey } of await afterUpdate(run, {
        store: { runs },
        platform: { teamsOf: () => teams },
      }))
        await runs.appendToInbox(job, id, { event, dedupeKey });
    return {};
  },
});

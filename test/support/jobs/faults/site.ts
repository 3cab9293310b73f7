import { exportRun } from '../../../../src/jobs/export/record.ts';
import { newSchedule } from '../../../../src/jobs/schedule/record.ts';
import { answerQuestion, newSiteRun, type SiteRun, siteRun } from '../../../../src/jobs/site/record.ts';
import { siteMessages } from '../../../../src/jobs/site/view.ts';
import { keys } from '../../../../src/store/keys.ts';
import { ana, type Parts, READING_MS, type Scenario } from './scenarios.ts';

const DAY_MS = 86_400_000;

/** A preview from a followed thread, or an update of the site from a command, which a scheduled export follows. */
export function siteScenario({ now, one, accept, runs, redis, builds, isShown }: Parts): Scenario {
  const isPreview = one([true, false]);
  const by = { id: 'U0ANA', name: 'ana' };
  const run = newSiteRun(
    {
      ...{ id: 'site1', teamId: 'T0ACME', project: 'acme', by, inDirectMessage: false },
      branch: isPreview ? 'main' : undefined,
      domain: 'docs.acme.com',
      asked: { channel: 'C0DOCS', joinable: true, isPublic: true },
      thread: isPreview ? { id: 'thread1', channel: 'C0DOCS', threadTs: '1.0001' } : undefined,
    },
    now(),
  );
  const timetable = { time: '06:00', zone: 'UTC', afterUpdates: true } as const;
  const where = { project: 'acme', site: 'docs.acme.com', channel: 'C0DOCS', isPublic: true };
  const wanted = { ...where, job: 'export-schedule', timetable, privately: false, deployments: [] };
  const schedule = newSchedule(wanted, { teamId: 'T0ACME', requestId: 's1', user: ana }, now());
  let allowed = 1;
  const load = async () => (await runs.load(run.id, siteRun)) as SiteRun;
  /** The exports of the schedule. */
  async function exportsOf() {
    const keysOfRuns = await redis.keys(keys.run('*'));
    const ids = keysOfRuns.map((key) => key.slice(keys.run('').length));
    return (await runs.loadAll(ids, exportRun)).filter((one) => one.schedule === schedule.id);
  }
  return {
    // A schedule is never idle.
    get untilMs() {
      return isPreview ? Infinity : now() + DAY_MS;
    },
    async begin() {
      if (!isPreview) await accept(schedule);
      await accept(run);
    },
    async answer() {
      const open = await load();
      if (open.state !== 'unknown' || now() < open.sinceMs + READING_MS) return false;
      const choice = one(['startAgain', 'leave'] as const);
      // A start that nobody has seen yet must not come any more.
      allowed = builds.size + (choice === 'startAgain' ? 1 : 0);
      await runs.resume(answerQuestion(open, by, choice, now()));
      return true;
    },
    async check() {
      const { state, ...rest } = await load();
      if (state !== 'ended') return [`the ${isPreview ? 'preview' : 'update'} is ${state}`];
      const exports = (await exportsOf()).length;
      const wantedExports = !isPreview && rest.ending?.kind === 'done' ? 1 : 0;
      const missing = siteMessages({ ...rest, state }).filter(({ key }) => !isShown(key));
      return [
        ...(exports === wantedExports ? [] : [`${exports} exports, not ${wantedExports}`]),
        ...missing.map(({ key }) => `${key} is not shown`),
        ...(builds.size > allowed ? [`${builds.size} builds, but only ${allowed} were allowed`] : []),
      ];
    },
  };
}

import { answerQuestion, newSiteRun, type SiteRun, siteRun } from '../../../../src/jobs/site/record.ts';
import { siteMessages } from '../../../../src/jobs/site/view.ts';
import { type Parts, READING_MS, type Scenario } from './scenarios.ts';

/** A preview from a followed thread, or an update of the site from a command. */
export function siteScenario({ now, one, accept, runs, builds, isShown }: Parts): Scenario {
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
  let allowed = 1;
  const load = async () => (await runs.load(run.id, siteRun)) as SiteRun;
  return {
    begin: () => accept(run),
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
      const missing = siteMessages({ ...rest, state }).filter(({ key }) => !isShown(key));
      return [
        ...missing.map(({ key }) => `${key} is not shown`),
        ...(builds.size > allowed ? [`${builds.size} builds, but only ${allowed} were allowed`] : []),
      ];
    },
  };
}

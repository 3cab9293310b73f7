import { newRow, type RowNumbers, type RowRun, rowRun } from '../../../../src/jobs/digest/row/record.ts';
import { newPullRequest } from '../../../../src/jobs/pull-request/record.ts';
import { aThread } from '../agent/builders.ts';
import { aSchedule } from '../digest/builders.ts';
import { aPullRequest } from '../pull-request/builders.ts';
import { MINUTE_MS, type Parts, type Scenario, teamId } from './scenarios.ts';

const DAY_MS = 86_400_000;

const QUICKSTART: RowNumbers = {
  human: { count: 70, of: 210 },
  ai: { count: 30, of: 90 },
  down: { count: 4, of: 5 },
  up: { count: 1, of: 5 },
};

/** What the platform has of each subject in each week. */
const ROWS = [
  { kind: 'thumbs', name: '/quickstart', numbers: QUICKSTART },
  { kind: 'search', name: 'sso', numbers: { hits: { count: 30, of: 90 }, unclicked: { count: 30, of: 90 } } },
  { kind: 'questions', name: 'unanswered questions', numbers: { unanswered: { count: 1, of: 1 } } },
] as const satisfies { kind: RowRun['subject']['kind']; name: string; numbers: RowNumbers }[];

/** Somebody asked about a row of a digest, and the pull request is merged on the same day. */
export function rowScenario({ now, random, one, accept, runs, gitHost, faults, strike }: Parts): Scenario {
  const { kind, name, numbers } = one(ROWS);
  const place = { channel: 'C0DOCS', rootTs: '1.0001' };
  const pull = newPullRequest({ ...aPullRequest(), teamId, place, openedAtMs: now() }, now());
  const base = { teamId, project: 'acme', channel: 'C0DOCS', thread: pull.thread, instruction: 'i1' };
  const row: RowRun = {
    ...newRow({ ...base, subject: { kind, name, value: 30 }, askedAtMs: now() }, now()),
    pull: { run: pull.id, link: pull.link },
  };
  gitHost.plan.mergedAtMs = now() + one([40, 300]) * MINUTE_MS;
  return {
    // It counts until its last monthly digest.
    untilMs: now() + 112 * DAY_MS,
    async begin() {
      // It asks the platform for one week in seven days, so a fault by chance would rarely hit that.
      strike(/digest-row \S+ docs\./, Math.floor(random() * 20));
      const nowhere = { nextPollAtMs: Number.MAX_SAFE_INTEGER, place: undefined };
      await runs.accept(aThread({ ...nowhere, id: pull.thread, teamId, claim: undefined }));
      await accept(pull);
      // A paused digest posts nothing, but its rows are read for when it goes on.
      await runs.accept(aSchedule({ teamId, state: 'paused' }));
      await accept(row);
    },
    async check() {
      const { state, mergedAtMs, weeks } = (await runs.load(row.id, rowRun)) as RowRun;
      const read = new Set(weeks.map(({ from }) => from));
      // A week may stay without what failed as often as it may be asked for.
      const failed = faults.filter((fault) => fault.includes('docs.')).length;
      const asked = JSON.stringify(Object.entries(numbers));
      const wrong = weeks.filter((week) => JSON.stringify(Object.entries(week.numbers)) !== asked);
      return [
        ...(state === 'ended' && mergedAtMs === gitHost.plan.mergedAtMs ? [] : [`the row is ${state}`]),
        ...(read.size === 12 && weeks.length === 12
          ? []
          : [`${weeks.length} weeks, of which ${read.size} differ`]),
        ...wrong.slice(failed > 3 ? 1 : 0).map((week) => `${week.from} has ${JSON.stringify(week.numbers)}`),
      ];
    },
  };
}

import { threadMessages } from '../../../src/jobs/agent/thread/view.ts';
import { type PullRequestRun, stateOf } from '../../../src/jobs/pull-request/record.ts';
import {
  endedMessage,
  failedMessage,
  pullRequestLine,
  reminderMessage,
} from '../../../src/jobs/pull-request/view.ts';
import { message } from '../../../src/slack/blocks.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aRound, aThread } from '../../support/jobs/agent/builders.ts';
import { aPullRequest } from '../../support/jobs/pull-request/builders.ts';
import { type GalleryState, pick, post } from '../state.ts';

type Pull = NonNullable<PullRequestRun['pull']>;
type Details = NonNullable<PullRequestRun['details']>;

const run = aPullRequest();
const pulled = (changes: Partial<Pull>) => aPullRequest(run.pull && { pull: { ...run.pull, ...changes } });
const detailed = (changes: Partial<Details>) =>
  aPullRequest(run.details && { details: { ...run.details, ...changes } });

const merged = pulled({ state: 'merged', endedAtMs: NOW_MS, by: 'ben' });
const hostile = '<!here> *<@U0BEN>* https://evil.example \u202eevil';
const failed = detailed({ checks: 'failed', failed: ['build', 'links', hostile] });

const STATES: Record<string, PullRequestRun> = {
  open: run,
  draft: pulled({ isDraft: true }),
  'checks failed': failed,
  'changes requested': detailed({ review: 'changesRequested' }),
  approved: detailed({ review: 'approved' }),
  merged,
  'merged, by a hostile name': pulled({ state: 'merged', endedAtMs: NOW_MS, by: hostile }),
  'merged, nobody knows by whom': pulled({ state: 'merged' }),
  closed: pulled({ state: 'closed' }),
};

export const pullRequestStates: GalleryState[] = [
  ...Object.entries(STATES).flatMap(([name, one]) => {
    const ending = { kind: 'newPr' as const, prLink: one.link, atMs: NOW_MS };
    const seen = { status: 'completed' as const, rawStatus: 'completed', prLink: one.link, atMs: NOW_MS };
    const thread = aThread({ seen, rounds: [aRound({ ending, pullRequest: stateOf(one) })] });
    return [
      post(`pull-request/card/${name}`, pick(threadMessages, thread, 'card')),
      post(`pull-request/result/${name}`, pick(threadMessages, thread, 'end')),
      post(
        `pull-request/listed/${name}`,
        message([pullRequestLine(one, 'U0ANA', 'https://acme.slack.com/')]),
      ),
    ];
  }),
  post('pull-request/listed/by somebody else', message([pullRequestLine(run, 'U0BEN', undefined)])),
  post('pull-request/ended/merged', endedMessage(merged)),
  post('pull-request/ended/closed', endedMessage(pulled({ state: 'closed' }))),
  post('pull-request/failed/with a mention', failedMessage(failed, true)),
  post('pull-request/failed/without a mention', failedMessage(failed, false)),
  post('pull-request/reminder/of a group', reminderMessage(run, 'S0DOCS', 3)),
  post('pull-request/reminder/of the owner', reminderMessage(run, 'U0ANA', 1)),
];

import type { ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { threadMessages } from '../../../../src/jobs/agent/thread/view.ts';
import type { RoundEnding } from '../../../../src/jobs/agent/watch/record.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aRound, aThread } from '../../../support/jobs/agent/builders.ts';
import { type GalleryState, pick, post } from '../../state.ts';
import {
  ANA,
  archived,
  BEN,
  byLong,
  byRtl,
  ended,
  INSTRUCTION,
  JOB,
  long,
  PULL_REQUEST,
} from './examples.ts';

const round = (name: string, changes: Partial<ThreadRun>, state: string) =>
  post(
    `agent/round/${name}`,
    pick(threadMessages(aThread({ rounds: [aRound()], ...changes })), 'round'),
    state,
    INSTRUCTION,
  );
const endingOf = (kind: RoundEnding['kind'], more: Partial<RoundEnding> = {}): RoundEnding => ({
  kind,
  atMs: NOW_MS,
  ...more,
});
const KINDS = ['newPr', 'samePr', 'noPr', 'failed', 'archived', 'gone', 'gaveUp'] as const;
const ROUND_STATES: Record<RoundEnding['kind'], string> = {
  newPr: 'finished',
  samePr: 'finished',
  noPr: 'finished',
  failed: 'failed',
  archived: 'archived',
  gone: 'no longer knows',
  gaveUp: 'no longer watched',
};

export const rounds: GalleryState[] = [
  round('working', {}, 'working'),
  round('working, more waiting', { instructions: [anInstruction()] }, 'working'),
  round('working on three', { rounds: [aRound({ count: 3 })] }, 'working'),
  round('no longer followed', ended('stopped'), 'stopped following'),
  round('long name', { rounds: [aRound({ last: byLong })] }, 'working'),
  round('long name, three', { rounds: [aRound({ last: byLong, count: 3 })] }, 'working'),
  round('name from right to left', { rounds: [aRound({ last: byRtl })] }, 'working'),
  ...KINDS.map((kind) =>
    round(
      kind,
      { rounds: [aRound({ ending: endingOf(kind, { afterMs: 6 * 3_600_000 }) })] },
      ROUND_STATES[kind],
    ),
  ),
];

const end = (
  name: string,
  ending: RoundEnding,
  state: string,
  changes: Partial<ThreadRun['rounds'][0]> = {},
  thread: Partial<ThreadRun> = {},
) =>
  post(
    `agent/ending/${name}`,
    pick(
      threadMessages(aThread({ instructions: [SENT], rounds: [aRound({ ending, ...changes })], ...thread })),
      'end',
    ),
    state,
    changes.count === 0 ? JOB : INSTRUCTION,
  );
const SENT = anInstruction({ state: 'working', round: 1 });
const elsewhere = { count: 0, last: undefined };
const withLink = { prLink: PULL_REQUEST };

export const endings: GalleryState[] = [
  end('pull request', endingOf('newPr', withLink), 'pull request'),
  end('pull request, two are told', endingOf('newPr', withLink), 'pull request', { authors: [ANA, BEN] }),
  end('pull request without an address', endingOf('newPr'), 'pull request'),
  end('pull request, instructed elsewhere', endingOf('newPr', withLink), 'pull request', elsewhere),
  end(
    'pull request of another host',
    endingOf('newPr', { prLink: 'https://git.example.org/changes/77' }),
    'pull request',
  ),
  end('pull request in words', endingOf('newPr', { prText: 'PR 7\n<!here>' }), 'pull request'),
  end('pull request, of three', endingOf('newPr', withLink), 'pull request', { count: 3 }),
  end('pull request without an address, instructed elsewhere', endingOf('newPr'), 'pull request', elsewhere),
  end('pull request, no longer followed', endingOf('newPr', withLink), 'pull request', {}, ended('stopped')),
  end(
    'same pull request, instructed elsewhere',
    endingOf('samePr', withLink),
    'same pull request',
    elsewhere,
  ),
  end('same pull request, of three', endingOf('samePr'), 'same pull request', { count: 3 }),
  end('same pull request', endingOf('samePr', withLink), 'same pull request'),
  end('same pull request, without an address', endingOf('samePr'), 'same pull request'),
  end('no pull request', endingOf('noPr'), 'without a pull request'),
  end('no pull request, instructed elsewhere', endingOf('noPr'), 'without a pull request', elsewhere),
  end('failed', endingOf('failed'), 'could not finish'),
  end('failed, instructed elsewhere', endingOf('failed'), 'could not finish', elsewhere),
  end(
    'failed, its text is kept no more',
    endingOf('failed'),
    'could not finish',
    {},
    { instructions: [{ ...SENT, text: '' }] },
  ),
  end('failed, of a job that is gone', endingOf('failed'), 'could not finish', {}, { notFound: true }),
  end('failed, of three', endingOf('failed'), 'could not finish', { count: 3 }),
  end('no pull request, of three', endingOf('noPr'), 'without a pull request', { count: 3 }),
  end('no longer watched, of three', endingOf('gaveUp'), 'stopped watching', { count: 3 }),
  end('no longer watched, instructed elsewhere', endingOf('gaveUp'), 'stopped watching', elsewhere),
  end('archived', endingOf('archived', { archivedAtMs: NOW_MS - 86_400_000 }), 'archived'),
  end('archived, nobody knows when', endingOf('archived'), 'archived'),
  end('unknown to the platform', endingOf('gone'), 'does not know'),
  end('no longer watched, nobody knows how long', endingOf('gaveUp'), 'stopped watching'),
  end('no longer watched', endingOf('gaveUp', { afterMs: 6 * 3_600_000 }), 'stopped watching'),
  end('pull request, long names', endingOf('newPr', withLink), 'pull request', { last: byLong }, long),
  end('no pull request, long branch', endingOf('noPr'), 'without a pull request', elsewhere, long),
  end('archived, instructed elsewhere', endingOf('archived'), 'archived', elsewhere),
  end('archived, long branch', endingOf('archived'), 'archived', elsewhere, long),
  end('unknown to the platform, instructed elsewhere', endingOf('gone'), 'does not know', elsewhere),
  end('failed, of an archived job', endingOf('failed'), 'could not finish', {}, archived),
  post(
    'agent/ending/broken',
    pick(threadMessages(aThread(ended('broken', { ref: '7f3c1d', unsent: 1 }))), 'broken'),
    'stopped following',
    JOB,
  ),
];

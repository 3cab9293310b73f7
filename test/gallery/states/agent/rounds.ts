import type { RoundEnding, ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { threadMessages } from '../../../../src/jobs/agent/thread/view.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aRound, aThread } from '../../../support/jobs/agent/builders.ts';
import { type GalleryState, pick, post } from '../../state.ts';
import {
  ANA,
  archived,
  BEN,
  building,
  built,
  byLong,
  byRtl,
  ended,
  long,
  PULL_REQUEST,
  seen,
} from './examples.ts';

const round = (name: string, changes: Partial<ThreadRun>) =>
  post(`agent/round/${name}`, pick(threadMessages, aThread({ rounds: [aRound()], ...changes }), 'round'));
const endingOf = (kind: RoundEnding['kind'], more: Partial<RoundEnding> = {}): RoundEnding => ({
  kind,
  atMs: NOW_MS,
  ...more,
});
const KINDS = ['newPr', 'samePr', 'noPr', 'failed', 'archived', 'gone', 'gaveUp'] as const;

export const rounds: GalleryState[] = [
  round('working', {}),
  round('working, more waiting', { instructions: [anInstruction()] }),
  round('working on three', { rounds: [aRound({ count: 3 })] }),
  round('no longer followed', ended('stopped')),
  round('long name', { rounds: [aRound({ last: byLong })] }),
  round('long name, three', { rounds: [aRound({ last: byLong, count: 3 })] }),
  round('name from right to left', { rounds: [aRound({ last: byRtl })] }),
  ...KINDS.map((kind) =>
    round(`deletions are forbidden, ${kind}`, {
      rounds: [aRound({ ending: endingOf(kind, { afterMs: 6 * 3_600_000 }) })],
    }),
  ),
];

const end = (
  name: string,
  ending: RoundEnding,
  changes: Partial<ThreadRun['rounds'][0]> = {},
  thread: Partial<ThreadRun> = {},
) =>
  post(
    `agent/ending/${name}`,
    pick(
      threadMessages,
      aThread({ instructions: [SENT], rounds: [aRound({ ending, ...changes })], ...thread }),
      'end',
    ),
  );
const SENT = anInstruction({ state: 'working', round: 1 });
const elsewhere = { count: 0, last: undefined, found: true };
const withLink = { prLink: PULL_REQUEST };

export const endings: GalleryState[] = [
  end('pull request', endingOf('newPr', withLink)),
  end('pull request, two are mentioned', endingOf('newPr', withLink), { authors: [ANA, BEN] }),
  end('pull request without an address', endingOf('newPr')),
  end('pull request, asked elsewhere', endingOf('newPr', withLink), elsewhere),
  end('pull request of another host', endingOf('newPr', { prLink: 'https://git.example.org/changes/77' })),
  end('pull request in words', endingOf('newPr', { prLink: 'PR 7\n<!here>' })),
  end('pull request, of three', endingOf('newPr', withLink), { count: 3 }),
  end('pull request without an address, asked elsewhere', endingOf('newPr'), elsewhere),
  end('pull request, no longer followed', endingOf('newPr', withLink), {}, ended('stopped')),
  end('same pull request, asked elsewhere', endingOf('samePr', withLink), elsewhere),
  end('same pull request, of three', endingOf('samePr'), { count: 3 }),
  end('pull request, with previews', endingOf('newPr', withLink), {}, { previews: true }),
  end(
    'pull request, a preview is built',
    endingOf('newPr', withLink),
    {},
    { previews: true, preview: building },
  ),
  end('pull request, with a preview', endingOf('newPr', withLink), {}, { previews: true, preview: built }),
  end('same pull request', endingOf('samePr', withLink)),
  end('same pull request, without an address', endingOf('samePr')),
  end('no pull request', endingOf('noPr')),
  end('no pull request, asked elsewhere', endingOf('noPr'), elsewhere),
  end('failed', endingOf('failed')),
  end('failed, asked elsewhere', endingOf('failed'), elsewhere),
  end('failed, its text is kept no more', endingOf('failed'), {}, { instructions: [{ ...SENT, text: '' }] }),
  end('failed, of a job that is gone', endingOf('failed'), {}, { notFound: true }),
  end('failed, of three', endingOf('failed'), { count: 3 }),
  end('no pull request, of an unknown branch', endingOf('noPr'), {}, seen({ ref: undefined })),
  end('no pull request, of three', endingOf('noPr'), { count: 3 }),
  end('no longer watched, of three', endingOf('gaveUp'), { count: 3 }),
  end('no longer watched, asked elsewhere', endingOf('gaveUp'), elsewhere),
  end('archived', endingOf('archived'), {}, seen({ archivedAtMs: NOW_MS - 86_400_000 })),
  end('archived, nobody knows when', endingOf('archived')),
  end('unknown to the platform', endingOf('gone')),
  end('no longer watched, nobody knows how long', endingOf('gaveUp')),
  end('no longer watched', endingOf('gaveUp', { afterMs: 6 * 3_600_000 })),
  end('pull request, long names', endingOf('newPr', withLink), { last: byLong }, long),
  end('no pull request, long branch', endingOf('noPr'), elsewhere, long),
  end('archived, asked elsewhere', endingOf('archived'), elsewhere),
  end('archived, long branch', endingOf('archived'), elsewhere, long),
  end('unknown to the platform, asked elsewhere', endingOf('gone'), elsewhere),
  end('failed, of an archived job', endingOf('failed'), {}, archived),
  post(
    'agent/ending/broken',
    pick(threadMessages, aThread(ended('broken', { ref: '7f3c1d', unsent: 1 })), 'broken'),
  ),
];

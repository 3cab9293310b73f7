import { describe, expect, test } from 'vitest';
import type { ExportRun } from '../../../src/jobs/export/record.ts';
import { exportMessages } from '../../../src/jobs/export/view.ts';
import { NOW_MS } from '../../support/builders.ts';
import { anEnding, aRun, ended } from '../../support/jobs/export/builders.ts';

describe('which messages there are', () => {
  const keysAndKinds = (run: ExportRun) =>
    exportMessages(run).map(({ key, kind }) => [key.replace(run.id, ''), kind]);
  const before = { startedAtMs: undefined, jobId: undefined };

  test.each<[string, ExportRun, string[][]]>([
    ['accepted: nothing yet', aRun({ state: 'accepted', ...before }), []],
    ['the card on its way: the card', aRun({ state: 'carding', ...before }), [['.card', 'state']]],
    ['about to start: the card', aRun({ state: 'starting', ...before }), [['.card', 'state']]],
    [
      'running: card and progress',
      aRun(),
      [
        ['.card', 'state'],
        ['.progress', 'progress'],
      ],
    ],
    [
      'completed, the link on its way: the card alone, so that the progress is edited once and not twice',
      aRun({ state: 'bundling' }),
      [['.card', 'state']],
    ],
    [
      'completed, but the link takes long: card and progress',
      aRun({ state: 'bundling', trouble: { kind: 'down', inARow: 1, nextMs: NOW_MS } }),
      [
        ['.card', 'state'],
        ['.progress', 'progress'],
      ],
    ],
    [
      'start unclear: card and question',
      aRun({ state: 'unknown', attempt: 2, ...before }),
      [
        ['.card', 'state'],
        ['.question.2', 'ending'],
      ],
    ],
    [
      'ended: card, the last progress, the ending',
      ended(anEnding.done, { attempt: 2, resumed: 3 }),
      [
        ['.card', 'state'],
        ['.progress', 'state'],
        ['.end.2.3', 'ending'],
      ],
    ],
    [
      'left: card and the answered question, no ending of its own',
      ended(anEnding.left, {
        ...before,
        answer: { attempt: 1, by: 'ben', byId: 'U0BEN', action: 'leave' },
      }),
      [
        ['.card', 'state'],
        ['.question.1', 'ending'],
      ],
    ],
    ['no place for a card: none', ended(anEnding.noPlace, before), []],
  ])('%s', (_, run, expected) => {
    expect(keysAndKinds(run)).toEqual(expected);
  });

  test('they are in the channel, with the details under the card; what must be known reaches the person', () => {
    expect(
      exportMessages(ended(anEnding.done)).map(({ place, otherwise }) => ({ place, otherwise })),
    ).toEqual([
      { place: { channel: 'C0DOCS' }, otherwise: undefined },
      { place: { under: '3f9a1c2b4d5e6f708192a3b4.card' }, otherwise: undefined },
      { place: { under: '3f9a1c2b4d5e6f708192a3b4.card' }, otherwise: 'U0ANA' },
    ]);
  });

  test('in direct messages, the card is another one and belongs to the person', () => {
    const [card, progress] = exportMessages(aRun({ inDirectMessage: true }));
    expect(card).toMatchObject({ key: '3f9a1c2b4d5e6f708192a3b4.card.dm', place: { user: 'U0ANA' } });
    expect(progress?.place).toEqual({ under: '3f9a1c2b4d5e6f708192a3b4.card.dm' });
  });

  test('an earlier ending is not shown again once the run goes on', () => {
    const keys = exportMessages(aRun({ attempt: 2 })).map(({ key }) => key);
    expect(keys.filter((key) => key.includes('.end.'))).toEqual([]);
  });
});

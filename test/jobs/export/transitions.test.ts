import { describe, expect, test } from 'vitest';
import { registry } from '../../../src/commands/index.ts';
import type { Caller, CommandTools } from '../../../src/commands/tools.ts';
import { exportActions } from '../../../src/jobs/export/buttons.ts';
import { type ExportRun, exportClaim } from '../../../src/jobs/export/record.ts';
import { type TransitionName, transitions } from '../../../src/jobs/export/transitions.ts';
import { NOW_MS } from '../../support/builders.ts';
import { anEnding, aRun } from '../../support/jobs/export/builders.ts';

const ben = { id: 'U0BEN', name: 'ben' };
const ended = (ending: ExportRun['ending']) => aRun({ state: 'ended', ending });

/** A run that each button does something to. */
const moved: Record<TransitionName, ExportRun> = {
  startAgain: aRun({ state: 'unknown' }),
  leave: aRun({ state: 'unknown' }),
  tryAgain: ended(anEnding.lost),
  checkNow: ended(anEnding.noLink),
  newLink: ended(anEnding.done),
  notify: aRun(),
  refresh: aRun({ looks: [{ atMs: NOW_MS - 60_000 }] }),
};

test.each(Object.keys(moved) as TransitionName[])(
  '%s keeps the name under which others are kept from starting the same',
  (name) => {
    expect(transitions[name](moved[name], ben, NOW_MS)).toMatchObject({ claim: moved[name].claim });
  },
);

test('a watched export that is started from here keeps others from starting the same', () => {
  const failed = aRun({ joined: true, claim: 'watch', state: 'ended', ending: anEnding.failed });
  expect(transitions.tryAgain(failed, ben, NOW_MS)?.claim).toBe(exportClaim(failed));
  const request = { ...failed, paths: ['/b', '/a'] };
  expect(exportClaim(request)).toBe(exportClaim({ ...request, paths: ['/a', '/b'] }));
  expect(exportClaim(request)).not.toBe(exportClaim(failed));
});

test('a new try after a further link is rendered as a try of its own', () => {
  const failed = ended(anEnding.lost);
  expect(transitions.tryAgain({ ...failed, relinked: 2 }, ben, NOW_MS)).toMatchObject({
    relinked: 0,
    state: 'carding',
  });
});

test('a mention is promised only to those who get one', async () => {
  const notify = registry.buttons.find(({ action }) => action === exportActions.notify);
  const many = Array.from({ length: 20 }, (_, index) => ({ id: `U${index}`, name: `n${index}` }));
  const told = async (watchers: ExportRun['watchers']) => {
    const run = aRun({ watchers });
    const tools = {
      intake: { loadVisible: async () => ({ kind: 'found', run }) },
      now: () => NOW_MS,
    } as unknown as CommandTools;
    const value = { v: 1, run: run.id, attempt: run.attempt, resumed: run.resumed, domain: run.domain };
    return (
      await notify?.run(
        value,
        { user: { ...ben, fullMember: true }, channel: { id: 'C0DOCS' } } as Caller,
        tools,
      )
    )?.text;
  };
  expect(await told([ben])).toBe("I'll mention you when it ends.");
  expect(await told(many)).toBe(
    '20 more people are already mentioned when it ends, which is the limit. Look in this thread then.',
  );
});

describe('[Refresh]', () => {
  const looks = (agoMs: number) => [{ atMs: NOW_MS - agoMs }];
  const trouble = (kind: NonNullable<ExportRun['trouble']>['kind']) => ({
    trouble: { kind, inARow: 1, nextMs: NOW_MS + 60_000 },
  });

  test.each<[string, Partial<ExportRun>]>([
    ['the last look is a while ago', { looks: looks(60_000) }],
    ['the last look is young, but the platform has failed since', { looks: looks(500), ...trouble('down') }],
    ['the key was rejected, and may work again', { looks: looks(500), ...trouble('key') }],
  ])('looks at once when %s', (_, changes) => {
    expect(transitions.refresh(aRun(changes), ben, NOW_MS)).toMatchObject({ nextLookAtMs: NOW_MS });
  });

  test.each<[string, Partial<ExportRun>]>([
    ['when it was looked at just now', { looks: looks(500) }],
    ["while the platform's limit is reached", { looks: looks(60_000), ...trouble('limit') }],
  ])('does nothing %s', (_, changes) => {
    expect(transitions.refresh(aRun(changes), ben, NOW_MS)).toBeUndefined();
  });
});

describe('what a further attempt, watch or link starts with', () => {
  const left = { stalled: true, audited: true, trouble: { kind: 'down', inARow: 9, nextMs: 1 } } as const;

  test.each([
    ['tryAgain', { ...ended(anEnding.lost), ...left }],
    ['checkNow', { ...ended(anEnding.gaveUp), ...left }],
    ['newLink', { ...ended(anEnding.done), ...left }],
  ] as const)('%s leaves trouble, the word of a stall, the ending and its audit line behind', (name, run) => {
    expect(transitions[name](run, ben, NOW_MS)).toMatchObject({
      trouble: undefined,
      stalled: undefined,
      ending: undefined,
      audited: undefined,
    });
  });

  test('it keeps what was asked for', () => {
    const asked = { version: '1.2', paths: ['/guides'], privately: true };
    expect(transitions.tryAgain({ ...ended(anEnding.lost), ...asked }, ben, NOW_MS)).toMatchObject(asked);
  });

  test('the count of a stall starts again with a new watch', () => {
    const run = { ...ended(anEnding.gaveUp), movedAtMs: 1 };
    expect(transitions.checkNow(run, ben, NOW_MS)).toMatchObject({ movedAtMs: NOW_MS });
  });
});

test('an export that is known by its job alone cannot be started', () => {
  for (const ending of [anEnding.failed, anEnding.lost, anEnding.notStarted])
    expect(transitions.tryAgain({ ...ended(ending), domain: '' }, ben, NOW_MS)).toBeUndefined();
});

test('whoever wants to be notified sees the export on their Home as well, once', () => {
  const told = transitions.notify(aRun({ people: ['U0ANA'] }), ben);
  expect(told).toMatchObject({ watchers: [ben], people: ['U0ANA', 'U0BEN'] });
  expect(transitions.notify(aRun({ people: ['U0ANA', 'U0BEN'] }), ben)?.people).toHaveLength(2);
});

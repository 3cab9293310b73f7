import { describe, expect, test } from 'vitest';
import type { JobContext } from '../../../../src/jobs/context.ts';
import { type AskEnding, type AskRun, newAsk } from '../../../../src/jobs/digest/ask/record.ts';
import { addNumbers, loadFollowUps } from '../../../../src/jobs/digest/edition/follow-ups.ts';
import { readerParts } from '../../../../src/jobs/digest/edition/readers-view.ts';
import type { EditionRun } from '../../../../src/jobs/digest/edition/record.ts';
import { fullEdition } from '../../../support/jobs/digest/arbitraries.ts';

const asked = (subject: AskRun['subject'], ending: AskEnding | undefined, sinceMs = 1): AskRun => ({
  ...newAsk(
    {
      id: `ask-${subject.name}`,
      teamId: 'T0ACME',
      project: 'acme',
      edition: 'digest-0',
      channel: 'C0DOCS',
      by: { id: 'U0ANA', name: 'ana' },
      subject,
      text: 'Mend it.',
      to: { thread: 'thread-1' },
    },
    sinceMs,
  ),
  ...(ending && { state: 'ended' as const, ending }),
});

/** What a digest after these says of them. */
async function said(asks: AskRun[], readers: EditionRun['readers'] = {}) {
  const context = {
    runs: { loadAll: async () => asks },
    figures: { asks: async () => asks.map(({ id }) => id) },
  } as unknown as JobContext;
  const run = { ...fullEdition('/x'), readers };
  const followUps = addNumbers(await loadFollowUps(run, context), new Map(), readers);
  return readerParts({ ...run, readers: {}, followUps })
    .map(({ text }) => text)
    .join('\n');
}

const page = { kind: 'page', name: '/guides/sso', value: 40 } as const;

describe('the digest after one says of what was asked under that', () => {
  test('the pull request, and the numbers before and after', async () => {
    const ending = { kind: 'newPr' as const, atMs: 2, prLink: 'https://github.com/acme/docs/pull/131' };
    expect(await said([asked(page, ending)])).toBe(
      'Since last week: /guides/sso got <https://github.com/acme/docs/pull/131|acme/docs#131> (merged or not, the platform does not tell); 40 views → 0',
    );
  });

  test('that there is none only where that is known', async () => {
    expect(await said([asked(page, { kind: 'noPr', atMs: 2 })])).toContain('got no pull request');
    for (const ending of [{ kind: 'unwatched', atMs: 2 }, { kind: 'unknown', atMs: 2 }, undefined] as const)
      expect(await said([asked(page, ending)])).toContain(
        '/guides/sso: what the agent made of it is not known',
      );
    expect(await said([asked(page, { kind: 'notSent', atMs: 2 })])).toBe('');
  });

  test('no 0 where the platform tells only a part', async () => {
    const thumbs = (count: number) =>
      Array.from({ length: count }, (_, index) => ({ path: `/${index}`, up: 1, down: 2 }));
    const subject = { kind: 'thumbs', name: '/guides/sso', value: 9 } as const;
    const ask = asked(subject, { kind: 'noPr', atMs: 2 });
    expect(await said([ask], { thumbs: thumbs(99) })).toContain('9 thumbs down → 0');
    expect(await said([ask], { thumbs: thumbs(100) })).not.toContain('→');
    expect(await said([ask], { thumbs: [{ path: '/guides/sso', up: 0, down: 1 }] })).toContain(
      '9 thumbs down → 1',
    );
    const search = asked({ kind: 'search', name: 'sso', value: 41 }, { kind: 'noPr', atMs: 2 });
    expect(await said([search], { searches: [] })).toContain(
      '41 searches without a click → no longer listed',
    );
    expect(await said([search], { searches: [{ query: 'sso', hits: 12 }] })).toContain('click → 12');
  });
});

import { describe, expect, test } from 'vitest';
import type { JobContext } from '../../../../src/jobs/context.ts';
import { type AskEnding, type AskRun, newAsk } from '../../../../src/jobs/digest/ask/record.ts';
import { addNumbers, loadFollowUps } from '../../../../src/jobs/digest/edition/content.ts';
import { readerParts } from '../../../../src/jobs/digest/edition/pages-view.ts';
import { type EditionRun, weeklyId } from '../../../../src/jobs/digest/edition/record.ts';
import { fullEdition } from '../../../support/jobs/digest/arbitraries.ts';
import { anEdition } from '../../../support/jobs/digest/builders.ts';
import { jobContext } from '../../../support/jobs/world.ts';
import { redisForTests } from '../../../support/redis.ts';

const redis = redisForTests();

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
    runs: { loadAll: async (ids: string[]) => asks.filter(({ id }) => ids.includes(id)) },
    figures: { asks: async () => asks.map(({ id }) => id) },
  } as unknown as JobContext;
  const run = { ...fullEdition('/x'), readers };
  const found = await loadFollowUps(run, context);
  const followUps = addNumbers(found, new Map(), readers);
  return readerParts({ ...run, readers: {}, followUps })
    .map(({ text }) => text)
    .join('\n');
}

const page = { kind: 'page', name: '/guides/sso', value: 40 } as const;

describe('the digest after one says of what was asked under that', () => {
  test('the pull request, and the numbers before and after', async () => {
    const ending = { kind: 'newPr' as const, atMs: 2, prLink: 'https://github.com/acme/docs/pull/131' };
    expect(await said([asked(page, ending)])).toBe(
      'Since last week: /guides/sso got <https://github.com/acme/docs/pull/131|acme/docs#131> (the platform does not say whether it was merged); 40 views → 0',
    );
  });

  test('that there is none only where that is known', async () => {
    expect(await said([asked(page, { kind: 'noPr', atMs: 2 })])).toContain('got no pull request');
    for (const ending of [{ kind: 'unwatched', atMs: 2 }, { kind: 'unknown', atMs: 2 }, undefined] as const)
      expect(await said([asked(page, ending)])).toContain('/guides/sso: its result is unknown');
    expect(await said([asked(page, { kind: 'failed', atMs: 2 })])).toContain('the agent could not finish it');
    expect(await said([asked(page, { kind: 'archived', atMs: 2 })])).toContain('its job was archived');
    expect(await said([asked(page, { kind: 'notSent', atMs: 2 })])).toBe('');
  });

  test('how many there are beside the first five', async () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_, index) =>
        asked({ ...page, name: `/${index}` }, { kind: 'noPr', atMs: 2 }, index),
      );
    expect(await said(many(5))).not.toContain('more');
    expect(await said(many(7))).toMatch(/\/4 got no pull request; 40 views → 0 · and 2 more$/);
  });

  test('the same after weeks without a digest', async () => {
    const context = jobContext(redis.client);
    const { teamId, channel, project } = anEdition();
    const idOfWeek = (week: string) => weeklyId(teamId, channel, project, week);
    const ask = { ...asked(page, { kind: 'noPr', atMs: 2 }), edition: idOfWeek('2026-W35') };
    for (const run of [
      anEdition({ id: idOfWeek('2026-W34'), week: '2026-W34' }),
      anEdition({ id: idOfWeek('2026-W35'), week: '2026-W35' }),
      anEdition({ id: idOfWeek('2026-W36'), week: '2026-W36', ended: { why: 'platform' } }),
      ask,
      asked({ ...page, name: '/told-already' }, undefined),
    ])
      await context.runs.accept(run, Number.MAX_SAFE_INTEGER, 0, undefined);
    await context.figures.addAsk(idOfWeek('2026-W35'), ask.id);
    await context.figures.addAsk(idOfWeek('2026-W34'), 'ask-/told-already');
    const followUps = await loadFollowUps(anEdition(), context);
    expect(followUps.map(({ subject }) => subject)).toEqual(['/guides/sso']);
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

import { describe, expect, test } from 'vitest';
import type { DigestOrigin, Instruction, ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import type { RoundEnding } from '../../../../src/jobs/agent/watch/record.ts';
import type { JobContext } from '../../../../src/jobs/context.ts';
import { addNumbers, loadFollowUps } from '../../../../src/jobs/digest/edition/job.ts';
import { readerParts } from '../../../../src/jobs/digest/edition/pages-view.ts';
import { type EditionRun, weeklyId } from '../../../../src/jobs/digest/edition/record.ts';
import { aThread } from '../../../support/jobs/agent/builders.ts';
import { anAsk, anEdition } from '../../../support/jobs/digest/builders.ts';
import { jobContext } from '../../../support/jobs/world.ts';
import { redisForTests } from '../../../support/redis.ts';

const redis = redisForTests();

/** A thread in which an instruction from a digest came to this. */
const asked = (
  subject: DigestOrigin['subject'],
  ending: RoundEnding | Instruction['state'],
  atMs = 1,
  digest = IDS[0] ?? '',
): ThreadRun =>
  aThread({
    id: `thread-${subject.name}`,
    claim: undefined,
    instructions: [
      anAsk(typeof ending === 'string' ? { state: ending, atMs } : { state: 'sent', ending, atMs }, {
        subject,
        digest,
      }),
    ],
  });

/** The weekly digests before. */
const IDS = ['2026-W36', '2026-W35', '2026-W34'].map((week) => weeklyId(anEdition(), week));

/** What a digest after these says of them. */
async function said(threads: ThreadRun[], readers: EditionRun['readers'] = {}) {
  const context = {
    runs: { loadAll: async (ids: string[]) => threads.filter(({ id }) => ids.includes(id)) },
    figures: { asks: async () => threads.map(({ id }) => id) },
  } as unknown as JobContext;
  const run = anEdition({ readers, site: 'Acme' });
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
    for (const state of ['left', 'working'] as const)
      expect(await said([asked(page, state)])).toContain('/guides/sso: its result is unknown');
    expect(await said([asked(page, { kind: 'failed', atMs: 2 })])).toContain('the agent could not finish it');
    expect(await said([asked(page, { kind: 'archived', atMs: 2 })])).toContain('its job was archived');
    expect(await said([asked(page, 'notSent')])).toBe('');
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
    const [after, before, longBefore] = IDS as [string, string, string];
    const ask = asked(page, { kind: 'noPr', atMs: 2 }, 1, before);
    const known = asked({ ...page, name: '/told-already' }, 'working', 1, longBefore);
    for (const run of [
      anEdition({ id: longBefore, week: '2026-W34' }),
      anEdition({ id: before, week: '2026-W35' }),
      anEdition({ id: after, week: '2026-W36', ended: { why: 'platform' } }),
      ask,
      known,
    ])
      await context.runs.accept(run, Number.MAX_SAFE_INTEGER, 0, undefined);
    await context.figures.addAsk(before, ask.id);
    await context.figures.addAsk(longBefore, known.id);
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

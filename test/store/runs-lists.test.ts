import { describe, expect, test, vi } from 'vitest';
import { retention } from '../../src/runtime/timing.ts';
import { keys } from '../../src/store/keys.ts';
import { aNote, note } from '../support/store/builders.ts';
import { runsForTests } from '../support/store/world.ts';

const { redis, runs, inTime, accept, load } = runsForTests();

test('open runs come in the order of their acceptance', async () => {
  for (const id of ['b', 'a', 'c']) {
    await accept(aNote({ id, claim: id }));
    const now = await runs.timeMs();
    await vi.waitUntil(async () => (await runs.timeMs()) > now, { interval: 1 });
  }
  expect((await runs.active()).map(({ id }) => id)).toEqual(['b', 'a', 'c']);
});

describe('the runs of a person', () => {
  const of = (userId: string, teamId = 'T0ACME') => runs.ofPerson(teamId, userId);
  /** A run of these people, accepted at a later millisecond than the ones before. */
  async function acceptFor(people: string[], id: string) {
    const before = await runs.timeMs();
    await vi.waitUntil(async () => (await runs.timeMs()) > before, { interval: 1 });
    await accept(aNote({ id, claim: id, people }));
  }

  test('come newest first, and only where they concern that person', async () => {
    await acceptFor(['U0ANA'], 'a');
    await acceptFor(['U0ANA', 'U0BEN'], 'b');
    await acceptFor(['U0BEN'], 'c');
    await acceptFor([], 'd');
    expect(await of('U0ANA')).toEqual(['b', 'a']);
    expect(await of('U0BEN')).toEqual(['c', 'b']);
    expect(await of('U0CLEO')).toEqual([]);
    expect(await of('U0ANA', 'T0OTHER')).toEqual([]);
  });

  test('are fifty at most: the oldest are forgotten there, and kept as runs', async () => {
    const ids = Array.from({ length: 53 }, (_, index) => `r${String(index).padStart(2, '0')}`);
    for (const id of ids) await accept(aNote({ id, claim: id, people: ['U0ANA'] }));
    const shown = await of('U0ANA');
    expect(shown).toHaveLength(50);
    expect(shown).not.toContain('r00');
    expect(shown).toContain('r52');
    expect(await load('r00')).toBeDefined();
  });

  test('are forgotten as late as the last of them', async () => {
    await accept(aNote({ people: ['U0ANA'] }));
    const lives = () => redis.client.pttl(keys.runsOf('T0ACME', 'U0ANA'));
    expect(await lives()).toBeLessThanOrEqual(retention.runMs);
    expect(await lives()).toBeGreaterThan(retention.runMs - 30_000);
    await redis.client.pexpire(keys.runsOf('T0ACME', 'U0ANA'), 1000);
    await accept(aNote({ id: 'r2', claim: 'r2', people: ['U0ANA'] }));
    expect(await lives()).toBeGreaterThan(retention.runMs - 30_000);
  });

  test('gain one that somebody joined with a click, and one that goes on comes first', async () => {
    await acceptFor(['U0ANA'], 'a');
    await acceptFor(['U0ANA'], 'b');
    const before = await runs.timeMs();
    await vi.waitUntil(async () => (await runs.timeMs()) > before, { interval: 1 });
    await runs.resume(aNote({ id: 'a', claim: 'a', people: ['U0ANA', 'U0BEN'] }), await inTime(), 0);
    expect(await of('U0ANA')).toEqual(['a', 'b']);
    expect(await of('U0BEN')).toEqual(['a']);
  });

  test('are not touched by a request that is refused', async () => {
    await accept(aNote({ people: ['U0ANA'] }), (await runs.timeMs()) - 1);
    expect(await of('U0ANA')).toEqual([]);
  });
});

describe('a further name of a run', () => {
  test('finds it, for as long as a run is kept', async () => {
    await runs.alias('export T0ACME acme se_1', 'r1');
    expect(await runs.byAlias('export T0ACME acme se_1')).toBe('r1');
    expect(await runs.byAlias('export T0ACME acme se_2')).toBeUndefined();
    const livesMs = await redis.client.pttl(keys.alias('export T0ACME acme se_1'));
    expect(livesMs).toBeLessThanOrEqual(retention.runMs);
    expect(livesMs).toBeGreaterThan(retention.runMs - 30_000);
  });

  test('is the latest one’s that got it', async () => {
    await runs.alias('name', 'r1');
    await runs.alias('name', 'r2');
    expect(await runs.byAlias('name')).toBe('r2');
  });
});

describe('the open runs of one job', () => {
  test('come in full, without those of other jobs', async () => {
    await accept(aNote({ id: 'a', claim: 'a', note: 'one' }));
    await accept(aNote({ id: 'b', claim: 'b', job: 'link' }));
    const before = await runs.timeMs();
    await vi.waitUntil(async () => (await runs.timeMs()) > before, { interval: 1 });
    await accept(aNote({ id: 'c', claim: 'c', note: 'three' }));
    expect((await runs.activeOf(note, 'export')).map(({ id }) => id)).toEqual(['a', 'c']);
    expect(await runs.activeOf(note, 'export')).toContainEqual(aNote({ id: 'c', claim: 'c', note: 'three' }));
  });

  test.each([
    ['whose record is gone', undefined],
    ['that lack something', JSON.stringify({ id: 'bad' })],
    ['that are no JSON', '{"id":'],
    ['that are nothing', 'null'],
  ])('leave out those %s', async (_, json) => {
    await accept(aNote({ id: 'bad', claim: 'bad' }));
    await accept(aNote({ id: 'good', claim: 'good' }));
    if (json === undefined) await redis.client.del(keys.run('bad'));
    else await redis.client.hset(keys.run('bad'), 'json', json);
    expect((await runs.activeOf(note, 'export')).map(({ id }) => id)).toEqual(['good']);
  });
});

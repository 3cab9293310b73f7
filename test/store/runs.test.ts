import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { retention } from '../../src/runtime/timing.ts';
import { keys } from '../../src/store/keys.ts';
import { aNote, type Note } from '../support/store/builders.ts';
import { CLAIM_MS, RESPONSE_URL, runsForTests } from '../support/store/world.ts';

const { redis, runs, inTime, accept, load, holder } = runsForTests();

describe('accepting', () => {
  test('keeps the run, its claim and its place among the open ones', async () => {
    expect(await accept(aNote())).toMatchObject({ kind: 'accepted' });
    expect(await load()).toEqual(aNote());
    expect(await runs.active()).toEqual([{ job: 'export', id: 'r1' }]);
    expect(await holder()).toBe('r1');
    expect(await redis.client.get(keys.responseUrl('r1'))).toBe(RESPONSE_URL);
  });

  test('keeps the run for as long as its buttons are read, and the secret address for as long as Slack takes it', async () => {
    await accept(aNote());
    const lives = async (key: string) => redis.client.pttl(key);
    expect(await lives(keys.run('r1'))).toBeLessThanOrEqual(retention.runMs);
    expect(await lives(keys.run('r1'))).toBeGreaterThan(retention.runMs - 30_000);
    expect(await lives(keys.responseUrl('r1'))).toBeLessThanOrEqual(retention.responseUrlMs);
    expect(await lives(keys.claim('docs.acme.com'))).toBeLessThanOrEqual(CLAIM_MS);
  });

  test('the secret address is not in the run', async () => {
    await accept(aNote());
    expect(JSON.stringify(await redis.client.hgetall(keys.run('r1')))).not.toContain('s3cret');
  });

  test('after the deadline of its own clock, Redis refuses and nothing is written', async () => {
    expect(await accept(aNote(), (await runs.timeMs()) - 1)).toEqual({ kind: 'late' });
    expect(await redis.client.keys('*')).toEqual([]);
  });

  test('a deadline with a fraction of a millisecond is understood', async () => {
    expect(await accept(aNote(), (await inTime()) + 0.25)).toMatchObject({ kind: 'accepted' });
    expect(await accept(aNote({ id: 'r2', claim: 'x' }), (await runs.timeMs()) - 0.5)).toEqual({
      kind: 'late',
    });
  });

  test('a frozen Redis that wakes up after the deadline refuses by itself', async () => {
    await accept(aNote({ id: 'warm', claim: 'warm' }));
    const deadlineMs = await runs.timeMs();
    redis.freeze();
    const answer = accept(aNote(), deadlineMs);
    await vi.waitUntil(() => Date.now() > deadlineMs + 1, { interval: 1 });
    redis.thaw();
    expect(await answer).toEqual({ kind: 'late' });
    expect(await load()).toBeUndefined();
  });

  test('the same request again is a repeat, and changes nothing', async () => {
    await accept(aNote());
    await runs.save(aNote({ note: 'second' }));
    expect(await accept(aNote())).toEqual({ kind: 'repeated' });
    expect(await load()).toEqual(aNote({ rev: 2, note: 'second' }));
  });

  test('the same request again is a repeat also when another run holds the claim by now', async () => {
    await accept(aNote());
    await runs.save(aNote(), true);
    await accept(aNote({ id: 'r2' }));
    expect(await accept(aNote())).toEqual({ kind: 'repeated' });
    expect(await holder()).toBe('r2');
  });

  test('what was kept is a repeat also after the deadline: it is not told as refused', async () => {
    await accept(aNote());
    expect(await accept(aNote(), (await runs.timeMs()) - 1)).toEqual({ kind: 'repeated' });
  });

  test('what another run holds is refused, with its name, and nothing is written', async () => {
    await accept(aNote());
    expect(await accept(aNote({ id: 'r2', people: ['U0ANA'] }))).toEqual({ kind: 'claimed', by: 'r1' });
    expect(await load('r2')).toBeUndefined();
    expect(await runs.active()).toHaveLength(1);
    expect(await redis.client.get(keys.responseUrl('r2'))).toBeNull();
    expect(await runs.ofPerson('T0ACME', 'U0ANA')).toEqual([]);
  });

  test('without an address for answers keeps none', async () => {
    expect(await runs.accept(aNote(), await inTime(), CLAIM_MS, undefined)).toMatchObject({
      kind: 'accepted',
    });
    expect(await redis.client.exists(keys.responseUrl('r1'))).toBe(0);
    expect(await redis.client.get(keys.responseUrl('r1'))).toBeNull();
  });

  test('a claim of the same run stands in nobody’s way', async () => {
    await redis.client.set(keys.claim('docs.acme.com'), 'r1');
    expect(await accept(aNote())).toMatchObject({ kind: 'accepted' });
  });

  test('runs without a claim, and with others, go side by side', async () => {
    const { claim: _, ...free } = aNote();
    expect(await accept(free)).toMatchObject({ kind: 'accepted' });
    expect(await accept({ ...free, id: 'r2' })).toMatchObject({ kind: 'accepted' });
    expect(await accept(aNote({ id: 'r3' }))).toMatchObject({ kind: 'accepted' });
    expect(await accept(aNote({ id: 'r4', claim: 'docs.beta.com' }))).toMatchObject({ kind: 'accepted' });
  });

  test('of many at once that want the same, one is accepted', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => accept(aNote({ id: `r${index}` }))),
    );
    expect(answers.filter(({ kind }) => kind === 'accepted')).toHaveLength(1);
    expect(answers.filter(({ kind }) => kind === 'claimed')).toHaveLength(19);
  });
});

describe('going on by a click', () => {
  const resume = async (run: Note, deadlineMs?: number) =>
    runs.resume(run, deadlineMs ?? (await inTime()), CLAIM_MS);
  async function settled() {
    await accept(aNote());
    const saved = await runs.save(aNote({ note: 'ended' }), true);
    if (saved === undefined) throw new Error('not saved');
    await runs.markIdle(saved, true);
    return saved;
  }

  test('is the next revision, claimed and open again', async () => {
    const saved = await settled();
    expect(await resume({ ...saved, note: 'again' })).toMatchObject({ kind: 'accepted' });
    expect(await load()).toEqual({ ...saved, rev: 3, note: 'again' });
    expect(await runs.active()).toEqual([{ job: 'export', id: 'r1' }]);
    expect(await holder()).toBe('r1');
  });

  test('from a revision that is not the latest is stale, and changes nothing', async () => {
    const saved = await settled();
    await resume(saved);
    expect(await resume({ ...saved, note: 'second click' })).toEqual({ kind: 'stale' });
    expect((await load())?.note).toBe('ended');
    expect((await load())?.rev).toBe(3);
  });

  test('of many clicks at once, one counts', async () => {
    const saved = await settled();
    const answers = await Promise.all(Array.from({ length: 10 }, () => resume(saved)));
    expect(answers.map(({ kind }) => kind).sort()).toEqual(['accepted', ...Array(9).fill('stale')]);
  });

  test('of a run that is gone is stale', async () => {
    expect(await resume(aNote())).toEqual({ kind: 'stale' });
    expect(await load()).toBeUndefined();
  });

  test('while another run holds the claim is refused', async () => {
    const saved = await settled();
    await accept(aNote({ id: 'r2' }));
    expect(await resume(saved)).toEqual({ kind: 'claimed', by: 'r2' });
    expect(await load()).toEqual(saved);
  });

  test('that starts nothing goes on while another run holds the claim, and leaves that alone', async () => {
    const saved = await settled();
    await accept(aNote({ id: 'r2' }));
    expect(await runs.resume(saved, await inTime(), 0)).toMatchObject({ kind: 'accepted' });
    expect(await accept(aNote({ id: 'r3' }))).toEqual({ kind: 'claimed', by: 'r2' });
  });

  test('after the deadline is late', async () => {
    const saved = await settled();
    expect(await resume(saved, (await runs.timeMs()) - 1)).toEqual({ kind: 'late' });
    expect(await load()).toEqual(saved);
  });

  test('that was kept is stale also after the deadline: it is not told as refused', async () => {
    const saved = await settled();
    await resume(saved);
    expect(await resume(saved, (await runs.timeMs()) - 1)).toEqual({ kind: 'stale' });
  });
});

describe('saving', () => {
  test('answers the run with its new revision', async () => {
    await accept(aNote());
    expect(await runs.save(aNote({ note: 'second' }))).toEqual(aNote({ rev: 2, note: 'second' }));
    expect(await load()).toEqual(aNote({ rev: 2, note: 'second' }));
    expect(await holder()).toBe('r1');
  });

  test('of a state that is not the latest is refused, and keeps the claim', async () => {
    await accept(aNote());
    await runs.save(aNote({ note: 'second' }));
    expect(await runs.save(aNote({ note: 'other' }), true)).toBeUndefined();
    expect((await load())?.note).toBe('second');
    expect(await holder()).toBe('r1');
  });

  test('of a run that is gone brings nothing back', async () => {
    expect(await runs.save(aNote())).toBeUndefined();
    expect(await redis.client.keys('*')).toEqual([]);
  });

  test('with release frees the claim in the same moment', async () => {
    await accept(aNote());
    await runs.save(aNote(), true);
    expect(await holder()).toBeNull();
    expect(await accept(aNote({ id: 'r2' }))).toMatchObject({ kind: 'accepted' });
  });

  test("with release leaves another run's claim alone", async () => {
    await accept(aNote());
    await redis.client.set(keys.claim('docs.acme.com'), 'r2');
    await runs.save(aNote(), true);
    expect(await holder()).toBe('r2');
  });

  test('of two at once, one is kept', async () => {
    await accept(aNote());
    const saved = await Promise.all([runs.save(aNote({ note: 'a' })), runs.save(aNote({ note: 'b' }))]);
    expect(saved.filter((one) => one !== undefined)).toEqual([await load()]);
  });
});

describe('marking idle', () => {
  test.each([
    [true, null],
    [false, 'r1'],
  ])('takes the run from the open ones and keeps its record; release %s', async (release, claimedBy) => {
    await accept(aNote());
    await runs.markIdle(aNote(), release);
    expect(await runs.active()).toEqual([]);
    expect(await load()).toEqual(aNote());
    expect(await holder()).toBe(claimedBy);
  });

  test('a state that is not the latest changes nothing', async () => {
    await accept(aNote());
    await runs.save(aNote());
    expect(await runs.markIdle(aNote(), true)).toBe(false);
    expect(await runs.active()).toHaveLength(1);
    expect(await holder()).toBe('r1');
  });
});

describe('a run that lasts', () => {
  const own = [keys.run('r1'), keys.claim('docs.acme.com')];
  const lives = () => Promise.all(own.map((key) => redis.client.pttl(key)));

  test('has no end, and neither has its claim', async () => {
    await accept(aNote({ lasting: true }));
    expect(await lives()).toEqual([-1, -1]);
    await runs.save(aNote({ lasting: true }));
    expect(await lives()).toEqual([-1, -1]);
  });

  test('has an end, and its claim too, once it is saved as one that does not', async () => {
    await accept(aNote({ lasting: true }));
    await runs.save(aNote());
    for (const leftMs of await lives()) {
      expect(leftMs).toBeGreaterThan(retention.runMs - 30_000);
      expect(leftMs).toBeLessThanOrEqual(retention.runMs);
    }
  });

  test('may be one that did not at first', async () => {
    await accept(aNote());
    await runs.save(aNote({ lasting: true }));
    expect(await lives()).toEqual([-1, -1]);
  });

  test('lasts again when it is resumed as one, with what waits for it', async () => {
    await accept(aNote());
    await redis.client.rpush(keys.inbox('r1'), '{}');
    await redis.client.pexpire(keys.inbox('r1'), 5000);
    await runs.resume(aNote({ lasting: true }), await inTime(), CLAIM_MS);
    expect(await lives()).toEqual([-1, -1]);
    expect(await redis.client.pttl(keys.inbox('r1'))).toBe(-1);
  });

  test('leaves nothing that lasts once its record is gone and it is forgotten', async () => {
    await accept(aNote({ lasting: true }));
    await redis.client.rpush(keys.inbox('r1'), '{}');
    await redis.client.del(keys.run('r1'));
    await runs.unlist(aNote());
    expect(await redis.client.pttl(keys.inbox('r1'))).toBeGreaterThan(0);
    expect(await runs.active()).toEqual([]);
  });
});

test('a save does not lengthen the life of a run, nor of its claim', async () => {
  await accept(aNote());
  await redis.client.pexpire(keys.run('r1'), 5000);
  await runs.save(aNote());
  expect(await redis.client.pttl(keys.run('r1'))).toBeLessThanOrEqual(5000);
  expect(await redis.client.pttl(keys.claim('docs.acme.com'))).toBeLessThanOrEqual(CLAIM_MS);
});

describe('a damaged record', () => {
  const stored = async (json: string) => {
    await accept(aNote());
    await redis.client.hset(keys.run('r1'), 'json', json);
    return load().catch((error: unknown) => error);
  };

  test.each([
    ['with another type', JSON.stringify({ ...aNote(), note: 1 })],
    ['without fields', '{}'],
    ['that is no JSON', '{'],
  ])('%s rejects', async (_, json) => {
    expect(await stored(json)).toBeInstanceOf(z.ZodError);
  });

  test('says where it differs, and not what stands there', async () => {
    const error = await stored(JSON.stringify({ ...aNote(), note: { secret: 's3cret' } }));
    expect(String(error)).toContain('note');
    expect(String(error)).not.toContain('s3cret');
  });

  test('is not forgotten', async () => {
    await stored('{}');
    await runs.unlist(aNote());
    expect(await runs.active()).toHaveLength(1);
    expect(await holder()).toBe('r1');
    await runs.unlist(aNote(), true);
    expect(await runs.active()).toEqual([]);
    expect(await redis.client.exists(keys.run('r1'))).toBe(1);
  });
});

import { describe, expect, test, vi } from 'vitest';
import { retention } from '../../src/runtime/timing.ts';
import { keys } from '../../src/store/keys.ts';
import { aNote, type Note, note } from '../support/store/builders.ts';
import { CLAIM_MS, RESPONSE_URL, runsForTests } from '../support/store/world.ts';

const { redis, runs, inTime, accept, load, holder } = runsForTests();

const open = () => runs.loadWithInbox('r1', note);
const lives = (key: string) => redis.client.pttl(key);
const listed = async () => (await runs.active()).map(({ id }) => id);

/** Passes a millisecond of Redis' clock. */
async function aMoment() {
  const before = await runs.timeMs();
  await vi.waitUntil(async () => (await runs.timeMs()) > before, { interval: 1 });
}

describe('accepting', () => {
  test('keeps the run, its claim and its place in the due list, each as long as it is needed', async () => {
    expect(await accept(aNote())).toEqual({ kind: 'accepted' });
    expect([await load(), await listed(), await holder()]).toEqual([aNote(), ['r1'], 'r1']);
    expect(await redis.client.get(keys.responseUrl('r1'))).toBe(RESPONSE_URL);
    expect(JSON.stringify(await redis.client.hgetall(keys.run('r1')))).not.toContain('s3cret');
    for (const [key, ms] of [
      [keys.run('r1'), retention.runMs],
      [keys.responseUrl('r1'), retention.responseUrlMs],
      [keys.claim('docs.acme.com'), CLAIM_MS],
    ] as const) {
      expect(await lives(key)).toBeLessThanOrEqual(ms);
      expect(await lives(key)).toBeGreaterThan(ms - 30_000);
    }
  });

  test('after the deadline of Redis’ own clock is refused, and nothing is written', async () => {
    await expect(accept(aNote(), (await runs.timeMs()) - 0.5)).rejects.toThrow('LATE');
    expect(await redis.client.keys('*')).toEqual([]);
    expect(await accept(aNote(), (await inTime()) + 0.25)).toEqual({ kind: 'accepted' });
  });

  test('by a frozen Redis that wakes up after the deadline is refused', async () => {
    await accept(aNote({ id: 'warm', claim: 'warm' }));
    const deadlineMs = await runs.timeMs();
    redis.freeze();
    const answer = expect(accept(aNote(), deadlineMs)).rejects.toThrow('LATE');
    await vi.waitUntil(() => Date.now() > deadlineMs + 1, { interval: 1 });
    redis.thaw();
    await answer;
    expect(await load()).toBeUndefined();
  });

  test('the same request again is a repeat, whoever has the claim by then, and also after the deadline', async () => {
    await accept(aNote());
    await runs.saveStep(aNote({ note: 'second' }), { release: true });
    await accept(aNote({ id: 'r2' }));
    expect(await accept(aNote())).toEqual({ kind: 'repeated' });
    expect(await accept(aNote(), (await runs.timeMs()) - 1)).toEqual({ kind: 'repeated' });
    expect([await load(), await holder()]).toEqual([aNote({ rev: 2, note: 'second' }), 'r2']);
  });

  test('what another run holds is refused, with its name, and nothing is written', async () => {
    await accept(aNote());
    expect(await accept(aNote({ id: 'r2', people: ['U0ANA'] }))).toEqual({ kind: 'claimed', by: 'r1' });
    expect([await load('r2'), await listed()]).toEqual([undefined, ['r1']]);
    expect(await redis.client.exists(keys.responseUrl('r2'))).toBe(0);
    expect(await runs.ofPerson('T0ACME', 'U0ANA')).toEqual([]);
    const { claim: _, ...free } = aNote({ id: 'r3' });
    for (const other of [free, aNote({ id: 'r4', claim: 'docs.beta.com' })])
      expect(await accept(other)).toEqual({ kind: 'accepted' });
  });
});

describe('resuming', () => {
  const resume = async (run: Note, deadlineMs?: number) =>
    runs.resume(run, { deadlineMs: deadlineMs ?? (await inTime()), claimMs: CLAIM_MS });
  async function ended() {
    await accept(aNote());
    await runs.saveStep(aNote({ note: 'ended' }), { release: true });
    const saved = aNote({ rev: 2, note: 'ended' });
    await runs.markIdle(saved, true);
    return saved;
  }

  test('is the next revision, claimed and due again, once for many clicks', async () => {
    const saved = await ended();
    const clicks = Array.from({ length: 10 }, () => resume({ ...saved, note: 'again' }));
    const kinds = (await Promise.all(clicks)).map(({ kind }) => kind);
    expect(kinds.sort()).toEqual(['accepted', ...Array(9).fill('stale')]);
    expect(await load()).toEqual({ ...saved, rev: 3, note: 'again' });
    expect([await listed(), await holder(), (await open())?.wakes]).toEqual([['r1'], 'r1', 1]);
    // What was kept is not told as refused.
    expect(await resume(saved, (await runs.timeMs()) - 1)).toEqual({ kind: 'stale' });
  });

  test('while another run holds the claim is refused, unless it starts nothing', async () => {
    const saved = await ended();
    await accept(aNote({ id: 'r2' }));
    expect(await resume(saved)).toEqual({ kind: 'claimed', by: 'r2' });
    expect(await load()).toEqual(saved);
    expect(await runs.resume(saved, { deadlineMs: await inTime() })).toEqual({ kind: 'accepted' });
    expect(await holder()).toBe('r2');
  });
});

describe('saving', () => {
  test('answers the run with its new revision, and lengthens no life', async () => {
    await accept(aNote());
    await redis.client.pexpire(keys.run('r1'), 5000);
    expect((await runs.saveStep(aNote({ note: 'second' })))?.run).toEqual(aNote({ rev: 2, note: 'second' }));
    expect([await load(), await holder()]).toEqual([aNote({ rev: 2, note: 'second' }), 'r1']);
    expect(await lives(keys.run('r1'))).toBeLessThanOrEqual(5000);
    expect(await lives(keys.claim('docs.acme.com'))).toBeLessThanOrEqual(CLAIM_MS);
  });

  test('of a state that is not the latest is refused, and keeps the claim; of two at once, one is kept', async () => {
    await accept(aNote());
    const both = [runs.saveStep(aNote({ note: 'a' })), runs.saveStep(aNote({ note: 'b' }))];
    expect((await Promise.all(both)).flatMap((one) => one?.run ?? [])).toEqual([await load()]);
    expect(await runs.saveStep(aNote({ note: 'other' }), { release: true })).toBeUndefined();
    expect(await holder()).toBe('r1');
  });

  test("with release frees the claim in the same moment, but leaves another run's alone", async () => {
    await accept(aNote());
    await runs.saveStep(aNote(), { release: true });
    expect(await accept(aNote({ id: 'r2' }))).toEqual({ kind: 'accepted' });
    await runs.saveStep(aNote({ rev: 2 }), { release: true });
    expect(await holder()).toBe('r2');
  });
});

describe('waking and marking idle', () => {
  test.each([
    [true, null],
    [false, 'r1'],
  ])('an idle run keeps its record; release %s', async (release, claimedBy) => {
    await accept(aNote());
    expect(await runs.markIdle(aNote(), release)).toBe(true);
    expect([await listed(), await load(), await holder()]).toEqual([[], aNote(), claimedBy]);
    await runs.markDue('export', 'r1');
    expect([await listed(), (await open())?.wakes]).toEqual([['r1'], 1]);
  });

  test('a run that was changed, or woken since the step began, does not become idle', async () => {
    await accept(aNote());
    await runs.markDue('export', 'r1');
    expect(await runs.markIdle(aNote(), true, 0)).toBe(false);
    expect(await runs.markIdle(aNote({ rev: 7 }), true)).toBe(false);
    expect([await listed(), await holder()]).toEqual([['r1'], 'r1']);
    expect(await runs.markIdle(aNote(), true, 1)).toBe(true);
  });
});

describe('a run that lasts', () => {
  const ends = () => Promise.all([keys.run('r1'), keys.claim('docs.acme.com')].map(lives));

  test('has no end, and neither has its claim, as long as it is saved as one that lasts', async () => {
    await accept(aNote({ permanent: true }));
    expect(await ends()).toEqual([-1, -1]);
    await runs.saveStep(aNote());
    for (const leftMs of await ends()) expect(leftMs).toBeGreaterThan(retention.runMs - 30_000);
    await runs.saveStep(aNote({ rev: 2, permanent: true }));
    expect(await ends()).toEqual([-1, -1]);
  });

  test('is kept as long as it says, after its end', async () => {
    const keptMs = retention.pullRequestMs;
    await accept(aNote({ permanent: true, keptMs }));
    await runs.saveStep(aNote({ permanent: false, keptMs }));
    const [leftMs = 0] = await ends();
    expect(leftMs).toBeGreaterThan(keptMs - 30_000);
    expect(leftMs).toBeGreaterThan(59 * 86_400_000);
  });

  test('may be resumed as one, with what waits for it', async () => {
    await accept(aNote());
    await redis.client.rpush(keys.inbox('r1'), '{}');
    await redis.client.pexpire(keys.inbox('r1'), 5000);
    await runs.resume(aNote({ permanent: true }), { deadlineMs: await inTime(), claimMs: CLAIM_MS });
    expect([...(await ends()), await lives(keys.inbox('r1'))]).toEqual([-1, -1, -1]);
  });
});

describe('the runs of a person', () => {
  const of = (userId: string, teamId = 'T0ACME') => runs.ofPerson(teamId, userId);
  const acceptFor = async (id: string, people: string[]) => {
    await accept(aNote({ id, claim: id, people }));
    await aMoment();
  };

  test('come newest first, only to that person; one that is resumed comes first', async () => {
    await acceptFor('a', ['U0ANA']);
    await acceptFor('b', ['U0ANA', 'U0BEN']);
    expect([await of('U0ANA'), await of('U0BEN'), await of('U0ANA', 'T0OTHER')]).toEqual([
      ...[['b', 'a'], ['b'], []],
    ]);
    await runs.resume(aNote({ id: 'a', claim: 'a', people: ['U0ANA', 'U0CLEO'] }), {
      deadlineMs: await inTime(),
    });
    expect([await of('U0ANA'), await of('U0CLEO')]).toEqual([['a', 'b'], ['a']]);
  });

  test('begin with those that ask them something, however many are newer, until the answer', async () => {
    await acceptFor('asks', []);
    const asking = aNote({ id: 'asks', claim: 'asks', needs: ['U0ANA start 1'] });
    await runs.saveStep(asking);
    for (let n = 0; n < 60; n += 1)
      await accept(aNote({ id: `later-${n}`, claim: `later-${n}`, people: ['U0ANA'] }));
    const found = await of('U0ANA');
    expect([found[0], found.length]).toEqual(['asks', 51]);
    await runs.saveStep({ ...asking, rev: 2, needs: ['U0BEN x'] });
    expect([(await of('U0ANA')).includes('asks'), await of('U0BEN')]).toEqual([false, ['asks']]);
    expect(await lives(keys.askedOf('T0ACME', 'U0BEN'))).toBeGreaterThan(retention.runMs - 30_000);
  });
});

/** Returns how many records Redis has read so far. */
const reads = async () =>
  Number(/cmdstat_hget:calls=(\d+)/.exec(await redis.client.info('commandstats'))?.[1]);

test('what a workspace has running is found without the records of a busier one', async () => {
  for (let n = 0; n < 300; n += 1) await accept(aNote({ id: `n${n}`, claim: `n${n}`, teamId: 'T0BUSY' }));
  await accept(aNote());
  const before = await reads();
  expect(await runs.latestOf(note, 'export', 'T0ACME')).toEqual({ runs: [aNote()], complete: true });
  expect(await runs.activeOf(note, 'export', 'T0ACME')).toEqual([aNote()]);
  expect((await reads()) - before).toBeLessThan(10);
  expect(await runs.latestOf(note, 'export', 'T0BUSY')).toMatchObject({ complete: false });
});

test('a run whose record has expired leaves the list of its workspace', async () => {
  await accept(aNote({ id: 'old', claim: 'old' }));
  await redis.client.del(keys.run('old'));
  await runs.unlist({ job: 'export', id: 'old' });
  expect(await redis.client.zrange(keys.activeRunsOf('export', 'T0ACME'), '0', '-1')).toEqual([]);
});

test('a schedule is in the index of its workspace until it is removed', async () => {
  const schedule = { ...aNote({ permanent: true, job: 'export-schedule' }), timetable: {}, nextAtMs: 5 };
  const listed = async () => runs.indexed('export-schedule', 'T0ACME');
  await accept(schedule);
  await runs.saveStep({ ...schedule, nextAtMs: 6 });
  expect(await listed()).toEqual([{ id: 'r1', job: 'export-schedule', timetable: {}, nextAtMs: 6 }]);
  await runs.saveStep({ ...schedule, rev: 2, permanent: false });
  expect(await listed()).toEqual([]);
});

test('the active runs of one job in a workspace come in the order of their acceptance, without unreadable ones', async () => {
  for (const id of ['b', 'gone', 'bad', 'odd', 'a']) {
    await accept(aNote({ id, claim: id, note: id }));
    await aMoment();
  }
  await accept(aNote({ id: 'link', claim: 'link', job: 'link' }));
  await aMoment();
  await accept(aNote({ id: 'other', claim: 'other', teamId: 'T0OTHER' }));
  await redis.client.del(keys.run('gone'));
  await redis.client.hset(keys.run('bad'), 'json', '{"id":');
  await redis.client.hset(keys.run('odd'), 'json', 'null');
  expect((await runs.activeOf(note, 'export', 'T0ACME')).map((run) => run.note)).toEqual(['b', 'a']);
  expect(await listed()).toEqual(['b', 'gone', 'bad', 'odd', 'a', 'link', 'other']);
});

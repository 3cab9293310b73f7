import { beforeEach, describe, expect, test } from 'vitest';
import type { DocsApi } from '../../../src/docs-api/client.ts';
import type { JobContext } from '../../../src/jobs/context.ts';
import { linkJob } from '../../../src/jobs/link/job.ts';
import { type LinkRun, linkRun, renewLink } from '../../../src/jobs/link/record.ts';
import { linkKey } from '../../../src/jobs/link/view.ts';
import { defaultTiming } from '../../../src/runtime/timing.ts';
import type { Message } from '../../../src/slack/blocks.ts';
import { createAuditStore } from '../../../src/store/audit.ts';
import { keys } from '../../../src/store/keys.ts';
import { createLinkStore } from '../../../src/store/links.ts';
import type { DeliveryState } from '../../../src/store/messages.ts';
import { createRunStore } from '../../../src/store/runs.ts';
import { failing, HOUR_MS } from '../../support/jobs/export/world.ts';
import { aLinkRun } from '../../support/jobs/link/builders.ts';
import { type JobContextParts, jobContext } from '../../support/jobs/world.ts';
import { redisForTests } from '../../support/redis.ts';

const ADDRESS = 'https://bundles.example/b?X-Signature=s3cret';

const redis = redisForTests();
let nowMs: number;
let shown: string[];
/** How each message looks now, by its key. */
let looks: Map<string, string>;
let delivery: DeliveryState;
let adminsTold: string[];
let woken: string[];
let answered: { responseUrl: string; message: Message }[];
beforeEach(() => {
  // A link lives in Redis until it ends, by the clock of Redis.
  nowMs = Date.now();
  shown = [];
  looks = new Map();
  delivery = { kind: 'shown', channel: 'D0BEN', ts: '1.1' };
  adminsTold = [];
  woken = [];
  answered = [];
});

function contextWith(docs: Partial<DocsApi> | undefined, changes: JobContextParts = {}): JobContext {
  return jobContext(redis.client, {
    docs: (project) => (project === 'acme' ? (docs as DocsApi | undefined) : undefined),
    outbox: {
      async publish(_team, { key, message }) {
        shown.push(JSON.stringify(message));
        looks.set(key, JSON.stringify(message));
      },
      deliveryState: async () => delivery,
    },
    async alertAdmins(_team, project) {
      adminsTold.push(project);
      return true;
    },
    callOnce: async (_run, _step, call) => ({ kind: 'done', value: await call(() => false) }),
    async postEphemeral(responseUrl, message) {
      answered.push({ responseUrl, message });
      return true;
    },
    policy: { check: async () => ({ kind: 'unknown' }) },
    wake: async (run) => void woken.push(run.id),
    now: () => nowMs,
    ...changes,
  });
}

async function given(changes: Partial<LinkRun> = {}): Promise<LinkRun> {
  const run = aLinkRun({ sinceMs: nowMs, nextLookAtMs: nowMs, ...changes });
  const runs = createRunStore(redis.client);
  await runs.accept(run, (await runs.timeMs()) + 10_000, HOUR_MS, undefined);
  return run;
}

async function look(run: LinkRun, context: JobContext) {
  for (;;) {
    const outcome = await linkJob.run({ runId: run.id }, context);
    if (outcome.kind === 'done' || outcome.inMs > 0) return outcome;
  }
}

const stored = (run: LinkRun) => createRunStore(redis.client).load(run.id, linkRun);
const active = () => createRunStore(redis.client).active();
const holder = () => redis.client.get(keys.claim('c2b2'));
const audited = async () =>
  (await createAuditStore(redis.client).latest('T0ACME', 10)).done.map(
    ({ user, subject, job, result }) => `${user.name} ${subject} ${job} ${result}`,
  );

/** A platform that makes links, and counts them. */
function makesLinks(ends = true) {
  const made: string[] = [];
  const createBundle: DocsApi['createBundle'] = async ({ jobId }) => {
    made.push(jobId);
    return { bundleUrl: `${ADDRESS}${made.length}`, ...(ends && { expiresAt: nowMs + HOUR_MS }) };
  };
  return { made, createBundle };
}

describe('a link of one’s own', () => {
  test('is made of the export job and sent; its address is in no message and no record', async () => {
    const run = await given();
    const platform = makesLinks();
    expect(await look(run, contextWith(platform))).toEqual({ kind: 'again', inMs: HOUR_MS });
    expect(platform.made).toEqual(['se_3f9a77bd04c24a06']);
    expect(await stored(run)).toMatchObject({ state: 'sent', linkEndsAtMs: nowMs + HOUR_MS });
    expect(shown.at(-1)).toContain(`docket-link:${run.id}.1`);
    expect(await createLinkStore(redis.client).get(`${run.id}.1`)).toBe(`${ADDRESS}1`);
    expect(shown.join()).not.toContain('s3cret');
    expect(JSON.stringify(await redis.client.hgetall(keys.run(run.id)))).not.toContain('s3cret');
    expect(await audited()).toEqual(['ben docs.acme.com (1.2) se_3f9a77bd04c24a06 sent']);
  });

  test('is taken out of its message when it ends, and the next one may be asked for', async () => {
    const run = await given();
    const context = contextWith(makesLinks());
    await look(run, context);
    nowMs += HOUR_MS - 1;
    expect(await look(run, context)).toEqual({ kind: 'again', inMs: 1 });
    expect(await holder()).toBe(run.id);
    nowMs += 1;
    expect(await look(run, context)).toEqual({ kind: 'done' });
    expect(shown.at(-1)).toContain('🔒 Your own link to the export of docs.acme.com (1.2) ended');
    expect(shown.at(-1)).not.toContain('docket-link:');
    expect(await active()).toEqual([]);
    expect(await holder()).toBeNull();
  });

  test('without a known end stays in its message, and it is stepped no more', async () => {
    const run = await given();
    expect(await look(run, contextWith(makesLinks(false)))).toEqual({ kind: 'done' });
    expect(shown.at(-1)).toContain('docket-link:');
    expect(await active()).toEqual([]);
  });

  test('that is asked for again is another link under another name', async () => {
    const run = await given();
    const platform = makesLinks();
    await look(run, contextWith(platform));
    const sent = (await stored(run)) as LinkRun;
    await createRunStore(redis.client).save(renewLink(sent, nowMs) as LinkRun);
    await look(run, contextWith(platform));
    expect(platform.made).toHaveLength(2);
    expect(shown.at(-1)).toContain(`docket-link:${run.id}.2`);
    expect(await createLinkStore(redis.client).get(`${run.id}.2`)).toBe(`${ADDRESS}2`);
  });
});

describe('a link that nobody could make for longer than permissions are believed', () => {
  const person = { id: 'U0BEN', name: 'ben', fullMember: true, active: true };
  const late = () => given({ sinceMs: nowMs - defaultTiming.permissionCacheMs - 1 });

  test('is made when its person still may', async () => {
    const run = await late();
    const check = async () => ({ kind: 'allowed' as const, person });
    await look(run, contextWith(makesLinks(), { policy: { check } }));
    expect((await stored(run))?.state).toBe('sent');
  });

  test('is not made when they may no longer', async () => {
    const run = await late();
    const check = async () => ({ kind: 'refused' as const, person, ask: [] });
    const platform = makesLinks();
    expect(await look(run, contextWith(platform, { policy: { check } }))).toEqual({ kind: 'done' });
    expect(platform.made).toEqual([]);
    expect(shown.at(-1)).toContain('I could not get a download link');
    const { refused } = await createAuditStore(redis.client).latest('T0ACME', 10);
    expect(refused).toMatchObject([{ result: 'refused: not permitted' }]);
  });

  test('waits until Slack tells', async () => {
    const run = await late();
    expect(await look(run, contextWith(makesLinks()))).toMatchObject({ kind: 'again' });
    expect((await stored(run))?.state).toBe('making');
  });
});

describe('a link that cannot be had', () => {
  test('is tried again for a while, then given up, and may be asked for again', async () => {
    const run = await given();
    const context = contextWith({ createBundle: failing('server', 'unknown', { retryable: true }) });
    const startedMs = nowMs;
    for (;;) {
      const outcome = await look(run, context);
      if (outcome.kind === 'done') break;
      nowMs += outcome.inMs;
    }
    expect(nowMs - startedMs).toBeLessThanOrEqual(defaultTiming.giveUpMs);
    expect(nowMs - startedMs).toBeGreaterThan(defaultTiming.giveUpMs / 2);
    expect(shown).toHaveLength(1);
    expect(shown.at(-1)).toContain('I could not get a download link');
    expect(await audited()).toEqual(['ben docs.acme.com (1.2) se_3f9a77bd04c24a06 server']);
    expect(await active()).toEqual([]);
    expect(await holder()).toBeNull();
  });

  test('now, but at the second try, is sent', async () => {
    const run = await given();
    const context = contextWith({ createBundle: failing('connection', 'unknown', { retryable: true }) });
    const outcome = await look(run, context);
    nowMs += outcome.kind === 'again' ? outcome.inMs : 0;
    await look(run, contextWith(makesLinks()));
    expect((await stored(run))?.state).toBe('sent');
  });

  test('before the platform lets us is not asked for earlier', async () => {
    const run = await given();
    const more = { retryable: true, retryAfterMs: 120_000 };
    const context = contextWith({ createBundle: failing('rate_limited', 'no', more) });
    expect(await look(run, context)).toEqual({ kind: 'again', inMs: 120_000 });
    expect(await look(run, contextWith(makesLinks()))).toEqual({ kind: 'again', inMs: 120_000 });
  });

  test.each(['not_found', 'forbidden'] as const)('for good (%s) is given up at once', async (kind) => {
    const run = await given();
    expect(await look(run, contextWith({ createBundle: failing(kind) }))).toEqual({ kind: 'done' });
    expect((await stored(run))?.state).toBe('failed');
  });

  test('because of a rejected key is reported to the admins', async () => {
    const run = await given();
    await look(run, contextWith({ createBundle: failing('key_rejected') }));
    expect(adminsTold).toEqual(['acme']);
    expect((await stored(run))?.state).toBe('failed');
  });

  test('since the settings no longer have the project is given up at once', async () => {
    const run = await given({ project: 'gone' });
    expect(await look(run, contextWith(makesLinks()))).toEqual({ kind: 'done' });
    expect((await stored(run))?.state).toBe('failed');
    expect(await audited()).toEqual(['ben docs.acme.com (1.2) se_3f9a77bd04c24a06 no such project']);
  });

  test('since this process stops is left to the next one', async () => {
    const run = await given();
    const outcome = await linkJob.run({ runId: run.id }, contextWith({ createBundle: failing('aborted') }));
    expect(outcome).toEqual({ kind: 'again', inMs: 0 });
    expect((await stored(run))?.state).toBe('making');
  });

  test('because of a defect of ours is reported, and a link that was sent stays', async () => {
    const run = await given();
    await linkJob.giveUp?.({ runId: run.id }, contextWith({}), '7f3c1d');
    expect((await stored(run))?.state).toBe('failed');
    expect(shown.at(-1)).toContain('I could not get a download link');
    expect(await audited()).toEqual(['ben docs.acme.com (1.2) se_3f9a77bd04c24a06 broken: ref 7f3c1d']);
    expect(await active()).toEqual([]);
    expect(await holder()).toBeNull();
    const other = await given({ id: 'b0b0b0b0b0b0b0b0b0b0b0b0', claim: 'other', state: 'sent' });
    await linkJob.giveUp?.({ runId: other.id }, contextWith({}), '7f3c1d');
    expect((await stored(other))?.state).toBe('sent');
  });
});

describe('a further link that cannot be had', () => {
  /** The one before works for another hour. */
  const wanted = (changes: Partial<LinkRun> = {}) =>
    given({ made: 2, link: 'before', linkEndsAtMs: nowMs + HOUR_MS, ...changes });

  test('leaves the message with the one before, until that ends', async () => {
    const run = await wanted();
    const context = contextWith({ createBundle: failing('forbidden') });
    expect(await look(run, context)).toEqual({ kind: 'again', inMs: HOUR_MS });
    expect(looks.get(linkKey(run))).toContain('docket-link:before');
    expect(looks.get(`${linkKey(run)}.2`)).toContain('I could not get a download link');
    nowMs += HOUR_MS;
    expect(await look(run, context)).toEqual({ kind: 'done' });
    expect(looks.get(linkKey(run))).toContain('🔒 Your own link to the export of docs.acme.com (1.2) ended');
    expect(await active()).toEqual([]);
  });

  test('lets another be asked for at once', async () => {
    const run = await wanted();
    await look(run, contextWith({ createBundle: failing('forbidden') }));
    expect(await holder()).toBeNull();
    expect(await active()).toHaveLength(1);
  });

  test('because of a defect of ours leaves it as well', async () => {
    const run = await wanted();
    await linkJob.giveUp?.({ runId: run.id }, contextWith({}), '7f3c1d');
    expect(await active()).toHaveLength(1);
    expect(await look(run, contextWith({}))).toEqual({ kind: 'again', inMs: HOUR_MS });
    expect(looks.get(linkKey(run))).toContain('docket-link:before');
  });

  test('of one that has ended leaves nothing to wait for', async () => {
    const run = await wanted({ over: true });
    expect(await look(run, contextWith({ createBundle: failing('forbidden') }))).toEqual({ kind: 'done' });
    expect(looks.get(linkKey(run))).toContain('🔒 Your own link to the export of docs.acme.com (1.2) ended');
  });

  test('and then can counts as one that has not ended', async () => {
    const run = await wanted({ over: true });
    await look(run, contextWith(makesLinks()));
    expect((await stored(run))?.over).toBeUndefined();
    expect(looks.get(linkKey(run))).toContain(`docket-link:${run.id}.2`);
  });
});

describe('a link whose message Slack refuses for good', () => {
  test('comes as an ephemeral message to the click, while that can be given', async () => {
    const run = aLinkRun({ sinceMs: nowMs, nextLookAtMs: nowMs });
    const runs = createRunStore(redis.client);
    await runs.accept(run, (await runs.timeMs()) + 10_000, HOUR_MS, 'https://hooks.example/1');
    delivery = { kind: 'refused', code: 'messages_tab_disabled' };
    await look(run, contextWith(makesLinks()));
    expect(answered).toMatchObject([{ responseUrl: 'https://hooks.example/1' }]);
    expect(answered[0]?.message.text).toContain(
      "Slack doesn't let me send you direct messages (messages_tab_disabled), so here it is, for you alone.",
    );
    expect(JSON.stringify(answered[0]?.message.blocks)).toContain(ADDRESS);
    expect(shown.join()).not.toContain(ADDRESS);
  });

  test.each([true, false])(
    'has not been sent, and another can be asked for (its end is shown: %s)',
    async (ends) => {
      const run = await given();
      const context = contextWith(makesLinks(ends));
      delivery = { kind: 'waiting' };
      expect(await look(run, context)).toEqual({ kind: 'again', inMs: 50 });
      delivery = { kind: 'refused', code: 'messages_tab_disabled' };
      expect(await look(run, context)).toEqual({ kind: 'done' });
      expect(await stored(run)).toMatchObject({ state: 'failed', refusal: 'messages_tab_disabled' });
      expect((await audited())[0]).toBe(
        'ben docs.acme.com (1.2) se_3f9a77bd04c24a06 not delivered: messages_tab_disabled',
      );
      expect(shown.join()).not.toContain('could not get');
      expect(await active()).toEqual([]);
      expect(await holder()).toBeNull();
    },
  );

  test('is found out less and less often while Slack is away, and never later than the link ends', async () => {
    const run = await given();
    const context = contextWith(makesLinks());
    delivery = { kind: 'waiting' };
    await look(run, context);
    nowMs += 10_000;
    expect(await look(run, context)).toEqual({ kind: 'again', inMs: 5000 });
    nowMs += 600_000;
    expect(await look(run, context)).toEqual({ kind: 'again', inMs: defaultTiming.retryMaxMs });
    nowMs += HOUR_MS - 610_000 - 7;
    expect(await look(run, context)).toEqual({ kind: 'again', inMs: 7 });
    nowMs += 7;
    await look(run, context);
    expect((await stored(run))?.state).toBe('over');
  });
});

test('what breaks once the link is sent, again and again, is stepped no more', async () => {
  const run = await given({ state: 'sent', link: 'l', linkEndsAtMs: nowMs + HOUR_MS });
  await linkJob.giveUp?.({ runId: run.id }, contextWith({}), '7f3c1d');
  expect((await stored(run))?.state).toBe('sent');
  expect(await active()).toEqual([]);
  expect(await holder()).toBeNull();
});

test('a process that dies before it saves makes another link, and the audit log misses none', async () => {
  const run = await given();
  const runs = createRunStore(redis.client);
  const platform = makesLinks();
  const saveWithWakes = async () => Promise.reject(new Error('dead'));
  await expect(look(run, contextWith(platform, { runs: { ...runs, saveWithWakes } }))).rejects.toThrow(
    'dead',
  );
  await look(run, contextWith(platform));
  expect((await stored(run))?.state).toBe('sent');
  expect((await audited()).length).toBeGreaterThanOrEqual(1);
});

test('a save that lost against a click has the run stepped again', async () => {
  const run = await given();
  const context = contextWith({
    async createBundle() {
      await context.runs.save((await stored(run)) as LinkRun);
      return { bundleUrl: ADDRESS };
    },
  });
  expect(await look(run, context)).toEqual({ kind: 'done' });
  expect(woken).toEqual([run.id]);
  expect((await stored(run))?.state).toBe('making');
});

test('a run whose record is gone is stepped no more', async () => {
  const run = await given();
  await redis.client.del(keys.run(run.id));
  expect(await look(run, contextWith({}))).toEqual({ kind: 'done' });
  expect(await active()).toEqual([]);
});

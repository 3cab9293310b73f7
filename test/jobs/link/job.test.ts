import { beforeEach, describe, expect, test } from 'vitest';
import type { DocsApi } from '../../../src/docs-api/client.ts';
import type { JobContext } from '../../../src/jobs/context.ts';
import { linkJob } from '../../../src/jobs/link/job.ts';
import { type LinkRun, linkRun } from '../../../src/jobs/link/record.ts';
import { defaultTiming } from '../../../src/runtime/timing.ts';
import type { Message } from '../../../src/slack/blocks.ts';
import { createAuditStore } from '../../../src/store/audit.ts';
import type { DeliveryState } from '../../../src/store/messages.ts';
import { createRunStore } from '../../../src/store/runs.ts';
import { HOUR_MS } from '../../support/jobs/export/world.ts';
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
    callOnce: async (_run, _step, _limitMs, call) => ({ kind: 'done', value: await call(() => false) }),
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
  const run = aLinkRun({ sinceMs: nowMs, nextPollAtMs: nowMs, ...changes });
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
    const check = async () => ({ kind: 'refused' as const, person, ask: 'ana' });
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

test('a process that dies before it saves makes another link, and the audit log misses none', async () => {
  const run = await given();
  const runs = createRunStore(redis.client);
  const platform = makesLinks();
  const saveStep = async () => Promise.reject(new Error('dead'));
  await expect(look(run, contextWith(platform, { runs: { ...runs, saveStep } }))).rejects.toThrow('dead');
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

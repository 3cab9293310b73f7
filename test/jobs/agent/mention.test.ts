import { beforeEach, describe, expect, test } from 'vitest';
import { type MentionRun, mentionJob, mentionRun } from '../../../src/jobs/agent/mention.ts';
import type { JobContext } from '../../../src/jobs/context.ts';
import type { PermissionResult } from '../../../src/policy.ts';
import { createRunStore } from '../../../src/store/runs.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aMention, aMentionReply } from '../../support/jobs/agent/builders.ts';
import { type JobContextParts, jobContext } from '../../support/jobs/world.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();
let nowMs: number;
let said: { to: object; text: string }[];
beforeEach(() => {
  nowMs = NOW_MS;
  said = [];
});

const ana = { id: 'U0ANA', name: 'ana', fullMember: true, active: true };
const allowed: PermissionResult = { kind: 'allowed', person: ana };

function contextWith(changes: JobContextParts = {}, verdict: PermissionResult = allowed): JobContext {
  return jobContext(redis.client, {
    policy: { check: async () => verdict },
    slack: {
      async postEphemeralTo(to, { text }) {
        said.push({ to, text });
      },
    },
    now: () => nowMs,
    ...changes,
  });
}

async function given(changes: Partial<MentionRun> = {}): Promise<MentionRun> {
  const run = aMention(changes);
  const runs = createRunStore(redis.client);
  await runs.accept(run, { deadlineMs: (await runs.timeMs()) + 10_000 });
  return run;
}
const look = ({ id }: MentionRun, context = contextWith()) => mentionJob.run(id, context);
const stored = ({ id }: MentionRun) => createRunStore(redis.client).load(id, mentionRun);

test('an export is offered to those who may start exports alone', async () => {
  const allows = (name: string): NonNullable<JobContextParts['policy']> => ({
    check: async (_, permission) =>
      permission === name ? allowed : { kind: 'refused', person: ana, ask: '@docs-admins' },
  });
  for (const [id, name] of Object.entries({ m1: 'export', m2: 'agent' }))
    await look(
      await given({ id, reply: aMentionReply('export docs.acme.com') }),
      contextWith({ policy: allows(name) }),
    );
  expect(said.map(({ text }) => text)).toEqual([
    'Export docs.acme.com now?',
    "You can't start exports here, so nothing was started. Ask @docs-admins.",
  ]);
});

describe('who may not instruct the agent', () => {
  const refused: PermissionResult = { kind: 'refused', person: ana, ask: '@docs-admins' };

  test('reads help all the same, unless from elsewhere', async () => {
    await look(await given({ id: 'm1', reply: aMentionReply('hi') }), contextWith({}, refused));
    const outsider: PermissionResult = { ...refused, outsider: true };
    await look(await given({ id: 'm2', reply: aMentionReply('hi') }), contextWith({}, outsider));
    expect(said).toMatchObject([
      { text: expect.stringMatching(/^Export a site:/) },
      { text: expect.stringMatching(/^You can't instruct/) },
    ]);
  });

  test('is told whom to ask, and leaves an audit line', async () => {
    const context = contextWith({}, refused);
    const run = await given();
    expect(await look(run, context)).toBeUndefined();
    expect(said).toMatchObject([
      { text: "You can't instruct the docs agent here, so nothing was sent. Ask @docs-admins." },
    ]);
    expect((await context.audit.latest('T0ACME', 10)).refused).toMatchObject([
      { user: { id: 'U0ANA', name: 'ana' }, channel: 'C0DOCS', result: 'refused: not permitted' },
    ]);
    expect(await stored(run)).not.toHaveProperty('offer');
    expect((await stored(run))?.reply.content).toEqual({});
  });
});

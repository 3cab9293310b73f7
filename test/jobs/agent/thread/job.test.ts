import { expect, test } from 'vitest';
import { DocsApiError } from '../../../../src/docs-api/errors.ts';
import type { ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { hourlyLimitOf } from '../../../../src/jobs/agent/thread/send.ts';
import { previewAlias } from '../../../../src/jobs/site/record.ts';
import type { PermissionResult } from '../../../../src/policy.ts';
import { Later } from '../../../../src/runtime/later.ts';
import { keys } from '../../../../src/store/keys.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aRound, aTrouble } from '../../../support/jobs/agent/builders.ts';
import { ana, ben, clicks, outcomesOf, wrote } from '../../../support/jobs/agent/events.ts';
import { type AgentWorld, onFreshWorlds } from '../../../support/jobs/agent/world.ts';
import { aPreview } from '../../../support/jobs/site/builders.ts';

let world: AgentWorld;
const redis = onFreshWorlds((fresh) => {
  world = fresh;
});

const person = (id: string) => ({ id, name: id, fullMember: true, active: true });
const kinds: Record<PermissionResult['kind'], (id: string) => PermissionResult> = {
  allowed: (id) => ({ kind: 'allowed', person: person(id) }),
  refused: (id) => ({ kind: 'refused', person: person(id), contacts: '@docs-admins' }),
  unknown: () => ({ kind: 'unknown' }),
};
const says = (of: string, kind: PermissionResult['kind']) => {
  world.context.policy.check = async (id) => kinds[id === of ? kind : 'allowed'](id);
};

/** What everybody wrote waits for the hour's limit. */
async function waits(...words: [typeof ana, string][]) {
  await world.follows({ mode: 'all' });
  const limit = { n: 1, perHour: 1 };
  await world.runs.saveStep({
    ...(await world.thread()),
    limit: { ...limit, untilMs: NOW_MS + 3_600_000 },
  });
  await world.receives(...words.map(([by, text], index) => wrote(by, index + 1, text)));
  await world.step();
  expect(world.prompts).toEqual([]);
  world.clock.ms += 3_600_000;
}

test('what waited for an hour does not go out when its author may no longer instruct the agent', async () => {
  await waits([ben, 'One'], [ana, 'Two'], [ben, 'Three']);
  says(ben.id, 'refused');
  await world.step();
  expect(world.prompts).toEqual(['Two']);
  expect(outcomesOf(await world.thread())).toEqual(['discarded: One', 'sent: Two', 'discarded: Three']);
  expect(world.ephemerals).toEqual([
    "U0BEN: You may no longer ask the agent here, so your waiting requests weren't sent. Ask @docs-admins.",
  ]);
  expect(world.audited.filter((line) => line.startsWith('U0BEN'))).toEqual([
    'U0BEN instruction: discarded · 3 characters',
    'U0BEN instruction: discarded · 5 characters',
    'U0BEN agent: refused: not permitted',
  ]);
});

test('what Slack does not tell is waited for, and nothing goes out until then', async () => {
  await waits([ben, 'One']);
  says(ben.id, 'unknown');
  expect(await world.step()).toEqual(expect.any(Number));
  expect(world.prompts).toEqual([]);
  says(ben.id, 'allowed');
  await world.step();
  expect(world.prompts).toEqual(['One']);
});

test('a job that was to be made with it is not made', async () => {
  says(ana.id, 'refused');
  const made: string[] = [];
  world.docs.createAgentJob = async ({ prompt }) => {
    made.push(prompt);
    return { id: 'aj', status: 'active', rawStatus: 'active' };
  };
  await world.follows({ agentJobId: undefined, instructions: [anInstruction({ creates: true })] });
  expect(made).toEqual([]);
  expect((await world.thread()).ended).toMatchObject({ why: 'notMade' });
});

test('replies wait until the job is made', async () => {
  const failed = anInstruction({ creates: true, state: 'failed', problem: { attempt: 1, why: 'down' } });
  await world.follows({ agentJobId: undefined, instructions: [failed] });
  await world.receives(wrote(ana, 1, 'Two'));
  await world.step();
  expect(outcomesOf(await world.thread())).toContain('waiting: Two');
});

test('what a process that has no such project finds on its way is not sent, and the platform is not blamed', async () => {
  world.context.platform.docs = () => undefined;
  await world.follows({ sends: 1, instructions: [anInstruction({ state: 'sending' })] });
  expect((await world.thread()).instructions[0]).toMatchObject({
    state: 'failed',
    problem: { why: 'project' },
  });
});

test('polls of its job leave no keys behind that stay for a week', async () => {
  await world.follows();
  expect((await world.thread()).seen?.status).toBe('completed');
  expect(await redis.client.keys('*:seen:*')).toEqual([]);
});

test('a preview is older than a round that was given up and is found ended later', async () => {
  const preview = aPreview({ state: 'ended', ending: { kind: 'done' }, claim: undefined });
  await world.runs.accept(preview);
  await world.runs.alias(previewAlias(world.id, preview.branch ?? ''), preview.id);
  const entries = () => redis.client.llen(keys.inbox(preview.id));
  const gaveUp = { kind: 'gaveUp', afterMs: 6 * 3_600_000, atMs: NOW_MS } as const;
  await world.follows({ rounds: [aRound({ ending: gaveUp })] });
  await world.step();
  expect((await world.thread()).rounds.at(-1)).toMatchObject({ n: 2, ending: { kind: 'noPr' } });
  expect(await entries()).toBe(1);
  // A poll without a round says nothing new.
  await world.runs.saveStep({ ...(await world.thread()), pollRequested: true });
  await world.step();
  expect(await entries()).toBe(1);
});

test.each([
  ['may be repeated', 'aborted'],
  ['is given up, and a person tries again', 'bad_request'],
] as const)(
  'it is sent once if an overtaken step makes the call, and this one did not happen: it %s',
  async (_, kind) => {
    world.context.settings.whileWorking = 'send';
    const { rateLimiter } = world.context.store;
    const { releaseSlot } = rateLimiter;
    const [sent, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let calls = 0;
    world.docs.sendFollowUp = async ({ prompt }) => {
      calls += 1;
      if (calls === 1) throw new DocsApiError('sendFollowUp', kind, { happened: 'no', what: 'not sent' });
      world.prompts.push(prompt);
      sent.resolve();
      if (calls === 2) await answered.promise;
      return { id: 'aj', status: 'active', rawStatus: 'active' };
    };
    let overtaken: Promise<unknown> | undefined;
    // The first step has forgotten its call, and has not yet saved that it did not happen.
    rateLimiter.releaseSlot = async (...slot) => {
      if (calls === 1) overtaken ??= world.step();
      if (calls === 1) await sent.promise;
      return releaseSlot(...slot);
    };
    await world.follows({ mode: 'all' });
    await world.receives(wrote(ana, 1, 'One'));
    await world.step();
    const [one] = (await world.thread()).instructions;
    expect(one?.state).toBe(kind === 'aborted' ? 'sending' : 'failed');
    await world.receives(clicks(ana, 'sendAgain', [one?.id ?? '']));
    await world.step();
    answered.resolve();
    await overtaken;
    await world.step();
    expect(world.prompts).toEqual(['One']);
    expect(outcomesOf(await world.thread())).toEqual(['sent: One']);
  },
);

/** The first send of a thread has no answer, and its message asks. */
async function unclear(changes: Partial<ThreadRun> = {}) {
  await world.follows({ sends: 1, instructions: [aTrouble({ send: 1 })], ...changes });
}
const answersLate = async () => {
  const job = { id: 'aj', status: 'active', rawStatus: 'active' };
  await world.context.calls.callOnce(await world.thread(), 'send.1', 1000, async () => job);
};

test('a late answer to a send wakes the thread, and replaces the question', async () => {
  await unclear();
  await world.step();
  await answersLate();
  expect(await world.runs.active()).toContainEqual({ job: 'agent-thread', id: world.id });
  await world.step();
  const { instructions, rounds } = await world.thread();
  expect(instructions[0]).toMatchObject({ state: 'sent', round: 1 });
  expect([rounds.length, world.prompts]).toEqual([1, []]);
  const { id } = anInstruction();
  expect(world.texts.get(`${world.id}.problem.${id}.1`)).toBe(
    "The agent got this request after all: the platform's answer came late.",
  );
});

test('it is not sent again if the late answer comes before that', async () => {
  await unclear();
  await answersLate();
  await world.receives(clicks(ben, 'sendAgain', [anInstruction().id]));
  await world.step();
  expect(world.prompts).toEqual([]);
  expect(outcomesOf(await world.thread())[0]).toContain('sent: ');
});

test('it is not sent again either if the late answer comes while it waits for the agent', async () => {
  world.docs.getAgentJob = async () => ({ id: 'aj', status: 'active', rawStatus: 'active' });
  await unclear({ rounds: [aRound({ count: 0, last: undefined })] });
  await world.receives(clicks(ben, 'sendAgain', [anInstruction().id]));
  await world.step();
  expect((await world.thread()).turn).toBeDefined();
  await answersLate();
  await world.step();
  expect(outcomesOf(await world.thread())[0]).toContain('working: ');
  expect(world.prompts).toEqual([]);
});

test('the answer to an earlier send is no answer to this one', async () => {
  await unclear({ instructions: [aTrouble()] });
  await answersLate();
  await world.step();
  expect(outcomesOf(await world.thread())[0]).toContain('unknown');
});

/** The agent has worked for seven hours, as each poll says, and a request waits for it. */
async function worksForLong(changes: Partial<ThreadRun> = {}) {
  let polls = 0;
  world.docs.getAgentJob = async () => {
    polls += 1;
    return { id: 'aj', status: 'active', rawStatus: 'active' };
  };
  const sentAtMs = NOW_MS - 7 * 3_600_000;
  await world.follows({
    rounds: [aRound({ sinceMs: sentAtMs, sentAtMs })],
    instructions: [anInstruction()],
    ...changes,
  });
  return () => polls;
}

test('an agent that works for long is polled every five minutes while a request waits', async () => {
  const polls = await worksForLong();
  expect((await world.thread()).turn).toMatchObject({ n: NOW_MS, workedMs: 7 * 3_600_000 });
  for (let n = 0; n < 3; n += 1) world.clock.ms += (await world.step()) ?? 0;
  expect(world.clock.ms - NOW_MS).toBeGreaterThan(2 * 240_000);
  expect(polls()).toBeLessThanOrEqual(4);
  expect(world.prompts).toEqual([]);
});

test.each(['key_rejected', 'forbidden'] as const)(
  'a request does not wait for an agent whose job cannot be polled: %s',
  async (kind) => {
    const refuses = (operation: 'getAgentJob' | 'sendFollowUp') => async () => {
      throw new DocsApiError(operation, kind, { happened: 'no', what: kind });
    };
    Object.assign(world.docs, {
      getAgentJob: refuses('getAgentJob'),
      sendFollowUp: refuses('sendFollowUp'),
    });
    await world.follows({ rounds: [aRound()], instructions: [anInstruction()] });
    await world.step();
    expect((await world.thread()).instructions[0]?.problem?.why).toBe(kind === 'forbidden' ? kind : 'key');
  },
);

test('while a send has an unknown result, nobody is asked about an agent that works for long', async () => {
  const others = [aTrouble({ id: '1', send: 1 }), anInstruction({ id: '2' })];
  await worksForLong({ sends: 1, turn: { n: NOW_MS - 1 }, instructions: others });
  await world.step();
  expect((await world.thread()).turn).toEqual({ n: NOW_MS - 1 });
});

test('after a send of unknown result, the job is polled before the next one, however lately it was seen', async () => {
  const later = anInstruction({ id: '2', text: 'Two', atMs: NOW_MS });
  await world.follows({ sends: 1, instructions: [aTrouble({ send: 1 }), later] });
  world.docs.getAgentJob = async () => ({ id: 'aj', status: 'active', rawStatus: 'active' });
  await world.receives(clicks(ben, 'leave', [anInstruction().id]));
  await world.step();
  expect(world.prompts).toEqual([]);
  expect((await world.thread()).turn).toBeDefined();
});

test.each([
  ['soon, the send waits', 5000, []],
  ['much later, the send does not wait', 3_600_000, ['One']],
])('if the poll before a send gets its slot %s', async (_, slotMs, prompts) => {
  await world.follows();
  world.clock.ms += 3_600_000;
  const { rateLimiter } = world.context.store;
  world.context.store.rateLimiter = {
    ...rateLimiter,
    awaitSlot: async (limit, request) => {
      if (limit.name.startsWith('agent-status')) throw new Later(slotMs);
      return rateLimiter.awaitSlot(limit, request);
    },
  };
  await world.receives(wrote(ana, 1, 'One'));
  await world.step();
  expect(world.prompts).toEqual(prompts);
});

test.each([
  ['is not polled before the send if the last poll has failed just now', 5000, 0],
  ['is polled before the send if the last poll failed long ago', -60_000, 1],
])('a job %s', async (_, inMs, count) => {
  let polls = 0;
  const nextMs = NOW_MS + 3_600_000 + inMs;
  await world.follows({ pollRequested: false, pollFailure: { kind: 'down', inARow: 1, nextMs } });
  world.docs.getAgentJob = async () => {
    polls += 1;
    return { id: 'aj', status: 'active', rawStatus: 'active' };
  };
  world.clock.ms += 3_600_000;
  await world.receives(wrote(ana, 1, 'One'));
  await world.step();
  expect([polls, world.prompts.length]).toEqual([count, 1 - count]);
});

test('the poll before a send is no save of its own, so people see no wait', async () => {
  await world.follows();
  world.clock.ms += 3_600_000;
  const before = world.texts.get(`${world.id}.card`);
  const cards: (string | undefined)[] = [];
  world.docs.sendFollowUp = async () => {
    cards.push(world.texts.get(`${world.id}.card`));
    return { id: 'aj', status: 'active', rawStatus: 'active' };
  };
  await world.receives(wrote(ana, 1, 'One'));
  await world.step();
  expect(cards).toEqual([before]);
});

/** Another thread takes the job's turn. */
async function takesTurn(id: string) {
  const { docsCallMs, callMarginMs } = world.context.timing;
  const name = 'agent-turns:default aj_3f9a77bd04c24a06';
  const limit = { name, count: 1, windowMs: docsCallMs + callMarginMs, perId: true };
  const { rateLimiter } = world.context.store;
  await rateLimiter.takeSlot(limit, { id });
  return { limit, release: () => rateLimiter.releaseSlot(limit, id) };
}

test('right after another thread has sent something to the job, none is sent: that thread says so first', async () => {
  await world.follows();
  const { limit } = await takesTurn('another 1');
  await world.receives(wrote(ana, 1, 'One'));
  const inMs = (await world.step()) ?? 0;
  expect(world.prompts).toEqual([]);
  expect(inMs).toBeLessThanOrEqual(limit.windowMs);
  await world.receives({ kind: 'sentElsewhere', atMs: NOW_MS });
  await world.step();
  expect((await world.thread()).turn).toBeDefined();
  // It reserved nothing.
  expect(await world.context.store.rateLimiter.usage(limit)).toMatchObject({ waiting: 0 });
});

test('if another thread never says that it sent something, the job is polled before the next send', async () => {
  await world.follows();
  const polled: number[] = [];
  world.docs.getAgentJob = async () => {
    polled.push(world.clock.ms);
    return { id: 'aj', status: 'active', rawStatus: 'active' };
  };
  const { limit, release } = await takesTurn('another 1');
  await world.receives(wrote(ana, 1, 'One'));
  const inMs = await world.step();
  expect([world.prompts, polled]).toEqual([[], []]);
  expect(inMs).toBeGreaterThan(0);
  world.clock.ms += limit.windowMs;
  await release();
  await world.step();
  expect([world.prompts, polled.length]).toEqual([[], 1]);
  expect((await world.thread()).turn).toBeDefined();
});

test('a send that waits for the limit leaves the turn to other threads', async () => {
  await world.follows();
  world.context.settings.limits.followUpsPerHour = 1;
  const { rateLimiter } = world.context.store;
  await rateLimiter.takeSlot(hourlyLimitOf(false, 'default', 1), { id: 'another 1' });
  await world.receives(wrote(ana, 1, 'One'));
  await world.step();
  expect((await world.thread()).limit).toBeDefined();
  const { limit, release } = await takesTurn('another 2');
  await release();
  expect(await rateLimiter.usage(limit)).toMatchObject({ used: 0 });
});

test('a request that its author is asked about first waits for its turn after the answer', async () => {
  const source = { channel: 'C0DOCS', rootTs: '1.1', before: '2.2' };
  const replies = [{ ts: '1.1', user: ben.id, text: 'The limits are old' }];
  const names = { users: new Map([[ben.id, 'ben']]), channels: new Map(), groups: new Map() };
  Object.assign(world.context.slack, { replies: async () => replies, names: async () => names });
  const instructions = [anInstruction({ backgroundSource: source, sentNowBy: ben })];
  await world.follows({ rounds: [aRound()], instructions });
  await world.step();
  const [one] = (await world.thread()).instructions;
  expect([one?.state, one?.sentNowBy]).toEqual(['held', undefined]);
});

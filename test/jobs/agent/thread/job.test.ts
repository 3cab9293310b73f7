import { beforeEach, describe, expect, test } from 'vitest';
import { DocsApiError, type DocsApiErrorKind } from '../../../../src/docs-api/errors.ts';
import type { AgentJob } from '../../../../src/docs-api/schemas.ts';
import { followUpLimit } from '../../../../src/jobs/agent/thread/follow-up-limit.ts';
import { threadJob } from '../../../../src/jobs/agent/thread/job.ts';
import type { ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { addThread, recordSend, requestPoll } from '../../../../src/jobs/agent/watch/transitions.ts';
import { updateWatch } from '../../../../src/jobs/agent/watch/watches.ts';
import { Stopping } from '../../../../src/runtime/stopping.ts';
import { SlackApiError } from '../../../../src/slack/errors.ts';
import { keys } from '../../../../src/store/keys.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aThread } from '../../../support/jobs/agent/builders.ts';
import { ana, ben, clicks, instructs, wrote } from '../../../support/jobs/agent/events.ts';
import { type AgentWorld, onFreshWorlds } from '../../../support/jobs/agent/world.ts';

let world: AgentWorld;
onFreshWorlds((fresh) => {
  world = fresh;
});

const HOUR = 3_600_000;
const refused = (kind: DocsApiErrorKind, operation: 'sendFollowUp' | 'getAgentJob' = 'sendFollowUp') =>
  new DocsApiError('refused', { operation, kind, happened: 'no', retryable: kind === 'rate_limited' });
const refusesSends = (error: DocsApiError) => {
  world.docs.sendFollowUp = () => Promise.reject(error);
};
const active: AgentJob = { id: 'aj', status: 'active', rawStatus: 'active' };
const completed: AgentJob = {
  id: 'aj',
  status: 'completed',
  rawStatus: 'completed',
  prLink: 'https://github.com/acme/docs/pull/1',
};
const reports = (job: AgentJob) => {
  world.docs.getAgentJob = async () => job;
};
/** The watch records the send of an instruction, as a process does that dies before the thread has it. */
const watchHearsOf = (thread: ThreadRun, instructionId: string | undefined) =>
  updateWatch(
    thread,
    (watch) =>
      recordSend(
        addThread(watch, world.id, NOW_MS),
        world.id,
        `${world.id} ${instructionId} 1`,
        active,
        NOW_MS,
      ),
    world.context,
  );
/** Ben has the job instructed, and it stays active for longer than it is watched. */
const isGivenUp = async () => {
  await world.follows();
  reports(active);
  await world.receives(wrote(ben, 1, '<@U0DOCKET> please'));
  await world.step();
  world.clock.ms += 6 * HOUR + 1000;
  await world.stepWatch();
  await world.step();
};

test('a platform that says "too many" again and again is told of in one message', async () => {
  await world.follows();
  refusesSends(refused('rate_limited'));
  await world.receives(wrote(ana, 1, 'please'));
  for (let times = 0; times < 4; times += 1) {
    await world.step();
    world.clock.ms = ((await world.thread()).limit?.untilMs ?? 0) + 10;
    // Redis' clock does not move along.
    await world.client.del(keys.windowLimit('follow-ups:default:hold'));
  }
  expect(
    new Set(world.published.filter((line) => line.includes('.limit.')).map((line) => line.split(' ')[0]))
      .size,
  ).toBe(1);
  expect((await world.thread()).limit).toMatchObject({ kind: 'platform', refusals: 4 });
});

test('a thread that another process saved meanwhile is stepped again, with the same events', async () => {
  await world.follows();
  const { mode } = await world.thread();
  await world.receives(clicks(ana, 'onlyMentioned'));
  const woken: string[] = [];
  world.context.wake = async ({ id }) => void woken.push(id);
  const { save } = world.context.threads;
  world.context.threads.save = async (run, taken) => {
    world.context.threads.save = save;
    await save({ ...(await world.thread()), crowd: true }, 0);
    return save(run, taken);
  };
  await world.step();
  expect(woken).toEqual([world.id]);
  expect(await world.thread()).toMatchObject({ crowd: true, mode });
  await world.step();
  expect(await world.thread()).toMatchObject({ crowd: true, mode: 'mention' });
});

test('whether its channel is public is not settled by a process that is to stop', async () => {
  const asked = { ...aThread().asked, isPublic: false };
  const channel = world.context.slack.channel;
  world.context.slack.channel = async () => {
    throw new Stopping();
  };
  const fresh = { state: 'accepted', checked: false, asked } as const;
  await expect(world.follows(fresh)).rejects.toThrow(Stopping);
  expect(await world.thread()).toMatchObject({ ...fresh, rev: 1 });
  world.context.slack.channel = channel;
  await world.step();
  expect((await world.thread()).asked.isPublic).toBe(true);
});

test('one thread with many instructions does not keep the hour’s limit from another one', async () => {
  const since: number[] = [];
  const { save } = world.context.threads;
  world.context.threads.save = (run, taken, spend) => {
    if (spend) since.push(spend.sinceMs);
    return save(run, taken, spend);
  };
  const written = [1, 2, 3].map((at) => wrote(ana, at, `Number ${at}`));
  await world.follows();
  world.clock.ms = NOW_MS + 60_000;
  await world.receives(...written);
  await world.step();
  expect(world.prompts).toHaveLength(3);
  // The first since it was written, the others since the one before them went out.
  expect(since.map((atMs) => Math.floor((atMs - NOW_MS) / 1000))).toEqual([1, 60, 60]);
});

test('somebody whom Slack does not tell just now holds up the thread, but not for what they may', async () => {
  await world.follows({ mode: 'all' });
  const { check } = world.context.policy;
  world.context.policy.check = async () => ({ kind: 'unknown' });
  await world.receives(wrote(ben, 1, 'hello'));
  expect(await world.step()).toMatchObject({ kind: 'again' });
  expect(world.prompts).toEqual([]);
  world.context.policy.check = check;
  await world.step();
  expect(world.prompts).toEqual(['hello']);
});

test('the end of a round that came while the thread was away is told all the same', async () => {
  const one = anInstruction({ creates: true, state: 'working', sentAtMs: NOW_MS });
  const run = { agentJobId: 'aj_3f9a77bd04c24a06', instructions: [one], seen: undefined, watched: false };
  // The watch knows of the send; the process died before the thread did.
  await world.follows({ ...run, state: 'carding' });
  const thread = { ...(await world.thread()), ...run, state: 'following' as const };
  await watchHearsOf(thread, one.id);
  await world.threads.save(thread, 0);
  reports(completed);
  world.clock.ms += 300_000;
  await world.stepWatch(4);
  await world.step();
  expect(world.texts('.end.')).toEqual([
    expect.stringContaining(
      'opened a pull request for "Also add error handling to the quicksta…": acme/docs#1',
    ),
  ]);
});

test('a watch that was not woken for a send is stepped after a restart', async () => {
  await world.follows();
  await world.receives(wrote(ana, 1, 'please'));
  await world.step();
  await world.client.zrem(keys.activeRuns(), `agent-watch ${world.watch}`);
  const sent = await world.thread();
  await watchHearsOf(sent, sent.instructions[0]?.id);
  expect(await world.client.zscore(keys.activeRuns(), `agent-watch ${world.watch}`)).not.toBeNull();
});

test('a watch of a newer Docket does not end its threads: what can be sent goes out', async () => {
  await world.follows();
  const record = JSON.stringify({ ...(await world.watched()), v: 2 });
  await world.client.hset(keys.run(world.watch), 'json', record);
  await world.receives(wrote(ana, 1, 'please'));
  expect(await world.step()).toMatchObject({ kind: 'again', inMs: 60_000 });
  expect(world.prompts).toEqual(['please']);
  // A wish for a look cannot be kept there, but breaks nothing.
  await world.receives(clicks(ana, 'checkNow'));
  expect(await world.step()).toMatchObject({ kind: 'again', inMs: 60_000 });
  expect((await world.thread()).state).toBe('following');
});

describe('an entry of a newer Docket', () => {
  const newer = { kind: 'unheard of' };
  const waiting = () => world.client.lrange(keys.inbox(world.id), 0, -1);

  test('is kept, with all that came after it; what came before goes out', async () => {
    await world.follows();
    await world.receives(wrote(ana, 1, 'one'));
    await world.client.rpush(keys.inbox(world.id), JSON.stringify(newer));
    await world.receives(wrote(ana, 2, 'two'));
    expect(await world.step()).toMatchObject({ kind: 'again', inMs: 60_000 });
    expect(world.prompts).toEqual(['one']);
    expect((await waiting()).map((entry) => JSON.parse(entry))).toEqual([newer, wrote(ana, 2, 'two')]);
    await world.client.lpop(keys.inbox(world.id));
    await world.step();
    expect(world.prompts).toEqual(['one', 'two']);
  });

  test('is kept by a thread that has ended, too', async () => {
    await world.follows();
    await world.receives(clicks(ana, 'stop'));
    await world.step();
    await world.receives(instructs(ana, 'i1', 'do it'));
    await world.client.rpush(keys.inbox(world.id), JSON.stringify(newer));
    expect(await world.step()).toMatchObject({ kind: 'again', inMs: 60_000 });
    expect(world.ephemerals).toEqual([expect.stringContaining('follows no job any more')]);
    expect(await waiting()).toEqual([JSON.stringify(newer)]);
  });
});

test('whoever wants something of a thread that was just stopped is told', async () => {
  await world.follows();
  await world.receives(clicks(ben, 'stop'));
  await world.receives(
    instructs(ana, 'i1', 'do it'),
    wrote(ana, 3, '<@U0DOCKET> follow aj_2'),
    wrote(ben, 4, 'thanks'),
  );
  for (let times = 0; times < 3; times += 1) await world.step();
  const told = world.ephemerals.filter((text) => text.includes('follows no job any more'));
  expect(told.map((text) => text.slice(0, 5))).toEqual(['U0ANA', 'U0ANA']);
  expect(world.audited).toContain('U0BEN agent: stopped');
});

test('people see how things are while instructions go out one after the other', async () => {
  await world.follows();
  const { sendFollowUp } = world.docs;
  world.docs.sendFollowUp = async (input) => {
    world.clock.ms += 3000;
    return sendFollowUp(input);
  };
  await world.receives(...Array.from({ length: 20 }, (_, index) => wrote(ana, index, `please ${index}`)));
  const before = world.reacted.length;
  await world.step();
  expect(world.prompts).toHaveLength(20);
  // The first time after one send, with all that wait.
  expect(world.reacted[before]?.size).toBe(20);
  expect(world.reacted.length - before).toBeGreaterThan(10);
});

test('private notes do not hold up instructions, and none is tried after a refusal', async () => {
  await world.follows({ mode: 'mention' });
  let whispers = 0;
  world.context.slack.postEphemeralTo = async () => {
    whispers += 1;
    throw new SlackApiError('limited', 'chat.postEphemeral', 'ratelimited', {
      retryAfterMs: 30_000,
    });
  };
  await world.receives(...Array.from({ length: 30 }, (_, index) => wrote(ana, index, '<@U0DOCKET> help')));
  expect(await world.step()).toMatchObject({ kind: 'again', inMs: 30_000 });
  expect(whispers).toBe(1);
});

describe('a job that the platform does not know', () => {
  beforeEach(() => world.follows());

  const unknownFor = async (ms: number) => {
    world.docs.getAgentJob = async () => {
      throw refused('not_found', 'getAgentJob');
    };
    await world.receives(clicks(ana, 'checkJob'));
    await world.step();
    const endMs = world.clock.ms + ms;
    while (world.clock.ms < endMs) {
      await world.stepWatch(1);
      world.clock.ms += 1000;
    }
    await world.step();
  };

  test('for a moment is not shown as unknown', async () => {
    await unknownFor(10_000);
    expect((await world.watched()).gone).toBeUndefined();
  });

  test('for a minute is shown as unknown, until it is known again', async () => {
    await unknownFor(120_000);
    expect((await world.thread()).gone).toBe(true);
    await world.receives(wrote(ana, 200, 'please'));
    await world.step();
    expect(world.prompts).toEqual(['please']);
    expect((await world.thread()).gone).toBeUndefined();
  });
});

test('what was given up is told when somebody asks again, to whose it was, and not as somebody else’s', async () => {
  await isGivenUp();
  expect(world.texts('.end.')).toEqual([expect.stringContaining('I stopped watching "please" after 6 h')]);
  await world.receives(clicks(ana, 'checkNow', ['round', '1']));
  await world.step();
  reports(completed);
  await world.stepWatch();
  await world.step();
  const [, ending] = world.texts('.end.');
  expect(ending).toContain('The agent opened a pull request for job aj_3f9a…4a06: acme/docs#1 <@U0BEN>');
  expect(ending).not.toContain('elsewhere');
});

test('a thread that breaks says what was not sent, and who asked for it can read it in the audit log', async () => {
  await world.follows({ mode: 'all' });
  refusesSends(refused('rate_limited'));
  await world.receives(wrote(ana, 1, 'one'), wrote(ana, 2, 'two'));
  await world.step();
  await threadJob.giveUp?.({ runId: world.id }, world.context, 'ref123');
  await world.step();
  expect((await world.thread()).ended).toMatchObject({ why: 'broken', ref: 'ref123', unsent: 2 });
  expect(world.audited.filter((line) => line.includes('discarded'))).toHaveLength(2);
});

test('a thread that ends leaves nothing behind that stays for ever', async () => {
  await world.follows();
  refusesSends(refused('bad_request'));
  await world.receives(wrote(ana, 1, 'please'));
  await world.step();
  await world.receives(clicks(ana, 'stop'));
  for (let times = 0; times < 3; times += 1) await world.step();
  await world.stepWatch();
  const endless: string[] = [];
  for (const key of await world.client.keys('*'))
    if ((await world.client.pttl(key)) === -1) endless.push(key);
  // The lists of what is to be done, which empty themselves.
  expect(endless.filter((key) => ![keys.activeRuns(), keys.undelivered()].includes(key))).toEqual([]);
  expect(await world.client.exists(keys.claim('agent-thread T0ACME C0DOCS 1789912800.000100'))).toBe(0);
});

test('that the platform does not answer is no longer said once it is not tried any more', async () => {
  await world.follows({ mode: 'all' });
  refusesSends(
    new DocsApiError('away', { operation: 'sendFollowUp', kind: 'refused', happened: 'no', retryable: true }),
  );
  await world.receives(wrote(ana, 1, 'one'), wrote(ana, 2, 'two'));
  for (let times = 0; times < 14; times += 1) {
    await world.step();
    world.clock.ms += 30_000;
  }
  const [first, ...others] = world.texts('.retry.');
  expect(first).not.toContain('I keep trying');
  expect(others.at(-1)).toContain('"two" is not sent yet');
});

test('what another thread gave up and is watched again is not told as somebody else’s', async () => {
  await isGivenUp();
  reports(completed);
  // Somebody clicks in the other thread, and this one hears of it with its end only.
  await updateWatch(await world.thread(), (watch) => requestPoll(watch, world.clock.ms), world.context);
  await world.stepWatch();
  await world.step();
  const ending = world.texts('.end.').at(-1);
  expect(ending).toContain('The agent opened a pull request for job aj_3f9a…4a06: acme/docs#1 <@U0BEN>');
  expect(ending).not.toContain('elsewhere');
});

describe('what the platform took', () => {
  beforeEach(async () => {
    await world.follows();
    await world.receives(wrote(ben, 1, '<@U0DOCKET> please'));
  });
  const isInBoth = async () => {
    expect((await world.thread()).instructions).toMatchObject([{ state: 'working', round: 1 }]);
    expect(await world.watched()).toMatchObject({ round: { n: 1 }, sends: [{ n: 1 }] });
    expect(world.prompts).toHaveLength(1);
  };

  test('is in the thread and in a watch that is due, though the process dies right after', async () => {
    const { threads, runs, context } = world;
    const died: typeof threads = {
      ...threads,
      async saveWith(...all) {
        await threads.saveWith(...all);
        throw new Error('died');
      },
    };
    await expect(threadJob.run({ runId: world.id }, { ...context, threads: died })).rejects.toThrow('died');
    await isInBoth();
    expect((await runs.active()).map(({ id }) => id)).toContain(world.watch);
  });

  test('is in both, though the watch is changed during the call, and what was changed stays', async () => {
    const { sendFollowUp } = world.docs;
    world.docs.sendFollowUp = async (...call) => {
      await updateWatch(await world.thread(), (watch) => requestPoll(watch, world.clock.ms), world.context);
      return sendFollowUp(...call);
    };
    await world.step();
    await isInBoth();
    expect(await world.watched()).toMatchObject({ lookWanted: true });
    expect(world.audited.filter((line) => line.endsWith('sent · 6 characters'))).toHaveLength(1);
  });

  test('is in both, though only a newer Docket could read the watch meanwhile', async () => {
    const { id, watch, client } = world;
    const json = (await client.hget(keys.run(watch), 'json')) ?? '';
    await client.hset(keys.run(watch), 'json', JSON.stringify({ ...JSON.parse(json), v: 99 }));
    await world.step();
    expect((await world.thread()).instructions).toMatchObject([{ id: expect.anything(), state: 'working' }]);
    await client.hset(keys.run(watch), 'json', json);
    await threadJob.run({ runId: id }, world.context);
    await isInBoth();
  });
});

test.each(['the project goes from the settings', 'the thread breaks'])(
  'when %s, nobody waits behind it for the hour’s limit',
  async (what) => {
    world.context.limits = { ...world.context.limits, followUpsPerHour: 1 };
    await world.follows({ mode: 'all' });
    await world.receives(wrote(ana, 1, 'one'), wrote(ana, 2, 'two'));
    await world.step();
    const use = () => world.context.rateLimiter.usage(followUpLimit('default', 1));
    expect(await use()).toMatchObject({ used: 1, waiting: 1 });
    if (what === 'the thread breaks') await threadJob.giveUp?.({ runId: world.id }, world.context, 'ref');
    else {
      world.context.projectId = () => undefined;
      world.clock.ms += HOUR;
      await world.step();
    }
    expect(await use()).toMatchObject({ waiting: 0 });
  },
);

import { beforeEach, describe, expect, test } from 'vitest';
import { mentionJob } from '../../../../src/jobs/agent/mention/job.ts';
import { type MentionRun, mentionRun } from '../../../../src/jobs/agent/mention/record.ts';
import { createCallOnce } from '../../../../src/jobs/call-once.ts';
import type { JobContext } from '../../../../src/jobs/context.ts';
import { createPolicy, type PermissionResult } from '../../../../src/policy.ts';
import { createLog } from '../../../../src/runtime/log.ts';
import { SlackApiError } from '../../../../src/slack/errors.ts';
import { NamesUnknown } from '../../../../src/slack/names.ts';
import { createCallOnceStore } from '../../../../src/store/calls.ts';
import { createRunStore } from '../../../../src/store/runs.ts';
import { createThreadStore, threadClaim } from '../../../../src/store/threads.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { aMention, aMentionReply, aThread } from '../../../support/jobs/agent/builders.ts';
import { type JobContextParts, jobContext } from '../../../support/jobs/world.ts';
import { redisForTests } from '../../../support/redis.ts';

const redis = redisForTests();
let nowMs: number;
let said: { to: object; text: string }[];
beforeEach(() => {
  nowMs = NOW_MS;
  said = [];
});

const UNSEEN = "Slack doesn't let me see who you are; the people who run Docket have to reinstall the app.";
const ana = { id: 'U0ANA', name: 'ana', fullMember: true, active: true };
const allowed: PermissionResult = { kind: 'allowed', person: ana };
const notHappened = new Set(['limited', 'unreachable', 'place']);

function contextWith(changes: JobContextParts = {}, verdict: PermissionResult = allowed): JobContext {
  return jobContext(redis.client, {
    policy: { check: async () => verdict, isOpen: () => false },
    names: async () => ({
      users: new Map([['U0BEN', 'ben']]),
      channels: new Map(),
      groups: new Map(),
    }),
    slack: {
      async postEphemeralTo(to, { text }) {
        said.push({ to, text });
      },
    },
    callOnceInSlack: createCallOnce({
      stopping: new AbortController().signal,
      steps: createCallOnceStore(redis.client),
      callMs: 1000,
      marginMs: 1000,
      didNotHappen: (error) => error instanceof SlackApiError && notHappened.has(error.kind),
      newToken: () => crypto.randomUUID(),
      now: () => nowMs,
    }),
    now: () => nowMs,
    ...changes,
  });
}

async function given(changes: Partial<MentionRun> = {}): Promise<MentionRun> {
  const run = aMention(changes);
  const runs = createRunStore(redis.client);
  await runs.accept(run, (await runs.timeMs()) + 10_000, 0, undefined);
  return run;
}
const look = ({ id }: MentionRun, context = contextWith()) => mentionJob.run({ runId: id }, context);
const stored = ({ id }: MentionRun) => createRunStore(redis.client).load(id, mentionRun);
const isOpen = async () => (await createRunStore(redis.client).active()).length > 0;
const whisperFails = (kind: 'limited' | 'unreachable' | 'place' | 'unclear', retryAfterMs?: number) =>
  contextWith({
    slack: {
      postEphemeralTo: () =>
        Promise.reject(
          new SlackApiError(kind, 'chat.postEphemeral', kind, { ...(retryAfterMs && { retryAfterMs }) }),
        ),
    },
  });

test('an instruction becomes an offer, whose words are kept for its button', async () => {
  const run = await given({ reply: aMentionReply('Add a *quickstart* as <@U0BEN> said') });
  expect(await look(run)).toEqual({ kind: 'done' });
  expect(said).toMatchObject([
    {
      to: { channel: 'C0DOCS', user: 'U0ANA' },
      text: expect.stringMatching(/^No agent job is followed here/),
    },
  ]);
  expect(said[0]?.to).not.toHaveProperty('threadTs');
  expect(await stored(run)).toMatchObject({
    name: 'ana',
    reply: { content: {} },
    answer: { kind: 'offer', text: 'Add a **quickstart** as @ben said' },
  });
  expect(await isOpen()).toBe(false);
});

test('an instruction that is too long for the agent is offered to nobody', async () => {
  const run = await given({ reply: aMentionReply('word '.repeat(2840)) });
  await look(run);
  expect(said.map(({ text }) => text)).toEqual([
    'That is 14,199 characters; the agent gets up to 8,000 at once. Nothing was sent.',
  ]);
  expect((await stored(run))?.answer).toEqual({ kind: 'tooLong', characters: 14_199, most: 8000 });
});

test('in a thread is answered there', async () => {
  await look(await given({ threadTs: '1.1' }));
  expect(said).toMatchObject([{ to: { threadTs: '1.1' } }]);
});

test.each(['Add a quickstart', 'follow job_1', 'stop', 'help'])(
  'where nothing instructs the agent, %j is answered with what does',
  async (text) => {
    const place = { teamId: 'T0ACME', channel: 'C0DOCS', rootTs: '1.1' };
    await createThreadStore(redis.client).close(place);
    const run = await given({ reply: aMentionReply(text), threadTs: '1.1' });
    await look(run);
    expect(said).toMatchObject([
      {
        to: { threadTs: '1.1' },
        text: expect.stringMatching(
          /^Replies here don't go to the docs agent\. Click \[Ask the agent\] above, or type \/docs-agent new/,
        ),
      },
    ]);
    expect((await stored(run))?.answer).toEqual({ kind: 'closed' });
  },
);

describe('by its words', () => {
  const problem = { kind: 'noId' as const, name: 'default' };
  test.each<[string, Partial<MentionRun>, RegExp]>([
    ...['help', '', 'hi', 'Hello!', 'thanks', 'Thank you :pray:', '?', '👋', ':wave:'].map(
      (text): [string, Partial<MentionRun>, RegExp] => [
        text,
        {},
        /^Export a site: \/docs-export docs\.acme\.com\n/,
      ],
    ),
    ['stop', {}, /^This thread follows no agent job/],
    ['all replies', {}, /^This thread follows no agent job/],
    ['follow job_1', { problem }, /^I don't know the project's id/],
    ['follow aj_3f9a…4a06', {}, /^Which job\?/],
  ])('%j', async (text, changes, answer) => {
    const run = await given({ reply: aMentionReply(text), ...changes });
    await look(run);
    // Once answered, nothing of the message is kept.
    expect((await stored(run))?.reply.content).toEqual({});
    expect(await stored(run)).not.toHaveProperty('answer.text');
    expect(said).toMatchObject([{ text: expect.stringMatching(answer) }]);
  });
});

describe('an export that is asked for', () => {
  const ask = async (text: string, context = contextWith(), changes: Partial<MentionRun> = {}) => {
    const run = await given({ reply: aMentionReply(text), ...changes });
    await look(run, context);
    return (await stored(run))?.answer;
  };
  const allows = (name: string): NonNullable<JobContextParts['policy']> => ({
    check: async (_, permission) =>
      permission === name ? allowed : { kind: 'refused', person: ana, ask: ['docs-admins'] },
    isOpen: () => false,
  });

  test.each<[string, object, string]>([
    ['export docs.acme.com', { site: 'docs.acme.com' }, 'Export docs.acme.com now?'],
    ['export <http://docs.acme.com|docs.acme.com>', { site: 'docs.acme.com' }, 'Export docs.acme.com now?'],
    [
      'export <https://docs.acme.com/v2>',
      { site: 'docs.acme.com', typed: 'https://docs.acme.com/v2' },
      "https://docs.acme.com/v2 isn't a host name. Did you mean docs.acme.com?",
    ],
    ['export', {}, 'Which site? For example: @Docket export docs.acme.com'],
  ])('%j is offered', async (text, answer, told) => {
    expect(await ask(text)).toEqual({ kind: 'export', ...answer });
    expect(said).toMatchObject([{ text: told }]);
  });

  test.each(['export openapi.json', 'export readme', 'follow https://docs.acme.com/style-guide'])(
    '%j is for the agent',
    async (text) => {
      expect(await ask(text, contextWith({ policy: allows('agent') }))).toMatchObject({
        kind: 'offer',
        text,
      });
    },
  );

  test('is also offered under a message where nothing instructs the agent', async () => {
    await createThreadStore(redis.client).close({ teamId: 'T0ACME', channel: 'C0DOCS', rootTs: '1.1' });
    expect(await ask('export docs.acme.com', contextWith(), { threadTs: '1.1' })).toMatchObject({
      kind: 'export',
    });
  });

  test('is offered to those who may start exports alone', async () => {
    const text = 'export docs.acme.com';
    expect(await ask(text, contextWith({ policy: allows('export') }), { id: 'm1' })).toMatchObject({
      kind: 'export',
    });
    await ask(text, contextWith({ policy: allows('agent') }), { id: 'm2' });
    expect(said.at(-1)?.text).toBe("You can't start exports here, so nothing was started. Ask @docs-admins.");
  });
});

describe('who may not instruct the agent', () => {
  const refused: PermissionResult = { kind: 'refused', person: ana, ask: ['docs-admins'] };

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
    expect(await look(run, context)).toEqual({ kind: 'done' });
    expect(said).toMatchObject([
      { text: "You can't instruct the docs agent here, so nothing was sent. Ask @docs-admins." },
    ]);
    expect((await context.audit.latest('T0ACME', 10)).refused).toMatchObject([
      { user: { id: 'U0ANA', name: 'ana' }, channel: 'C0DOCS', result: 'refused: not permitted' },
    ]);
    expect(await stored(run)).not.toHaveProperty('answer.text');
    expect((await stored(run))?.reply.content).toEqual({});
  });

  test('is somebody of another organization, unless named', async () => {
    const reply = { ...aMentionReply('Go'), external: true };
    const policyOf = (agent: string[]) =>
      createPolicy({
        person: async () => ana,
        groupMembers: async () => [],
        groups: async () => [],
        lacksScope: () => false,
        allow: { export: [], agent, digest: [], admin: [] },
        timeoutMs: 1000,
        cacheMs: 1000,
        now: () => nowMs,
        log: createLog('silent', []),
      });
    await look(await given({ id: 'm1', reply }), contextWith({ policy: policyOf(['everyone']) }));
    await look(await given({ id: 'm2', reply }), contextWith({ policy: policyOf(['U0ANA']) }));
    expect(said).toMatchObject([
      { text: expect.stringMatching(/^You can't instruct/) },
      { text: expect.stringMatching(/^No agent job/) },
    ]);
  });

  test('since Slack shows nobody to the app, is told who can mend it', async () => {
    const run = await given();
    expect(await look(run, contextWith({}, { kind: 'unknown', missingScope: true }))).toEqual({
      kind: 'done',
    });
    expect(said).toMatchObject([{ text: UNSEEN }]);
  });
});

describe('is stepped again later', () => {
  test.each<[string, () => JobContext]>([
    ['while Slack does not tell who it is', () => contextWith({}, { kind: 'unknown' })],
    [
      'while Slack does not tell the names in it',
      () => contextWith({ names: () => Promise.reject(new NamesUnknown('away')) }),
    ],
    ['while Slack is away', () => whisperFails('unreachable')],
    ['while Slack takes no more', () => whisperFails('limited')],
  ])('%s, for ten minutes', async (_, failing) => {
    const run = await given();
    expect(await look(run, failing())).toEqual({ kind: 'again', inMs: 1000 });
    nowMs += 8000;
    expect(await look(run, failing())).toEqual({ kind: 'again', inMs: 8000 });
    nowMs += 600_000;
    expect(await look(run, failing())).toEqual({ kind: 'done' });
    expect(await isOpen()).toBe(false);
    expect(said).toEqual([]);
  });

  test('no sooner than Slack asked for, and then says it once', async () => {
    const run = await given();
    expect(await look(run, whisperFails('limited', 20_000))).toEqual({ kind: 'again', inMs: 20_000 });
    expect(await look(run)).toEqual({ kind: 'done' });
    expect(said).toHaveLength(1);
  });
});

test.each(['place', 'unclear'] as const)(
  'an answer that Slack refused or may have taken (%s) is the last',
  async (kind) => {
    const run = await given();
    expect(await look(run, whisperFails(kind))).toEqual({ kind: 'done' });
    expect(await isOpen()).toBe(false);
  },
);

test('stepped twice is answered once', async () => {
  const run = await given();
  await look(run);
  await look(run);
  expect(said).toHaveLength(1);
});

describe('under a message of ours', () => {
  test('waits until it is clear whether the thread is followed', async () => {
    const run = await given({ early: true, threadTs: '1.1' });
    expect(await look(run)).toEqual({ kind: 'again', inMs: 10_000 });
    nowMs += 10_000;
    expect(await look(run)).toEqual({ kind: 'done' });
    expect(said).toHaveLength(1);
  });

  test('is left to the run that follows the thread by then', async () => {
    const place = { teamId: 'T0ACME', channel: 'C0DOCS', rootTs: '1.1' };
    const { runs, threads } = contextWith();
    const thread = aThread({ claim: threadClaim(place) });
    await runs.accept(thread, (await runs.timeMs()) + 10_000, 60_000, undefined);
    const run = await given({ early: true, threadTs: '1.1' });
    await threads.appendToThread('agent-thread', place, { event: run.reply, dedupeKey: run.reply.ts }, true);
    nowMs += 10_000;
    expect(await look(run)).toEqual({ kind: 'done' });
    expect(said).toEqual([]);
    expect(await stored(run)).not.toHaveProperty('answer');
  });
});

test('that breaks again and again is given up', async () => {
  const run = await given();
  await mentionJob.giveUp?.({ runId: run.id }, contextWith(), '7f3c');
  expect(await isOpen()).toBe(false);
});

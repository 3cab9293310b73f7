import fc from 'fast-check';
import {
  type Ephemeral,
  ephemeral,
  type Instruction,
  sendProblem,
  type ThreadRun,
  threadRound,
  threadRun,
} from '../../../../src/jobs/agent/thread/record.ts';
import { type RoundEnding, roundEnding } from '../../../../src/jobs/agent/watch/record.ts';
import { hostileText, maybe, slackId, time } from '../../arbitraries.ts';
import { aThread } from './builders.ts';

const person = fc.record({ id: slackId('U'), name: hostileText });
/** The `ts` of a reply, or the id of a request. */
const instructionId = fc.oneof(
  fc.stringMatching(/^1[0-9]{9}\.[0-9]{6}$/),
  fc.stringMatching(/^[0-9a-f]{24}$/),
);
const pullRequest = fc.oneof(
  fc.constantFrom(
    ...['https://github.com/acme/docs/pull/123', 'http://git.example/a/-/merge_requests/7', 'https://a|b'],
    ...[
      `https://git.example/${'x'.repeat(5000)}`,
      `https://git.example/${'9'.repeat(400)}/pull/${'9'.repeat(400)}`,
    ],
    ...[
      'javascript:alert(1)',
      'docket-link:x',
      'https://git.example/<!channel>|x>/pull/1',
      'HTTPS://A.example',
    ],
  ),
  fc.webUrl({ withFragments: true, withQueryParameters: true }),
  hostileText,
);
/** Only what is there: a record that was read from Redis has no undefined fields. */
const stored = <T>(value: unknown): T => JSON.parse(JSON.stringify(value));

const anyInstruction: fc.Arbitrary<Instruction> = fc
  .record({
    id: instructionId,
    by: person,
    atMs: time,
    isReply: fc.boolean(),
    text: hostileText,
    excerpt: hostileText,
    files: fc.boolean(),
    creates: fc.boolean(),
    state: fc.constantFrom('held', 'waiting', 'sending', 'unknown', 'working', 'failed', 'sent'),
    attempt: fc.integer({ min: 1, max: 1000 }),
  })
  .map((one) => stored(one));

const anyEnding: fc.Arbitrary<RoundEnding> = fc.record({
  kind: fc.constantFrom(...roundEnding.shape.kind.options),
  prLink: maybe(pullRequest),
  prText: maybe(hostileText),
  archivedAtMs: maybe(time),
  afterMs: maybe(time),
  atMs: time,
}) as fc.Arbitrary<RoundEnding>;

const anyRound = fc.record({
  n: fc.nat(1_000_000),
  sinceMs: time,
  sentAtMs: time,
  count: fc.nat(3000),
  last: maybe(fc.record({ id: instructionId, by: person, excerpt: hostileText })),
  authors: fc.array(person, { maxLength: 30 }),
  ending: maybe(anyEnding),
});

const anyTrouble = fc.record({
  id: instructionId,
  attempt: fc.integer({ min: 1, max: 1000 }),
  by: person,
  excerpt: hostileText,
  why: fc.constantFrom(...sendProblem.shape.why.options),
  creates: fc.boolean(),
  reason: maybe(hostileText),
  adminsTold: maybe(fc.boolean()),
  archivedAtMs: maybe(time),
  answer: maybe(fc.record({ by: person, action: fc.constantFrom('sendAgain', 'leave') })),
});

export const anyEphemeral: fc.Arbitrary<Ephemeral> = fc
  .record({
    id: hostileText,
    to: slackId('U'),
    kind: fc.constantFrom(...ephemeral.shape.kind.options),
    about: maybe(hostileText),
    excerpt: maybe(hostileText),
    atMs: time,
  })
  .map((one) => ephemeral.parse(stored(one)));

/** Records that the schema takes, with hostile words wherever a person or the platform supplies them. */
export const anyThread: fc.Arbitrary<ThreadRun> = fc
  .record({
    id: fc.stringMatching(/^[0-9a-f]{24}$/),
    project: hostileText,
    agentJobId: maybe(hostileText),
    owner: person,
    asked: fc.record({
      channel: slackId('C'),
      joinable: fc.boolean(),
      isPublic: fc.boolean(),
      rootTs: maybe(fc.constant('1789912800.000100')),
    }),
    inDirectMessage: fc.boolean(),
    state: fc.constantFrom(...threadRun.shape.state.options),
    ended: maybe(
      fc.record({
        why: fc.constantFrom(...threadRun.shape.ended.unwrap().shape.why.options),
        by: maybe(person),
        ref: maybe(hostileText),
        unsent: fc.nat(3000),
      }),
    ),
    mode: fc.constantFrom(...threadRun.shape.mode.options),
    instructions: fc.array(anyInstruction, { maxLength: 8 }),
    rounds: fc.array(anyRound, { maxLength: 3 }).map((rounds) => rounds.map((one) => threadRound.parse(one))),
    sendProblems: fc.array(anyTrouble, { maxLength: 3 }),
    seen: maybe(
      fc.record({
        status: fc.constantFrom('active', 'completed', 'archived', 'failed', 'unknown'),
        rawStatus: hostileText,
        repository: maybe(hostileText),
        ref: maybe(hostileText),
        model: maybe(hostileText),
        prLink: maybe(pullRequest),
        prText: maybe(hostileText),
        archivedAtMs: maybe(time),
        atMs: time,
      }),
    ),
    notFound: maybe(fc.boolean()),
    pollFailure: maybe(fc.constantFrom('down', 'limit', 'key', 'forbidden', 'project')),
    limit: maybe(
      fc.record({
        n: fc.nat(1000),
        perHour: maybe(fc.integer({ min: 1, max: 100_000 })),
        untilMs: time,
        discardedBy: maybe(person),
      }),
    ),
    hasOtherAuthors: fc.boolean(),
    retry: maybe(
      fc.record({ sinceMs: time, inARow: fc.nat(100), nextMs: time, expired: maybe(fc.boolean()) }),
    ),
  })
  .map(({ agentJobId, seen, ...changes }) => {
    const { agentJobId: _, seen: __, ...known } = aThread();
    return threadRun.parse(stored({ ...known, ...changes, agentJobId, seen }));
  });

import fc from 'fast-check';
import type { Ending, ExportRun } from '../../../../src/jobs/export/record.ts';

/** 2026-09-20 14:00 UTC. */
export const NOW_MS = Date.UTC(2026, 8, 20, 14);

/** An export that runs, three minutes after it was asked for. */
export function aRun(changes: Partial<ExportRun> = {}): ExportRun {
  return {
    v: 2,
    id: '3f9a1c2b4d5e6f708192a3b4',
    teamId: 'T0ACME',
    job: 'export',
    rev: 4,
    claim: 'c1a1',
    people: ['U0ANA'],
    project: 'default',
    domain: 'docs.acme.com',
    privately: false,
    joined: false,
    requester: { id: 'U0ANA', name: 'ana' },
    watchers: [],
    asked: { channel: 'C0DOCS', joinable: true, isPublic: true, atMs: NOW_MS - 180_000 },
    inDirectMessage: false,
    attempt: 1,
    resumed: 0,
    relinked: 0,
    state: 'watching',
    sinceMs: NOW_MS - 180_000,
    attemptAtMs: NOW_MS - 180_000,
    nextLookAtMs: NOW_MS,
    jobId: 'se_3f9a77bd04c24a06',
    startedAtMs: NOW_MS - 180_000,
    status: 'running',
    looks: [],
    ...changes,
  };
}

export const anEnding: Record<Ending['kind'], Ending> = {
  done: { kind: 'done', link: 'run.1.0.0', linkEndsAtMs: NOW_MS + 1_800_000, sizeBytes: 18_400_000 },
  failed: { kind: 'failed', reason: 'Page guides/x failed to render' },
  notStarted: { kind: 'notStarted', why: 'domain', reason: 'Unknown domain' },
  lost: { kind: 'lost' },
  gaveUp: { kind: 'gaveUp', afterMs: 21_600_000 },
  noLink: { kind: 'noLink' },
  left: { kind: 'left' },
  noPlace: { kind: 'noPlace', code: 'not_in_channel' },
  broken: { kind: 'broken', ref: '7f3c1d' },
};

export const STATES = [
  'accepted',
  'carding',
  'starting',
  'watching',
  'bundling',
  'unknown',
  'ended',
] as const satisfies ExportRun['state'][];

export const REASONS_NOT_TO_START = [
  'domain',
  'plan',
  'key',
  'limit',
  'down',
  'project',
  'permission',
  'other',
] as const;

/** What people and platforms may write where we print a line of theirs. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    ...['', ' ', '\n', '\u202E', '\u0000', '<!channel>', '<!here|x>', '<@U123>', '<@U0BEN>', '@here'],
    ...['<!subteam^S0DOCS>', '<!date^1^{ago}|x>', '<https://evil.example|docs>', 'https://evil.example/?a=1'],
    ...['*bold*', '`code`', '```', '&lt;!channel&gt;', '&', '>', '\\', '"', '_x_', '~x~', ':tada:'],
    ...['a\nb', 'a\r\n\r\nb', '\u202Egpj.exe', '\u2066x', '👩‍👩‍👧‍👦', '\uD83D', '\uDE00', 'é'.repeat(400)],
    ...['x'.repeat(10_000), '<!channel>'.repeat(1000), '&'.repeat(10_000), '😀'.repeat(5000), '42%'],
    ...['\u0001'.repeat(512), '"'.repeat(512), '\uD800'.repeat(512), 'docket-link:x', '{"v":1}', '\u2028'],
  ),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc
    .array(fc.constantFrom('<', '>', '&', '@', '!', '|', 'U', '\n', '\u202E', '😀', '\uD83D', '"', '`'), {
      maxLength: 600,
    })
    .map((parts) => parts.join('')),
);

const slackId = (prefix: string) => fc.stringMatching(/^[A-Z0-9]{8,10}$/).map((rest) => `${prefix}${rest}`);
const time = fc.integer({ min: 0, max: Date.UTC(2200, 0) });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
/** Only what is there: a record that was read from Redis has no undefined fields. */
const present = <T extends object>(record: T) =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: T[K];
  };

/** Slack's own word for an error; `slack/errors.ts` lets nothing else through. */
export const slackCode = fc.stringMatching(/^[a-z0-9_]{1,80}$/);

const ending: fc.Arbitrary<Ending> = fc.oneof(
  fc
    .record({
      kind: fc.constant('done' as const),
      link: fc.stringMatching(/^[0-9a-f]{24}\.\d\.\d\.\d$/),
      linkEndsAtMs: maybe(time),
      sizeBytes: maybe(fc.maxSafeNat()),
      over: maybe(fc.boolean()),
      privately: maybe(fc.boolean()),
    })
    .map((done) => present(done) as Ending),
  fc
    .record({ kind: fc.constant('failed' as const), reason: maybe(hostileText) })
    .map((failed) => present(failed) as Ending),
  fc
    .record({
      kind: fc.constant('notStarted' as const),
      why: fc.constantFrom(...REASONS_NOT_TO_START),
      reason: maybe(hostileText),
    })
    .map((failed) => present(failed) as Ending),
  fc.record({ kind: fc.constant('gaveUp' as const), afterMs: time }),
  fc.record({ kind: fc.constant('noPlace' as const), code: slackCode }),
  fc.record({ kind: fc.constant('broken' as const), ref: fc.stringMatching(/^[0-9a-f]{6}$/) }),
  fc.constantFrom(anEnding.lost, anEnding.noLink, anEnding.left),
);

/** Every record that the schema takes, with hostile words wherever a person or the platform supplies them. */
export const anyRun: fc.Arbitrary<ExportRun> = fc
  .record({
    v: fc.constant(2 as const),
    id: fc.stringMatching(/^[0-9a-f]{24}$/),
    teamId: slackId('T'),
    job: fc.constant('export' as const),
    rev: fc.nat(),
    claim: maybe(fc.stringMatching(/^[0-9a-f]{24}$/)),
    people: fc.array(slackId('U'), { maxLength: 3 }),
    project: hostileText,
    version: maybe(hostileText),
    paths: maybe(fc.array(hostileText, { maxLength: 3 })),
    privately: fc.boolean(),
    joined: fc.boolean(),
    domain: fc.oneof(fc.constantFrom('docs.acme.com', `${'a'.repeat(60)}.example.com`), hostileText),
    requester: fc.record({ id: slackId('U'), name: hostileText }),
    watchers: fc.array(fc.record({ id: slackId('U'), name: hostileText }), { maxLength: 20 }),
    asked: fc.record({ channel: slackId('C'), joinable: fc.boolean(), isPublic: fc.boolean(), atMs: time }),
    inDirectMessage: fc.boolean(),
    attempt: fc.integer({ min: 1, max: 1000 }),
    resumed: fc.nat(1000),
    relinked: fc.nat(3),
    state: fc.constantFrom(...STATES),
    sinceMs: time,
    attemptAtMs: time,
    nextLookAtMs: time,
    jobId: maybe(hostileText),
    startedAtMs: maybe(time),
    status: maybe(fc.oneof(fc.constantFrom('queued', 'running', 'completed', 'failed'), hostileText)),
    progressText: maybe(hostileText),
    pageCount: maybe(fc.maxSafeNat()),
    looks: fc.array(
      fc
        .record({ atMs: time, fraction: maybe(fc.double({ min: 0, max: 1, noNaN: true })) })
        .map((look) => present(look)),
      { maxLength: 8 },
    ),
    trouble: maybe(
      fc.record({
        kind: fc.constantFrom('down', 'limit', 'key', 'project', 'lost'),
        inARow: fc.integer({ min: 1, max: 100 }),
        adminsTold: fc.boolean(),
        nextMs: time,
      }),
    ),
    movedAtMs: maybe(time),
    stalled: maybe(fc.boolean()),
    audited: maybe(fc.boolean()),
    completedAtMs: maybe(time),
    ending: maybe(ending),
    answer: maybe(
      fc.record({
        attempt: fc.integer({ min: 1, max: 1000 }),
        by: hostileText,
        byId: slackId('U'),
        action: fc.constantFrom('startAgain', 'leave', 'late'),
      }),
    ),
  })
  .map((run) => present(run) as ExportRun);

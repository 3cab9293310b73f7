import fc from 'fast-check';
import type { Ending, ExportRun } from '../../../../src/jobs/export/record.ts';
import { hostileText, maybe, present, slackCode, slackId, time } from '../../arbitraries.ts';
import { anEnding, REASONS_NOT_TO_START, STATES } from './builders.ts';

const kind = <Kind extends Ending['kind']>(name: Kind) => fc.constant(name);

const ending: fc.Arbitrary<Ending> = fc
  .oneof(
    fc.record({
      kind: kind('done'),
      link: fc.stringMatching(/^[0-9a-f]{24}\.\d\.\d\.\d$/),
      linkEndsAtMs: maybe(time),
      sizeBytes: maybe(fc.maxSafeNat()),
      expired: maybe(fc.boolean()),
      privately: maybe(fc.boolean()),
    }),
    fc.record({ kind: kind('failed'), reason: maybe(hostileText) }),
    fc.record({
      kind: kind('notStarted'),
      why: fc.constantFrom(...REASONS_NOT_TO_START),
      reason: maybe(hostileText),
    }),
    fc.record({ kind: kind('gaveUp'), afterMs: time }),
    fc.record({ kind: kind('noPlace'), code: slackCode }),
    fc.record({ kind: kind('broken'), ref: fc.stringMatching(/^[0-9a-f]{6}$/) }),
    fc.constantFrom(anEnding.lost, anEnding.noLink, anEnding.left),
  )
  .map((one) => present(one) as Ending);

/** Every record that the schema takes, with hostile words wherever a person or the platform supplies them. */
export const anyRun: fc.Arbitrary<ExportRun> = fc
  .record({
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
    by: fc.record({ id: slackId('U'), name: hostileText }),
    schedule: maybe(fc.stringMatching(/^[0-9a-f]{24}$/)),
    watchers: fc.array(fc.record({ id: slackId('U'), name: hostileText }), { maxLength: 20 }),
    asked: fc.record({ channel: slackId('C'), joinable: fc.boolean(), isPublic: fc.boolean(), atMs: time }),
    inDirectMessage: fc.boolean(),
    attempt: fc.integer({ min: 1, max: 1000 }),
    resumed: fc.nat(1000),
    relinked: fc.nat(3),
    state: fc.constantFrom(...STATES),
    sinceMs: time,
    attemptAtMs: time,
    nextPollAtMs: time,
    jobId: maybe(hostileText),
    startedAtMs: maybe(time),
    status: maybe(fc.oneof(fc.constantFrom('queued', 'running', 'completed', 'failed'), hostileText)),
    progressText: maybe(hostileText),
    pageCount: maybe(fc.maxSafeNat()),
    fraction: maybe(fc.double({ min: 0, max: 1, noNaN: true })),
    polls: fc.nat(100),
    pollFailure: maybe(
      fc.record({
        kind: fc.constantFrom('down', 'limit', 'key', 'project', 'lost'),
        inARow: fc.integer({ min: 1, max: 100 }),
        adminsAlerted: fc.boolean(),
        nextMs: time,
      }),
    ),
    movedAtMs: maybe(time),
    siteDomain: maybe(hostileText),
    stalled: maybe(fc.boolean()),
    audited: maybe(fc.boolean()),
    completedAtMs: maybe(time),
    ending: maybe(ending),
    answer: maybe(
      fc.record({
        attempt: fc.integer({ min: 1, max: 1000 }),
        by: fc.record({ id: slackId('U'), name: hostileText }),
        action: fc.constantFrom('startAgain', 'leave', 'watchIt', 'late'),
      }),
    ),
  })
  .map((run) => present(run) as ExportRun);

import Registry from 'prom-client/lib/registry.js';
import { metricsIn } from './kinds.ts';
import { addProcessMetrics } from './process.ts';

/** All label values: names in the program, and nothing that outsiders choose. */
export interface MetricNames {
  /** Of commands, buttons, modals, shortcuts and events. */
  requests: readonly string[];
  jobs: readonly string[];
  queues: readonly string[];
  /** Of the docs API, and the kinds of its errors. */
  operations: readonly string[];
  docsErrors: readonly string[];
  /** Of Slack's Web API, and the kinds of its errors. */
  methods: readonly string[];
  slackErrors: readonly string[];
  /** Rate limits, without their subjects. */
  limits: readonly string[];
  urgencies: readonly string[];
  problems: readonly string[];
}

export const requestKinds = ['command', 'button', 'modal', 'shortcut', 'event'] as const;
export type RequestKind = (typeof requestKinds)[number];

/** `refused`: answered with the reason; `failed`: an error, or it was not stored. */
export const requestOutcomes = ['ok', 'refused', 'failed'] as const;
export type RequestOutcome = (typeof requestOutcomes)[number];

/**
 * `again`: a later step follows; `broke`: an unexpected error, then a retry; `gave_up`: too many errors; `handed_back`:
 * the process stops.
 */
export const stepOutcomes = ['done', 'again', 'broke', 'gave_up', 'handed_back'] as const;
export type StepOutcome = (typeof stepOutcomes)[number];

/** Why a request was refused or not stored. */
export const refusals = [
  'not_permitted',
  'another_workspace',
  'person_unknown',
  'missing_scope',
  'slack_away',
  'redis',
  'in_doubt',
  'unsigned',
  'clock',
] as const;
export type Refusal = (typeof refusals)[number];

/** The metrics of one process. `expose` returns them in Prometheus' format. */
export type Metrics = ReturnType<typeof createMetrics>;

const BRIEF = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3];
const CALL = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];
const LAG = [0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600];

/** Every metric is defined here. */
export function createMetrics(names: MetricNames, { version, role }: { version: string; role: string }) {
  const registry = new Registry();
  const kinds = metricsIn(registry);
  const { counter, gauge, histogram } = kinds;
  const upstream = ['docs', 'slack'];
  const collectors: (() => Promise<void> | void)[] = [];

  const info = gauge('docket_build_info', 'Always 1: which version runs, in which role.', {
    version: [version],
    role: [role],
  });
  info.replace([[{ version, role }, 1]]);
  addProcessMetrics(kinds);

  return {
    requests: histogram(
      'docket_request_duration_seconds',
      'Requests of Slack: from their receipt to the answer.',
      { kind: requestKinds, name: names.requests, outcome: requestOutcomes },
      BRIEF,
    ),
    refusals: counter('docket_refusals_total', 'Requests that were not let in or not taken.', {
      reason: refusals,
    }),
    steps: histogram(
      'docket_job_duration_seconds',
      'Executions of jobs: one or a few steps.',
      { job: names.jobs, outcome: stepOutcomes },
      CALL,
    ),
    givenUp: counter('docket_jobs_given_up_total', 'Jobs given up after unexpected errors.', {
      job: names.jobs,
    }),
    locksLost: counter(
      'docket_lock_losses_total',
      'Locks of jobs that were lost while this process worked on them, so that another may do it, too.',
      { queue: names.queues },
    ),
    stalled: counter(
      'docket_stalled_jobs_total',
      'Jobs taken over from a process that did not renew its lock.',
      {
        queue: names.queues,
      },
    ),
    retries: counter('docket_retries_total', 'What was done once more, or will be, since it failed.', {
      of: ['slack', 'job'],
    }),
    docsCalls: histogram(
      'docket_docs_api_request_duration_seconds',
      'Requests to the docs API; the outcome is ok or the kind of error.',
      { operation: names.operations, outcome: ['ok', ...names.docsErrors] },
      CALL,
    ),
    slackCalls: histogram(
      'docket_slack_call_duration_seconds',
      "Calls of Slack's Web API; the outcome is ok or the kind of error.",
      { method: names.methods, outcome: ['ok', ...names.slackErrors] },
      CALL,
    ),
    upstreamCalls: counter(
      'docket_upstream_calls_total',
      'Calls that got an answer, none, or the answer that the token is refused.',
      { upstream, outcome: ['answered', 'unanswered', 'refused'] },
    ),
    deliveryLag: histogram(
      'docket_delivery_lag_seconds',
      'From the change of a run until Slack shows it.',
      { urgency: names.urgencies },
      LAG,
    ),
    slots: counter(
      'docket_limit_slots_total',
      'Slots of rate limits: taken, waited for, and held back by Slack or the platform.',
      {
        limit: names.limits,
        outcome: ['taken', 'waited', 'held'],
      },
    ),

    redisUp: gauge('docket_redis_up', 'Whether Redis answers this process.', {}),
    problems: gauge('docket_problems', '1 for each thing that an operator has to fix, as /readyz tells it.', {
      name: names.problems,
      level: ['error', 'warn'],
    }),
    queueJobs: gauge('docket_queue_jobs', 'Jobs of BullMQ. Of all processes: the same in each.', {
      queue: names.queues,
      state: ['waiting', 'active', 'delayed', 'failed'],
    }),
    oldestWaiting: gauge(
      'docket_queue_oldest_waiting_seconds',
      'How long ago the oldest job that is due should have begun; 0 when none waits. The same in each process.',
      { queue: names.queues },
    ),
    oldestUndelivered: gauge(
      'docket_outbox_oldest_seconds',
      'Since when the oldest message in Slack is not as it should be; 0 when all are. The same in each process.',
      { urgency: names.urgencies },
    ),
    limitUsed: gauge(
      'docket_limit_used_ratio',
      'How much of a rate limit is in use, from 0 to 1; the most of any key or project. The same in each process.',
      { limit: names.limits },
    ),
    limitWaiting: gauge(
      'docket_limit_waiting',
      'Who waits for a slot of a rate limit. The same in each process.',
      {
        limit: names.limits,
      },
    ),
    rejectedKeys: gauge(
      'docket_rejected_keys',
      'API keys that the docs platform rejects. The same in each process.',
      {},
    ),

    /** Adds a function that runs before the metrics are shown; it never rejects, and is quick. */
    onScrape: (collect: () => Promise<void> | void) => void collectors.push(collect),
    contentType: registry.contentType,
    async expose(): Promise<string> {
      await Promise.all(collectors.map((collect) => collect()));
      return registry.metrics();
    },
  };
}

import { readdirSync } from 'node:fs';
import PromCounter from 'prom-client/lib/counter.js';
import PromGauge from 'prom-client/lib/gauge.js';
import PromHistogram from 'prom-client/lib/histogram.js';
import Registry from 'prom-client/lib/registry.js';

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

const requestKinds = ['command', 'button', 'modal', 'shortcut', 'event'] as const;
export type RequestKind = (typeof requestKinds)[number];

/** `refused`: answered with the reason; `failed`: an error, or it was not stored. */
const requestOutcomes = ['ok', 'refused', 'failed'] as const;
export type RequestOutcome = (typeof requestOutcomes)[number];

/**
 * `again`: a later step follows; `broke`: an unexpected error, then a retry; `gave_up`: too many errors; `handed_back`:
 * the process stops.
 */
const stepOutcomes = ['done', 'again', 'broke', 'gave_up', 'handed_back'] as const;
export type StepOutcome = (typeof stepOutcomes)[number];

/** Why a request was refused or not stored. */
const refusals = [
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
  const { counter, gauge, histogram, read } = metricsIn(registry);
  const upstream = ['docs', 'slack'];
  const collectors: (() => Promise<void> | void)[] = [];

  const about = { version: [version], role: [role] };
  gauge('docket_build_info', 'Always 1: which version runs, in which role.', about).replace([
    [{ version, role }, 1],
  ]);
  for (const row of processValues) read(...row);

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

/** Cheap values of this process, under the names that Prometheus' own libraries use. */
const processValues: [name: string, help: string, value: () => number | undefined][] = [
  [
    'process_start_time_seconds',
    'When the process started, in epoch seconds.',
    () => Math.round(performance.timeOrigin / 1000),
  ],
  [
    'process_cpu_seconds_total',
    'Processor time, of user and system.',
    () => (process.cpuUsage().user + process.cpuUsage().system) / 1e6,
  ],
  ['process_resident_memory_bytes', 'Memory that the process holds.', process.memoryUsage.rss],
  ['process_open_fds', 'Open file handles; missing if the system does not report them.', openFiles],
  ['nodejs_heap_size_used_bytes', 'Memory of JavaScript objects.', () => process.memoryUsage().heapUsed],
  [
    'nodejs_eventloop_active_seconds_total',
    'Time in which the event loop was busy: its increase per second is how busy it is, from 0 to 1.',
    () => performance.eventLoopUtilization().active / 1000,
  ],
];

function openFiles(): number | undefined {
  try {
    // Without the descriptor that reads the folder.
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return undefined;
  }
}

/** The labels of a metric, each with all its possible values. */
type LabelLists<L extends string> = Record<L, readonly string[]>;
type Values<L extends string> = Record<L, string>;

/** Replaces a value outside its list, so that outsiders cannot create series. */
const OTHER = 'other';

function listed<L extends string>(lists: LabelLists<L>, values: Values<L>): Values<L> {
  const pairs = Object.entries<readonly string[]>(lists).map(([label, list]) => {
    const value = values[label as L];
    return [label, list.includes(value) ? value : OTHER];
  });
  return Object.fromEntries(pairs) as Values<L>;
}

/** Every combination of the values. */
function combinations<L extends string>(lists: LabelLists<L>): Values<L>[] {
  const all = Object.entries<readonly string[]>(lists).reduce<Record<string, string>[]>(
    (found, [label, list]) => found.flatMap((one) => list.map((value) => ({ ...one, [label]: value }))),
    [{}],
  );
  return all as Values<L>[];
}

/** Returns makers of metrics in this registry. Times are given in milliseconds and shown in seconds. */
function metricsIn(registry: Registry) {
  const registers = [registry];
  return {
    /** Shows 0 for each combination from the start, so that the first count appears as an increase. */
    counter<L extends string>(name: string, help: string, lists: LabelLists<L>) {
      const labelNames = Object.keys(lists) as L[];
      const counter = new PromCounter<L>({ name, help, labelNames, registers });
      for (const values of combinations(lists)) counter.inc(values, 0);
      return { add: (values: Values<L>, count = 1) => counter.inc(listed(lists, values), count) };
    },

    histogram<L extends string>(name: string, help: string, lists: LabelLists<L>, buckets: number[]) {
      const labelNames = Object.keys(lists) as L[];
      const histogram = new PromHistogram<L>({ name, help, labelNames, buckets, registers });
      return {
        observe: (values: Values<L>, ms: number) =>
          histogram.observe(listed(lists, values), Math.max(0, ms) / 1000),
      };
    },

    gauge<L extends string>(name: string, help: string, lists: LabelLists<L>) {
      const labelNames = Object.keys(lists) as L[];
      const gauge = new PromGauge<L>({ name, help, labelNames, registers });
      // Without labels, a reset would show 0.
      const clear = labelNames.length === 0 ? () => gauge.remove() : () => gauge.reset();
      clear();
      return {
        /** Replaces all previous values; with an empty list it shows nothing. */
        replace(entries: readonly (readonly [Values<L>, number])[]) {
          clear();
          for (const [values, value] of entries) gauge.set(listed(lists, values), value);
        },
      };
    },

    /** A number that is read when it is shown; a counter if its name ends with `total`. */
    read(name: string, help: string, value: () => number | undefined) {
      if (name.endsWith('_total'))
        new PromCounter({
          ...{ name, help, registers },
          collect() {
            this.reset();
            this.inc(value() ?? 0);
          },
        });
      else
        new PromGauge({
          ...{ name, help, registers },
          collect() {
            const now = value();
            if (now === undefined) this.remove();
            else this.set(now);
          },
        });
    },
  };
}

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

/** Every metric is defined here; docs/metrics.md explains them. */
export function createMetrics(names: MetricNames, { version, role }: { version: string; role: string }) {
  const registry = new Registry();
  const { counter, gauge, histogram, read } = metricsIn(registry);
  const upstream = ['docs', 'slack'];
  const collectors: (() => Promise<void> | void)[] = [];

  gauge('docket_build_info', { version: [version], role: [role] }).replace([[{ version, role }, 1]]);
  for (const row of processValues) read(...row);

  return {
    requests: histogram(
      'docket_request_duration_seconds',
      { kind: requestKinds, name: names.requests, outcome: requestOutcomes },
      BRIEF,
    ),
    refusals: counter('docket_refusals_total', { reason: refusals }),
    steps: histogram('docket_job_duration_seconds', { job: names.jobs, outcome: stepOutcomes }, CALL),
    givenUp: counter('docket_jobs_given_up_total', { job: names.jobs }),
    locksLost: counter('docket_lock_losses_total', { queue: names.queues }),
    stalled: counter('docket_stalled_jobs_total', { queue: names.queues }),
    retries: counter('docket_retries_total', { of: ['slack', 'job'] }),
    docsCalls: histogram(
      'docket_docs_api_request_duration_seconds',
      { operation: names.operations, outcome: ['ok', ...names.docsErrors] },
      CALL,
    ),
    slackCalls: histogram(
      'docket_slack_call_duration_seconds',
      { method: names.methods, outcome: ['ok', ...names.slackErrors] },
      CALL,
    ),
    upstreamCalls: counter('docket_upstream_calls_total', {
      upstream,
      outcome: ['answered', 'unanswered', 'refused'],
    }),
    deliveryLag: histogram('docket_delivery_lag_seconds', { urgency: names.urgencies }, LAG),
    slots: counter('docket_limit_slots_total', { limit: names.limits, outcome: ['taken', 'waited', 'held'] }),

    redisUp: gauge('docket_redis_up', {}),
    problems: gauge('docket_problems', { name: names.problems, level: ['error', 'warn'] }),
    // These come from Redis, and are the same in each process.
    queueJobs: gauge('docket_queue_jobs', {
      queue: names.queues,
      state: ['waiting', 'active', 'delayed', 'failed'],
    }),
    oldestWaiting: gauge('docket_queue_oldest_waiting_seconds', { queue: names.queues }),
    oldestUndelivered: gauge('docket_outbox_oldest_seconds', { urgency: names.urgencies }),
    limitUsed: gauge('docket_limit_used_ratio', { limit: names.limits }),
    limitWaiting: gauge('docket_limit_waiting', { limit: names.limits }),
    rejectedKeys: gauge('docket_rejected_keys', {}),

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
const processValues: [name: string, value: () => number | undefined][] = [
  ['process_start_time_seconds', () => Math.round(performance.timeOrigin / 1000)],
  ['process_cpu_seconds_total', () => (process.cpuUsage().user + process.cpuUsage().system) / 1e6],
  ['process_resident_memory_bytes', process.memoryUsage.rss],
  ['process_open_fds', openFiles],
  ['nodejs_heap_size_used_bytes', () => process.memoryUsage().heapUsed],
  // Its increase per second is how busy the event loop is, from 0 to 1.
  ['nodejs_eventloop_active_seconds_total', () => performance.eventLoopUtilization().active / 1000],
];

/** Returns undefined if the system does not report them. */
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

const help = 'See docs/metrics.md.';

/** Returns makers of metrics in this registry. Times are given in milliseconds and shown in seconds. */
function metricsIn(registry: Registry) {
  const optionsOf = <L extends string>(name: string, lists: LabelLists<L>) => ({
    ...{ name, help, registers: [registry] },
    labelNames: Object.keys(lists) as L[],
  });
  return {
    /** Shows 0 for each combination from the start, so that the first count appears as an increase. */
    counter<L extends string>(name: string, lists: LabelLists<L>) {
      const counter = new PromCounter<L>(optionsOf(name, lists));
      for (const values of combinations(lists)) counter.inc(values, 0);
      return { add: (values: Values<L>, count = 1) => counter.inc(listed(lists, values), count) };
    },

    histogram<L extends string>(name: string, lists: LabelLists<L>, buckets: number[]) {
      const histogram = new PromHistogram<L>({ ...optionsOf(name, lists), buckets });
      return {
        observe: (values: Values<L>, ms: number) =>
          histogram.observe(listed(lists, values), Math.max(0, ms) / 1000),
      };
    },

    gauge<L extends string>(name: string, lists: LabelLists<L>) {
      const gauge = new PromGauge<L>(optionsOf(name, lists));
      // Without labels, a reset would show 0.
      const clear = Object.keys(lists).length === 0 ? () => gauge.remove() : () => gauge.reset();
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
    read(name: string, value: () => number | undefined) {
      const options = optionsOf(name, {});
      if (name.endsWith('_total'))
        new PromCounter({
          ...options,
          collect() {
            this.reset();
            this.inc(value() ?? 0);
          },
        });
      else
        new PromGauge({
          ...options,
          collect() {
            const now = value();
            if (now === undefined) this.remove();
            else this.set(now);
          },
        });
    },
  };
}

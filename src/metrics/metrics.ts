import { readdirSync } from 'node:fs';
import PromCounter from 'prom-client/lib/counter.js';
import PromGauge from 'prom-client/lib/gauge.js';
import PromHistogram from 'prom-client/lib/histogram.js';
import Registry from 'prom-client/lib/registry.js';
import { tryOr } from '../runtime/try-or.ts';
import { revision } from '../runtime/version.ts';

export type RequestKind = 'command' | 'button' | 'modal' | 'shortcut' | 'event';

/** `refused`: answered with the reason; `failed`: an error, or it was not stored. */
export type RequestOutcome = 'ok' | 'refused' | 'failed';

/**
 * `again`: a later step follows; `broke`: an unexpected error, then a retry; `gave_up`: too many errors; `handed_back`:
 * the process stops.
 */
export type StepOutcome = 'done' | 'again' | 'broke' | 'gave_up' | 'handed_back';

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

const FAST = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1];
const BRIEF = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3];
const CALL = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20];
const LAG = [0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600];

/** Names in the program; those of rate limits are without their subjects. */
type LabelLists = Record<'jobs' | 'queues' | 'limits', readonly string[]>;

/**
 * Every metric is defined here; docs/metrics.md explains them. A label's value is always a name in the program, and
 * never one that outsiders choose.
 */
export function createMetrics(parts: LabelLists & Record<'version' | 'role', string>) {
  const { version, role, jobs, queues, limits } = parts;
  const registry = new Registry();
  const { counter, gauge, histogram, read } = metricsIn(registry);
  const collectors: (() => Promise<void> | void)[] = [];

  gauge('docket_build_info', ['version', 'revision', 'role']).replace([[{ version, revision, role }, 1]]);
  for (const row of processValues) read(...row);

  return {
    requests: histogram('docket_request_duration_seconds', ['kind', 'name', 'outcome'], BRIEF),
    refusals: counter('docket_refusals_total', { reason: refusals }),
    steps: histogram('docket_job_duration_seconds', ['job', 'outcome'], CALL),
    givenUp: counter('docket_jobs_given_up_total', { job: jobs }),
    locksLost: counter('docket_lock_losses_total', { queue: queues }),
    stalled: counter('docket_stalled_jobs_total', { queue: queues }),
    retries: counter('docket_retries_total', { of: ['slack', 'job'] }),
    docsCalls: histogram('docket_docs_api_request_duration_seconds', ['operation', 'outcome'], CALL),
    slackCalls: histogram('docket_slack_call_duration_seconds', ['method', 'outcome'], CALL),
    deploymentCalls: histogram('docket_deployment_call_duration_seconds', ['kind', 'outcome'], CALL),
    upstreamCalls: counter('docket_upstream_calls_total', {
      upstream: ['docs', 'slack'],
      outcome: ['answered', 'unanswered', 'refused'],
    }),
    deliveryLag: histogram('docket_delivery_lag_seconds', ['urgency'], LAG),
    slots: counter('docket_limit_slots_total', { limit: limits, outcome: ['taken', 'waited', 'held'] }),

    redisCommands: histogram('docket_redis_command_duration_seconds', [], FAST),
    redisUp: gauge('docket_redis_up', []),
    problems: gauge('docket_problems', ['name', 'level']),
    // These come from Redis, and are the same in each process.
    queueJobs: gauge('docket_queue_jobs', ['queue', 'state']),
    oldestWaiting: gauge('docket_queue_oldest_waiting_seconds', ['queue']),
    oldestUndelivered: gauge('docket_outbox_oldest_seconds', ['urgency']),
    limitUsed: gauge('docket_limit_used_ratio', ['limit']),
    limitWaiting: gauge('docket_limit_waiting', ['limit']),
    rejectedKeys: gauge('docket_rejected_keys', []),
    schedules: gauge('docket_schedules', ['state']),
    oldQuestions: gauge('docket_questions_older_than_a_day', []),

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
  // Without the descriptor that reads the folder. Not every system has it.
  ['process_open_fds', () => tryOr(undefined, () => readdirSync('/proc/self/fd').length - 1)],
  ['nodejs_heap_size_used_bytes', () => process.memoryUsage().heapUsed],
  // Its increase per second is how busy the event loop is, from 0 to 1.
  ['nodejs_eventloop_active_seconds_total', () => performance.eventLoopUtilization().active / 1000],
];

type Values<L extends string> = Record<L, string>;

const combinations = <L extends string>(lists: Record<L, readonly string[]>): Values<L>[] =>
  Object.entries<readonly string[]>(lists).reduce<Record<string, string>[]>(
    (found, [label, list]) => found.flatMap((one) => list.map((value) => ({ ...one, [label]: value }))),
    [{}],
  ) as Values<L>[];

/** Returns makers of metrics in this registry. Times are given in milliseconds and shown in seconds. */
function metricsIn(registry: Registry) {
  const common = { help: 'See docs/metrics.md.', registers: [registry] };
  const optionsOf = <L extends string>(name: string, labelNames: L[]) => ({ name, labelNames, ...common });
  return {
    /** Shows 0 for each combination from the start, so that the first count appears as an increase. */
    counter<L extends string>(name: string, lists: Record<L, readonly string[]>) {
      const counter = new PromCounter<L>(optionsOf(name, Object.keys(lists) as L[]));
      for (const values of combinations(lists)) counter.inc(values, 0);
      return { add: (values: Values<L>, count = 1) => counter.inc(values, count) };
    },

    histogram<L extends string>(name: string, labels: L[], buckets: number[]) {
      const histogram = new PromHistogram<L>({ ...optionsOf(name, labels), buckets });
      return {
        observe: (values: Values<L>, ms: number) => histogram.observe(values, Math.max(0, ms) / 1000),
      };
    },

    gauge<L extends string>(name: string, labels: L[]) {
      const gauge = new PromGauge<L>(optionsOf(name, labels));
      // Without labels, a reset would show 0.
      const clear = () => (labels.length === 0 ? gauge.remove() : gauge.reset());
      clear();
      return {
        /** Replaces all previous values; with an empty list it shows nothing. */
        replace(entries: readonly (readonly [Values<L>, number])[]) {
          clear();
          for (const [values, value] of entries) gauge.set(values, value);
        },
      };
    },

    /** A number that is read when it is shown; a counter if its name ends with `total`. */
    read(name: string, value: () => number | undefined) {
      const Metric = name.endsWith('_total') ? PromCounter : PromGauge;
      new Metric({
        ...optionsOf(name, []),
        collect() {
          const now = value();
          this.remove();
          if (now !== undefined) this.inc(now);
        },
      });
    },
  };
}

/** Makes the spans of a trace. Without OpenTelemetry it does nothing. */
export interface Tracing {
  /** Runs `work` in a span; spans of that work become its children. */
  span<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Adds the span of a call that has just ended. */
  called(name: string, durationMs: number, outcome: string): void;
}

export const noTracing: Tracing = { span: (_, work) => work(), called() {} };

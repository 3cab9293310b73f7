import PromCounter from 'prom-client/lib/counter.js';
import PromGauge from 'prom-client/lib/gauge.js';
import PromHistogram from 'prom-client/lib/histogram.js';
import type Registry from 'prom-client/lib/registry.js';

/** The labels of a metric, each with all its possible values. */
type LabelLists<L extends string> = Record<L, readonly string[]>;
type Values<L extends string> = Record<L, string>;

/** Replaces a value outside its list, so that outsiders cannot create series. */
const OTHER = 'other';

export interface Counter<L extends string> {
  add(labels: Values<L>, count?: number): void;
}
export interface Histogram<L extends string> {
  observe(labels: Values<L>, ms: number): void;
}
export interface Gauge<L extends string> {
  /** Replaces all previous values; with an empty list it shows nothing. */
  replace(entries: readonly (readonly [Values<L>, number])[]): void;
}

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
export function metricsIn(registry: Registry) {
  const registers = [registry];
  return {
    /** Shows 0 for each combination from the start, so that the first count appears as an increase. */
    counter<L extends string>(name: string, help: string, lists: LabelLists<L>): Counter<L> {
      const labelNames = Object.keys(lists) as L[];
      const counter = new PromCounter<L>({ name, help, labelNames, registers });
      for (const values of combinations(lists)) counter.inc(values, 0);
      return { add: (values, count = 1) => counter.inc(listed(lists, values), count) };
    },

    histogram<L extends string>(
      name: string,
      help: string,
      lists: LabelLists<L>,
      buckets: number[],
    ): Histogram<L> {
      const labelNames = Object.keys(lists) as L[];
      const histogram = new PromHistogram<L>({ name, help, labelNames, buckets, registers });
      return { observe: (values, ms) => histogram.observe(listed(lists, values), Math.max(0, ms) / 1000) };
    },

    gauge<L extends string>(name: string, help: string, lists: LabelLists<L>): Gauge<L> {
      const labelNames = Object.keys(lists) as L[];
      const gauge = new PromGauge<L>({ name, help, labelNames, registers });
      // Without labels, a reset would show 0.
      const clear = labelNames.length === 0 ? () => gauge.remove() : () => gauge.reset();
      clear();
      return {
        replace(entries) {
          clear();
          for (const [values, value] of entries) gauge.set(listed(lists, values), value);
        },
      };
    },

    /** A number that is read when it is shown; `counter` if it only grows. */
    read(type: 'gauge' | 'counter', name: string, help: string, value: () => number | undefined) {
      const common = { name, help, registers };
      if (type === 'gauge')
        new PromGauge({
          ...common,
          collect() {
            const now = value();
            if (now === undefined) this.remove();
            else this.set(now);
          },
        });
      else
        new PromCounter({
          ...common,
          collect() {
            this.reset();
            this.inc(value() ?? 0);
          },
        });
    },
  };
}

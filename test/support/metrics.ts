import { queueNames } from '../../src/jobs/engine/queue.ts';
import { jobs } from '../../src/jobs/index.ts';
import { createMetrics } from '../../src/metrics/metrics.ts';
import { limitNames } from '../../src/store/rate-limit.ts';

/** Metrics with the names of the program. */
export const someMetrics = () =>
  createMetrics({
    ...{ version: '0.0.0', role: 'all', queues: queueNames, limits: limitNames },
    jobs: jobs.map(({ name }) => name),
  });

/** Metrics that nobody reads. */
export const unread = someMetrics();

export interface Sample {
  /** The metric, with `_bucket`, `_sum` or `_count` for a part of a histogram. */
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Reads what Prometheus would. */
export function readSamples(text: string): Sample[] {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return lines.map((line) => {
    const [, name = '', labels = '', value = ''] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)];
    return {
      name,
      labels: Object.fromEntries(pairs.map(([, label = '', of = '']) => [label, of])),
      value: Number(value),
    };
  });
}

/** The value of the sample with this name and at least these labels; undefined when there is none. */
export const sampleValue = (samples: readonly Sample[], name: string, labels: Record<string, string> = {}) =>
  samples.find(
    (one) => one.name === name && Object.entries(labels).every(([label, of]) => one.labels[label] === of),
  )?.value;

/** What a bot shows. */
export async function scrape(port: number): Promise<Sample[]> {
  const response = await fetch(`http://127.0.0.1:${port}/metrics`);
  if (response.status !== 200) throw new Error(`/metrics answered ${response.status}`);
  return readSamples(await response.text());
}

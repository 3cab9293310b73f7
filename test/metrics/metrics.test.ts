import { expect, test } from 'vitest';
import { readSamples, sampleValue, someMetrics } from '../support/metrics.ts';

const HOSTILE = [
  'docs.evil.example',
  'U0EVIL',
  '#geheim',
  '"} 1\nfake_total 1\n#',
  '__proto__',
  'constructor',
  '',
];

test('a value outside the list of its label makes no series of its own', async () => {
  const metrics = someMetrics();
  const show = async (value: string) => {
    metrics.requests.observe({ kind: value, name: value, outcome: value }, 1);
    metrics.steps.observe({ job: value, outcome: value }, 1);
    metrics.docsCalls.observe({ operation: value, outcome: value }, 1);
    metrics.slackCalls.observe({ method: value, outcome: value }, 1);
    metrics.deliveryLag.observe({ urgency: value }, 1);
    metrics.slots.add({ limit: value, outcome: value });
    metrics.refusals.add({ reason: value });
    metrics.givenUp.add({ job: value });
    metrics.locksLost.add({ queue: value });
    metrics.retries.add({ of: value });
    metrics.upstreamCalls.add({ upstream: value, outcome: value });
    metrics.queueJobs.replace([[{ queue: value, state: value }, 1]]);
    metrics.limitUsed.replace([[{ limit: value }, 1]]);
    return metrics.expose();
  };
  const series = (text: string) =>
    readSamples(text).map(({ name, labels }) => JSON.stringify([name, labels]));
  const first = series(await show('anything'));
  for (const value of HOSTILE) {
    const text = await show(value);
    expect(series(text)).toEqual(first);
    if (value.length > 2) expect(text).not.toContain(value);
  }
  expect(sampleValue(readSamples(await metrics.expose()), 'docket_refusals_total', { reason: 'other' })).toBe(
    HOSTILE.length + 1,
  );
});

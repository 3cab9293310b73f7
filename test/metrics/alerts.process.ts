import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readSamples, someMetrics } from '../support/metrics.ts';
import { ALERTS, folder, hasPrometheus, promtool } from '../support/prometheus.ts';

const rules: { alert: string; expr: string; for?: string; annotations: { runbook: string } }[] = parse(
  readFileSync(ALERTS, 'utf8'),
).groups.flatMap(({ rules }: { rules: unknown[] }) => rules);
const dashboard = readFileSync(join(ALERTS, '../../grafana/docket.json'), 'utf8');
const page = readFileSync(join(ALERTS, '../../../docs/metrics.md'), 'utf8');

/** For each alert the series that make it fire after `minute`, and not a minute sooner; and some that never do. */
const cases: Record<string, { cause: string[]; minute: number; quiet: string[] }> = {
  DocketDown: {
    cause: ['up{job="docket"} 1 0x30'],
    minute: 3,
    quiet: ['up{job="docket"} 1 0 0 1x30', 'up{job="other"} 0x30'],
  },
  DocketRedisAway: {
    cause: ['docket_redis_up 1 0x30'],
    minute: 2,
    quiet: ['docket_redis_up 1 0 1 1 0 1x30'],
  },
  DocketKeyRejected: {
    cause: ['docket_rejected_keys 0 1x30'],
    minute: 2,
    quiet: ['docket_rejected_keys 0x30'],
  },
  DocketOutboxLagging: {
    cause: ['docket_outbox_oldest_seconds{urgency="ending"} 0+60x30'],
    minute: 6,
    quiet: [
      'docket_outbox_oldest_seconds{urgency="ending"} 0 60 120 180 240 0 60 120 60x30',
      'docket_outbox_oldest_seconds{urgency="lowPriority"} 0+60x30',
    ],
  },
  DocketQueueNotDraining: {
    cause: ['docket_queue_oldest_waiting_seconds{queue="docs-export"} 0+60x30'],
    minute: 6,
    quiet: ['docket_queue_oldest_waiting_seconds{queue="docs-export"} 0 110 119x30'],
  },
  DocketJobGivenUp: {
    cause: ['docket_jobs_given_up_total{job="export"} 0 0 0 1x30'],
    minute: 3,
    quiet: ['docket_jobs_given_up_total{job="export"} 7x30'],
  },
  DocketLocksLost: {
    cause: ['docket_lock_losses_total{queue="docs-export"} 0 0 2x30'],
    minute: 2,
    quiet: ['docket_lock_losses_total{queue="docs-export"} 2x30'],
  },
  DocketProblem: {
    cause: ['docket_problems{name="docs_failing",level="error"} _ 1x30'],
    minute: 2,
    quiet: ['docket_problems{name="docs_failing",level="error"} _ 1 stale'],
  },
  DocketWarning: {
    cause: ['docket_problems{name="signature",level="warn"} _ 1x30'],
    minute: 6,
    quiet: ['docket_problems{name="signature",level="warn"} _ 1 1 stale'],
  },
};

const names = rules.map(({ alert }) => alert);

describe('each alert', () => {
  test('has cases here', () => {
    expect(Object.keys(cases)).toEqual(names);
  });

  test.each(rules)('$alert says where to read what to do', ({ alert, annotations }) => {
    expect(annotations.runbook).toBe(`docs/metrics.md#${alert.toLowerCase()}`);
    expect(page.match(new RegExp(`^### ${alert}$`, 'gm'))).toHaveLength(1);
  });

  test.skipIf(!hasPrometheus)('can be read by Prometheus', async () => {
    const { ok, text } = await promtool('check', 'rules', ALERTS);
    expect([ok, text]).toEqual([true, expect.stringContaining(`${names.length} rules found`)]);
  });

  test.skipIf(!hasPrometheus).each(Object.entries(cases))(
    '%s fires after its time, not before, and not without its cause',
    async (alertname, { cause, minute, quiet }) => {
      const series = (lines: string[]) =>
        lines.map((line) => ({
          series: line.slice(0, line.indexOf(' ')),
          values: line.slice(line.indexOf(' ') + 1),
        }));
      // What an alert says is not compared here: only whether and when it fires.
      const count = (atMinute: number, fires: boolean) => ({
        expr: `count(ALERTS{alertname="${alertname}",alertstate="firing"})`,
        eval_time: `${atMinute}m`,
        exp_samples: fires ? [{ labels: '{}', value: 1 }] : [],
      });
      const tests = [
        {
          interval: '1m',
          input_series: series(cause),
          promql_expr_test: [count(minute - 1, false), count(minute, true)],
        },
        {
          interval: '1m',
          input_series: series(quiet),
          promql_expr_test: Array.from({ length: 25 }, (_, at) => count(at, false)),
        },
      ];
      const file = join(folder(), 'tests.yml');
      writeFileSync(file, JSON.stringify({ rule_files: [ALERTS], evaluation_interval: '1m', tests }));
      expect(await promtool('test', 'rules', file)).toMatchObject({ ok: true });
    },
  );
});

/** The names of metrics in an expression. */
const metricsOf = (expression: string) => expression.match(/\b(?:docket|process|nodejs)_\w+/g) ?? [];

test('every metric of the alerts and of the dashboard is one that the program has', async () => {
  const metrics = someMetrics();
  metrics.requests.observe({ kind: 'command', name: '/docs-export', outcome: 'ok' }, 1);
  metrics.steps.observe({ job: 'export', outcome: 'ok' }, 1);
  metrics.docsCalls.observe({ operation: 'getExport', outcome: 'ok' }, 1);
  metrics.slackCalls.observe({ method: 'auth.test', outcome: 'ok' }, 1);
  metrics.deliveryLag.observe({ urgency: 'ending' }, 1);
  metrics.deploymentCalls.observe({ kind: 'webhook', outcome: 'ok' }, 1);
  const text = await metrics.expose();
  const known = new Set([
    ...readSamples(text).map(({ name }) => name),
    ...[...text.matchAll(/^# TYPE (\w+) gauge/gm)].map(([, name]) => name),
  ]);
  const expressions = JSON.parse(dashboard).panels.flatMap(
    ({ targets = [] }: { targets?: { expr: string }[] }) => targets.map(({ expr }) => expr),
  );
  expect(expressions.length).toBeGreaterThan(20);
  const used = [...rules.map(({ expr }) => expr), ...expressions].flatMap(metricsOf);
  expect(used.filter((name) => !known.has(name))).toEqual([]);
});

test.skipIf(!hasPrometheus)('Prometheus can read every query of the dashboard', async () => {
  const expressions: string[] = JSON.parse(dashboard).panels.flatMap(
    ({ targets = [] }: { targets?: { expr: string }[] }) =>
      targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', '.*')),
  );
  const file = join(folder(), 'rules.yml');
  const group = {
    name: 'dashboard',
    rules: expressions.map((expr, at) => ({ record: `panel:${at}`, expr })),
  };
  writeFileSync(file, JSON.stringify({ groups: [group] }));
  expect(await promtool('check', 'rules', file)).toMatchObject({ ok: true });
});

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readSamples, someMetrics } from '../support/metrics.ts';
import { problemLevels } from '../support/problem-levels.ts';
import { cases } from './alert-cases.ts';

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook: string };
}

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const rules: Rule[] = parse(read('deploy/prometheus/alerts.yml')).groups.flatMap(
  ({ rules }: { rules: Rule[] }) => rules,
);
const page = read('docs/metrics.md');
const expressions: string[] = JSON.parse(read('deploy/grafana/docket.json')).panels.flatMap(
  ({ targets = [] }: { targets?: { expr: string }[] }) => targets.map(({ expr }) => expr),
);

// alerts.process.ts has Prometheus try them.
test('each alert has cases in which it fires, and in which it does not', () => {
  expect(Object.keys(cases)).toEqual(rules.map(({ alert }) => alert));
  for (const { fires, quiet } of Object.values(cases))
    expect([fires.length > 0, quiet.length > 0]).toEqual([true, true]);
});

test.each(rules)('$alert says where to read what to do', ({ alert, labels, annotations }) => {
  expect(annotations.runbook).toBe(`docs/metrics.md#${alert.toLowerCase()}`);
  expect(page.match(new RegExp(`^### ${alert}$`, 'gm'))).toHaveLength(1);
  expect(labels.severity).toMatch(/^(critical|warning|info)$/);
});

/** The metrics in an expression, each with what follows its name. */
const metricsOf = (expression: string) =>
  [...expression.matchAll(/\b((?:docket|process|nodejs)_\w+|up\b)(\{[^}]*\})?/g)].map(
    ([, name = '', labels = '']) => ({ name, labels }),
  );

test('every metric of an alert is of the job docket, and of the dashboard of the chosen one', () => {
  const chosen = rules.flatMap(({ expr }) => metricsOf(expr));
  expect(chosen.length).toBeGreaterThan(rules.length);
  expect(chosen.filter(({ labels }) => !labels.includes('job="docket"'))).toEqual([]);
  const drawn = expressions.flatMap(metricsOf);
  expect(drawn.length).toBeGreaterThan(expressions.length - 1);
  expect(drawn.filter(({ labels }) => !labels.includes('job=~"$job"'))).toEqual([]);
});

test('every metric of the alerts and of the dashboard is one that the program has', async () => {
  const metrics = someMetrics();
  metrics.requests.observe({ kind: 'command', name: '/docs-export', outcome: 'ok' }, 1);
  metrics.steps.observe({ job: 'export', outcome: 'ok' }, 1);
  metrics.docsCalls.observe({ operation: 'getExport', outcome: 'ok' }, 1);
  metrics.slackCalls.observe({ method: 'auth.test', outcome: 'ok' }, 1);
  metrics.deploymentCalls.observe({ kind: 'webhook', outcome: 'ok' }, 1);
  metrics.deliveryLag.observe({ urgency: 'ending' }, 1);
  const text = await metrics.expose();
  const known = new Set([
    'up',
    ...readSamples(text).map(({ name }) => name),
    ...[...text.matchAll(/^# TYPE (\w+) gauge/gm)].map(([, name]) => name),
  ]);
  expect(expressions.length).toBeGreaterThan(20);
  const used = [...rules.map(({ expr }) => expr), ...expressions].flatMap(metricsOf).map(({ name }) => name);
  expect(used.filter((name) => !known.has(name))).toEqual([]);
});

test('every problem of the alerts, and of their cases, is one that the program raises', () => {
  const known = [...problemLevels().keys()];
  const patterns = rules.flatMap(({ expr }) =>
    [...expr.matchAll(/docket_problems\{[^}]*\bname[!=~]+"([^"]+)"/g)].flatMap(([, names = '']) =>
      names.split('|'),
    ),
  );
  const tried = Object.values(cases).flatMap(({ fires, quiet }) => [
    ...fires.flatMap(([, all]) => all),
    ...quiet.flat(),
  ]);
  const names = tried.flatMap((one) => /^docket_problems\{.*\bname="([^"]+)"/.exec(one)?.[1] ?? []);
  expect([patterns.length > 5, names.length > 10]).toEqual([true, true]);
  const isKnown = (pattern: string) => known.some((name) => new RegExp(`^(?:${pattern})$`).test(name));
  expect([...patterns, ...names].filter((one) => !isKnown(one))).toEqual([]);
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ALERTS, folder, hasPrometheus, promtool } from '../support/prometheus.ts';
import { cases, WATCHED } from './alert-cases.ts';

const dashboard = readFileSync(join(ALERTS, '../../grafana/docket.json'), 'utf8');

/** Gives series without a job that of Docket, and adds a process of it that answers, unless they say which do. */
function inputOf(lines: string[], job = 'docket') {
  const named = lines.map((line) => {
    const at = line.indexOf(' ');
    const [, name = '', labels = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(line.slice(0, at)) ?? [];
    const all = labels.startsWith('job=') ? labels : [`job="${job}"`, labels].filter(Boolean).join();
    return { series: `${name}{${all}}`, values: line.slice(at + 1) };
  });
  const hasUp = job === 'docket' && named.some(({ series }) => series.startsWith('up{'));
  return hasUp ? named : [...named, { series: 'up{job="docket",instance="a"}', values: '1x60' }];
}

/** What promtool checks at a minute: the alerts that fire then. */
const firing = (minute: number, names: string[]) => ({
  expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
  eval_time: `${minute}m`,
  exp_samples: names.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
});

const neverFires = Array.from({ length: WATCHED }, (_, minute) => firing(minute, []));

describe.skipIf(!hasPrometheus)('Prometheus', () => {
  test.each(Object.entries(cases))(
    'has %s fire after its time, not before, alone, and not for what is close or of another job',
    async (alertname, { fires, quiet }) => {
      const tests = [
        ...fires.map(([minute, series]) => ({
          input_series: inputOf(series),
          promql_expr_test: [firing(minute - 1, []), firing(minute, [alertname])],
        })),
        ...quiet.map((series) => ({ input_series: inputOf(series), promql_expr_test: neverFires })),
        ...fires.map(([, series]) => ({
          input_series: inputOf(series, 'other'),
          promql_expr_test: neverFires,
        })),
      ].map((one) => ({ interval: '1m', ...one }));
      const file = join(folder(), 'tests.yml');
      writeFileSync(file, JSON.stringify({ rule_files: [ALERTS], evaluation_interval: '1m', tests }));
      expect(await promtool('test', 'rules', file)).toEqual({
        ...{ ok: true, text: expect.stringContaining('SUCCESS') },
      });
    },
  );

  test('can read the alerts', async () => {
    const { ok, text } = await promtool('check', 'rules', ALERTS);
    const count = Object.keys(cases).length;
    expect([ok, text]).toEqual([true, expect.stringContaining(`${count} rules found`)]);
  });

  test('can read every query of the dashboard', async () => {
    const expressions: string[] = JSON.parse(dashboard).panels.flatMap(
      ({ targets = [] }: { targets?: { expr: string }[] }) =>
        targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', '.*')),
    );
    const rules = expressions.map((expr, at) => ({ record: `panel:${at}`, expr }));
    const file = join(folder(), 'rules.yml');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
    expect(await promtool('check', 'rules', file)).toMatchObject({ ok: true });
  });
});

import { mkdirSync, writeFileSync } from 'node:fs';
import { createViews } from '../demo/docs-platform/analytics.ts';
import { chartPng } from '../src/jobs/digest/chart-png.ts';
import { chartTitle } from '../src/jobs/digest/edition/view.ts';
import { chartPoints, spansOf } from '../src/jobs/digest/weeks.ts';

/** Writes the picture of the README: the chart of a week of the demo's numbers, as a workspace without charts has it. */
const week = { from: '2026-09-14', to: '2026-09-21' };
const views = createViews('readme', () => Date.parse('2026-10-01T00:00:00Z'));
const spans = spansOf(week).map((span) => ({ ...span, ...views.between(span.from, span.to).totals }));

const folder = new URL('../docs/', import.meta.url);
mkdirSync(folder, { recursive: true });
writeFileSync(
  new URL('digest-chart.png', folder),
  await chartPng({ title: chartTitle({ site: 'docs.acme.com', range: week }), points: chartPoints(spans) }),
);

import type { ButtonParts } from '../../slack/blocks.ts';
import { count, cut, oneLine } from '../../slack/text.ts';
import type { ExportRun, RunButton } from './run.ts';

/** The platform's own reason, in quotes: one line, cut. */
export function platformSaid(reason: string | undefined): string {
  const said = cut(oneLine(reason ?? ''), 300);
  return said === '' ? 'The platform gave no reason.' : `The platform said: "${said}"`;
}

/** A button about this run, as it stands: a click on it later finds out whether the run has moved on. */
export function runButtonOf(run: ExportRun, label: string, action: string): ButtonParts {
  const value: RunButton = {
    v: 1,
    run: run.id,
    attempt: run.attempt,
    resumed: run.resumed,
    domain: site(run),
  };
  return { label, action, value: JSON.stringify(value) };
}

/** How long the export itself took, in milliseconds, when both ends of it were seen. */
export function tookMs(run: ExportRun): number | undefined {
  if (run.startedAtMs === undefined || run.completedAtMs === undefined) return undefined;
  return run.completedAtMs - run.startedAtMs;
}

/** Never more than there is: 0.29 is 29%, though 0.29 * 100 is a little less. */
export const percent = (fraction: number) => `${Math.floor(Math.round(fraction * 1e6) / 1e4)}%`;

/** The domain is checked before it becomes a run; a record may be older than the check. */
export const site = (run: ExportRun) => cut(oneLine(run.domain), 253);

/** "1 page", "412 pages". */
export const pages = (pageCount: number) => `${count(pageCount)} ${pageCount === 1 ? 'page' : 'pages'}`;

/** A person's name, for use after an @ that mentions nobody. */
export const person = (name: string) => cut(oneLine(name), 60);

/** An id of the platform, short enough to be read: `se_3f9a…4a06`. */
export function shortId(id: string): string {
  const clean = oneLine(id);
  const points = Array.from(clean);
  return points.length <= 16 ? clean : `${points.slice(0, 7).join('')}…${points.slice(-4).join('')}`;
}

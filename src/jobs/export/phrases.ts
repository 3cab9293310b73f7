import type { ButtonParts, MenuParts } from '../../slack/blocks.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import { bidiIsolate, cut, formatCount, sanitizeUserText, singleLine } from '../../slack/text.ts';
import { shortId } from '../wording-view.ts';
import type { RunButton } from './buttons.ts';
import { type ExportRun, isPrivate } from './record.ts';

/** Returns a button for the run's present state. A late click detects that the run has moved on. */
export const runButtonOf = (run: ExportRun, label: string, action: string): ButtonParts => ({
  label,
  action,
  value: aboutRun(run, SLACK_LIMITS.buttonValue),
});

/** Returns a menu for the run's present state; its entries do what buttons of the same action do. */
export const runMenuOf = (run: ExportRun, entries: MenuParts['entries']): MenuParts => ({
  entries,
  value: aboutRun(run, SLACK_LIMITS.blockId),
});

/** Returns the value of a run's buttons, within `maxLength` characters. */
function aboutRun(run: ExportRun, maxLength: number): string {
  const required: RunButton = {
    v: 1,
    run: run.id,
    attempt: run.attempt,
    resumed: run.resumed,
    domain: bareDomain(run),
  };
  const full: RunButton = {
    ...required,
    project: run.project,
    job: run.jobId,
    special: (run.version ?? run.paths) !== undefined || undefined,
    privately: isPrivate(run) || undefined,
  };
  // The other fields serve only when the record is not found, so they can be left out.
  const forms = [full, { ...full, domain: '' }, required].map((form) => JSON.stringify(form));
  return forms.find(({ length }) => length <= maxLength) ?? JSON.stringify({ ...required, domain: '' });
}

/** The domain in a button's value; empty if only the job is known. */
const bareDomain = ({ domain }: Pick<ExportRun, 'domain'>) => cut(singleLine(domain), 253);

/** How long the export took, in milliseconds, if its start and end were both seen. */
export function exportDurationMs(run: ExportRun): number | undefined {
  if (run.startedAtMs === undefined || run.completedAtMs === undefined) return undefined;
  return run.completedAtMs - run.startedAtMs;
}

/** Rounded down: 0.29 gives 29%, although 0.29 * 100 is a little less. */
export const percent = (fraction: number) => `${Math.floor(Math.round(fraction * 1e6) / 1e4)}%`;

/** The exported domain, or the job's id if the domain is unknown. */
export const subject = ({ domain, jobId }: Pick<ExportRun, 'domain' | 'jobId'>) =>
  domain === '' ? `job ${shortId(jobId ?? '')}` : bidiIsolate(bareDomain({ domain }));

/** The domain with its label, or the job's id. A stored domain may predate our checks. */
export function site({ domain, version, jobId }: Pick<ExportRun, 'domain' | 'version' | 'jobId'>): string {
  const label = domain === '' ? '' : singleLine(version ?? '');
  return label === ''
    ? subject({ domain, jobId })
    : `${subject({ domain, jobId })} (${sanitizeUserText(label, 100)})`;
}

export const pageCountText = (pageCount: number) =>
  `${formatCount(pageCount)} ${pageCount === 1 ? 'page' : 'pages'}`;

/** The pages, such as "only /guides/p2 and 3 more"; undefined if all are exported. */
export function onlyPages({ paths }: Pick<ExportRun, 'paths'>): string | undefined {
  if (paths === undefined) return undefined;
  const [first = ''] = paths;
  const more = paths.length === 1 ? '' : ` and ${paths.length - 1} more`;
  return `only ${sanitizeUserText(first, 60)}${more}`;
}

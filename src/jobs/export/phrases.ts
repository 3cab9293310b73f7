import type { ButtonParts, MenuParts } from '../../slack/blocks.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import { bidiIsolate, cut, formatCount, sanitizeUserText, singleLine } from '../../slack/text.ts';
import { shortId } from '../wording-view.ts';
import type { RunButton } from './buttons.ts';
import { type ExportRun, isPrivate } from './record.ts';

/** Returns a button about this run as it is now: a later click finds out whether the run has moved on. */
export const runButtonOf = (run: ExportRun, label: string, action: string): ButtonParts => ({
  label,
  action,
  value: aboutRun(run, SLACK_LIMITS.buttonValue),
});

/** Returns a menu about this run as it is now: its entries do what the buttons of the same action do. */
export const runMenuOf = (run: ExportRun, entries: MenuParts['entries']): MenuParts => ({
  entries,
  value: aboutRun(run, SLACK_LIMITS.blockId),
});

/** Returns what buttons carry, in as many characters as they take. */
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
  // The rest is for when the record is not found: without it, the button works for as long as the record is kept.
  const forms = [full, { ...full, domain: '' }, required].map((form) => JSON.stringify(form));
  return forms.find(({ length }) => length <= maxLength) ?? JSON.stringify({ ...required, domain: '' });
}

/** The domain as buttons carry it; empty when only the job is known. */
const bareDomain = ({ domain }: Pick<ExportRun, 'domain'>) => cut(singleLine(domain), 253);

/** How long the export itself took, in milliseconds, when both ends of it were seen. */
export function exportDurationMs(run: ExportRun): number | undefined {
  if (run.startedAtMs === undefined || run.completedAtMs === undefined) return undefined;
  return run.completedAtMs - run.startedAtMs;
}

/** Never more than there is: 0.29 is 29%, though 0.29 * 100 is a little less. */
export const percent = (fraction: number) => `${Math.floor(Math.round(fraction * 1e6) / 1e4)}%`;

/** What is exported; the job's id when that is all that is known. */
export const subject = ({ domain, jobId }: Pick<ExportRun, 'domain' | 'jobId'>) =>
  domain === '' ? `job ${shortId(jobId ?? '')}` : bidiIsolate(bareDomain({ domain }));

/** What is exported, with its label; the job's id when that is all that is known. A record may be older than our checks. */
export function site({ domain, version, jobId }: Pick<ExportRun, 'domain' | 'version' | 'jobId'>): string {
  const label = domain === '' ? '' : singleLine(version ?? '');
  return label === ''
    ? subject({ domain, jobId })
    : `${subject({ domain, jobId })} (${sanitizeUserText(label, 100)})`;
}

export const pageCountText = (pageCount: number) =>
  `${formatCount(pageCount)} ${pageCount === 1 ? 'page' : 'pages'}`;

/** Which pages are exported, such as "only /guides/p2 and 3 more"; undefined for all of them. */
export function onlyPages({ paths }: Pick<ExportRun, 'paths'>): string | undefined {
  if (paths === undefined) return undefined;
  const [first = ''] = paths;
  const more = paths.length === 1 ? '' : ` and ${paths.length - 1} more`;
  return `only ${sanitizeUserText(first, 60)}${more}`;
}

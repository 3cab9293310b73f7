import {
  type ButtonParts,
  layout,
  linkPlaceholder,
  type Message,
  message,
  openThreadButton,
  openThreadLink,
  type Part,
} from '../../slack/blocks.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import { countOf, cut, formatDuration, lowerFirst, sanitizeUserText, singleLine } from '../../slack/text.ts';
import { failureLine, OPERATION_WORDS, timeParts } from '../operation/view.ts';
import { targetButtons } from '../shared/offer-view.ts';
import type { UseDomain } from '../shared/target.ts';
import { LABELS, nameTo, personName, type StateWord, shortId, stateParts } from '../shared/wording-view.ts';
import { type DoneEnding, type Ending, type ExportRun, exportActions, type RunButton } from './record.ts';

const wordInSentence = ({ label, isForeign }: StateWord) => (isForeign ? label : lowerFirst(label));

/**
 * Returns a button for the run's present state: a late click detects that the run has moved on. A domain that does not
 * fit is left out of its value.
 */
export function runButtonOf(run: ExportRun, label: string, action: string): ButtonParts & { value: string } {
  const { id, attempt, resumed, domain } = run;
  const wanted: RunButton = { v: 1, run: id, attempt, resumed, domain };
  const text = JSON.stringify(wanted);
  const fits = text.length <= SLACK_LIMITS.blockId;
  return { label, action, value: fits ? text : JSON.stringify({ ...wanted, domain: '' }) };
}

/** The button with a link, which the link store has. */
export const downloadButton = (action: string, { link }: DoneEnding): ButtonParts => ({
  label: 'Download',
  action,
  url: linkPlaceholder(link),
  style: 'primary',
});

/** How long the export took, such as "6 min"; empty unless its start and end were both seen. */
export const tookText = ({ startedAtMs, completedAtMs }: ExportRun) =>
  startedAtMs === undefined || completedAtMs === undefined ? '' : formatDuration(completedAtMs - startedAtMs);

/** The last progress that the platform reported in millionths, since 0.29 * 100 is a little less than 29. */
const millionthsOf = (run: ExportRun) => Math.round((run.fraction ?? 0) * 1e6);

/** The last progress that the platform reported, rounded down, such as "42%"; empty if there is none. */
export const percentOf = (run: ExportRun) =>
  run.fraction === undefined ? '' : `${Math.floor(millionthsOf(run) / 1e4)}%`;

/** The exported domain, or the job's id if the domain is unknown. */
const subject = ({ domain, siteDomain, jobId = '' }: Pick<ExportRun, 'domain' | 'siteDomain' | 'jobId'>) =>
  sanitizeUserText(domain || siteDomain || '', 253) || `job ${shortId(jobId)}`;

const labelOf = ({ domain, version = '' }: Pick<ExportRun, 'domain' | 'version'>) =>
  domain === '' ? '' : sanitizeUserText(version, 100);

/** The domain with its label, such as "docs.acme.com 4.3", or the job's id. */
export const site = (run: Pick<ExportRun, 'domain' | 'siteDomain' | 'version' | 'jobId'>) =>
  subject(run) + (labelOf(run) && ` ${labelOf(run)}`);

/** The pages, such as "only /guides/p2 and 3 more"; empty if all are exported. */
export function onlyPages({ paths }: Pick<ExportRun, 'paths'>): string {
  if (paths === undefined) return '';
  const more = paths.length === 1 ? '' : ` and ${paths.length - 1} more`;
  return `only ${sanitizeUserText(paths[0] ?? '', 60)}${more}`;
}

/** Returns a text after the separator of facts, if there is one. */
const fact = (text: string) => text && ` · ${text}`;

const { starting: queued } = OPERATION_WORDS;
const exporting: StateWord = { icon: '⏳', label: 'Exporting' };
const exported: StateWord = { icon: '✅', label: 'Exported' };

/** The word of each state and ending. */
export const WORDS: Record<Exclude<ExportRun['state'], 'ended'> | Ending['kind'], StateWord> = {
  ...OPERATION_WORDS,
  accepted: queued,
  watching: exporting,
  bundling: exporting,
  done: exported,
  failed: { icon: '❌', label: 'Export failed' },
  noLink: { icon: '⚠️', label: 'Exported, no link yet' },
};

/** The state's word. An unknown state keeps the platform's own word. */
export function stateOf(run: ExportRun): StateWord {
  const { state, ending, relinked } = run;
  if (state === 'bundling' && relinked > 0) return exported;
  if (ending?.kind === 'noLink' && relinked > 0) return { icon: '⚠️', label: 'Exported, no new link yet' };
  if (state !== 'watching') return WORDS[state === 'ended' ? (ending?.kind ?? 'broken') : state];
  const status = singleLine(run.status ?? '');
  if (status === 'queued') return queued;
  return ['running', 'completed', 'failed', ''].includes(status)
    ? exporting
    : { ...exporting, label: sanitizeUserText(status, 40), isForeign: true };
}

/** Whether the export itself has ended; a new link may still be pending. */
export const isExportEnded = (run: ExportRun) =>
  run.state === 'ended' || (run.state === 'bundling' && run.relinked > 0);

/** Who asked for it: "Requested by ana". */
export const whoText = ({ joined, schedule, by }: ExportRun) =>
  `${joined ? 'Watched' : schedule === undefined ? 'Requested' : 'Scheduled'} by ${personName(by.name)}`;

/** The message in the thread that is edited while an export runs. At the end, another one replaces it. */
export function progressMessage(run: ExportRun): Message {
  const { state, movedAtMs = run.sinceMs } = run;
  const word = stateOf(run);
  // It is seen only where Slack refuses deletions.
  if (isExportEnded(run))
    return layout({ icon: word.icon, lines: [[{ bold: word.label }, ' · see the latest message below']] });
  const isWatching = state === 'watching';
  const first: Part[] =
    state === 'bundling'
      ? [{ bold: 'Making the download link…' }]
      : [
          { bold: word.label },
          ...(state === 'unknown' ? [` · ${subject(run)}`] : [...progressParts(run), ...sinceParts(run)]),
        ];
  // Nothing is retried before somebody answers.
  const failure = state === 'unknown' ? [] : failureOf(run);
  const isStalled = run.stalled && isWatching && failure.length === 0;
  const rest = isStalled ? [...timeParts('No progress since', movedAtMs), '. Still checking.'] : failure;
  const checkNow = runButtonOf(run, LABELS.checkNow, exportActions.refresh);
  const notify = { label: 'Notify me too', action: exportActions.notify };
  return layout({
    icon: state === 'bundling' ? '⏳' : word.icon,
    lines: [first, rest],
    small: [jobParts(run)],
    buttons: [isWatching && checkNow],
    menu: isWatching ? { entries: [notify], value: checkNow.value } : undefined,
    text: [spokenProgress(run), rest],
  });
}

/** A job that was not started here is only watched. */
function sinceParts(run: ExportRun): Part[] {
  if (stateOf(run) !== queued) return timeParts(' · started', run.startedAtMs, '{ago}');
  return run.joined
    ? timeParts(' · watched since', run.attemptAtMs)
    : timeParts(' · requested', run.attemptAtMs, '{ago}');
}

/** The full job id, so that people can copy it. */
export const jobParts = ({ jobId }: ExportRun): Part[] =>
  jobId === undefined ? [] : ['job ', { code: cut(singleLine(jobId), 200) }];

/** Such as "Exporting docs.acme.com, 42 percent, 128 pages so far." */
function spokenProgress(run: ExportRun): string {
  if (run.state === 'bundling') return `Making the download link for ${site(run)}.`;
  const word = stateOf(run);
  // In state `unknown`, progress may come from a wrong job id.
  if (run.state === 'unknown' || word === queued) return `${site(run)}: ${lowerFirst(word.label)}.`;
  const done = percentOf(run).replace('%', ' percent') || sanitizeUserText(run.progressText ?? '', 60);
  return `${[`${word.label} ${site(run)}`, done, pagesText(run)].filter((one) => one !== '').join(', ')}.`;
}

export const pagesText = (run: ExportRun) =>
  run.pageCount === undefined ? '' : countOf(run.pageCount, 'page') + (isExportEnded(run) ? '' : ' so far');

/** The progress that the platform reports, with no guesses. */
function progressParts(run: ExportRun): string[] {
  if (stateOf(run) === queued) return [];
  const cells = Math.floor(millionthsOf(run) / 1e5);
  const bar = `${'▰'.repeat(cells)}${'▱'.repeat(10 - cells)} ${percentOf(run)}`;
  const done = percentOf(run) === '' ? sanitizeUserText(run.progressText ?? '', 60) : bar;
  return [done, pagesText(run)].map(fact);
}

/** Why the platform cannot be asked about an export at present. */
export const failureOf = (run: ExportRun) =>
  failureLine(run, run.joined || run.startedAtMs !== undefined, 'this export');

/** One line in a list that only `readerId` sees. `thread` is the card's address, for people who can open it. */
export function exportLine(run: ExportRun, thread: string | undefined, readerId?: string): Part[] {
  const progress = run.state === 'watching' ? progressParts(run).join('') : '';
  const by = nameTo(readerId, run.by);
  const [how, format] = run.joined ? [`watched by ${by} since`, '{time}'] : [`requested by ${by}`, '{ago}'];
  return [
    ...stateParts(stateOf(run)),
    ...timeParts(` · ${site(run)}${fact(onlyPages(run))}${progress} · ${how}`, run.attemptAtMs, format),
    ...openThreadLink(thread),
  ];
}

const confirmSecond = {
  title: 'Start another?',
  text: 'A second export of the same pages will run at the same time.',
  yes: 'Start another',
  no: 'Cancel',
};

/**
 * To `readerId`, who requests a running export. `thread` is its card's address, `mayFollow` whether they can read its
 * messages, `request` the id of their request.
 */
export function runningMessage(
  run: ExportRun,
  nowMs: number,
  { thread, mayFollow, readerId }: { thread: string | undefined; mayFollow: boolean; readerId?: string },
  { request, privately }: Pick<UseDomain, 'request' | 'privately'>,
): Message {
  const open = openThreadButton(exportActions.openThread, thread);
  const by = nameTo(readerId, run.by);
  if (run.state === 'unknown') {
    const answer = mayFollow
      ? 'Answer the question in its thread first.'
      : `Ask ${by} to answer the question about it.`;
    const whose = by === 'you' ? 'your' : `${by}'s`;
    const text = `It's unclear whether ${whose} export of ${site(run)} started, so I won't start another. ${answer}`;
    return message([text], open);
  }
  const what = site(run) + (onlyPages(run) && `, ${onlyPages(run)},`);
  const progress = percentOf(run) && `${percentOf(run)}, `;
  const how = run.joined
    ? `watched by ${by}`
    : `requested by ${by} ${formatDuration(nowMs - run.attemptAtMs)} ago`;
  const parts = { action: exportActions.startAnother, confirm: confirmSecond };
  const another = run.joined ? [] : targetButtons('Start another', { ...run, request, privately }, parts);
  // A mention does not notify people who cannot read the thread.
  const notify = mayFollow && runButtonOf(run, 'Notify me too', exportActions.notify);
  return message([`${what} is already being exported: ${progress}${how}.`], [...open, notify, ...another]);
}

/** Answers a click on a message from before the export was started again. */
export const earlierAttemptMessage = message([
  'That was an earlier attempt. The export has been started again since.',
]);

/** Answers a late click, or [Refresh] right after a poll or at the rate limit. */
export function unchangedProgressMessage(run: ExportRun): Message {
  const word = wordInSentence(stateOf(run));
  if (run.ending?.kind === 'gaveUp')
    return message([
      'I stopped watching this export. Choose [Check now] in the latest message of its thread.',
    ]);
  if (run.state === 'ended')
    return message([`This export has ended: ${word}. See the latest message in its thread.`]);
  if (run.state === 'unknown')
    return message(['Waiting for an answer to the question above: did the export start?']);
  const failure = failureOf(run);
  return message([failure.length > 0 ? failure : [`Still ${percentOf(run) || word}, checked just now.`]]);
}

/** Opens the modal that asks what to export. */
export const exportSiteButton: ButtonParts = {
  label: 'Export a site',
  action: exportActions.ask,
  value: JSON.stringify({ v: 1 }),
};

/** Answers a text that is not a host name. `suggested` is the likely domain, which the buttons take. */
export function badDomainMessage(
  typed: string,
  suggested: string | undefined,
  buttons: ButtonParts[] = [],
): Message {
  const shown = { code: cut(singleLine(typed), 100) };
  if (suggested === undefined)
    return message([[shown, " isn't a host name. Type it like ", { code: 'docs.acme.com' }, '.']]);
  return message([[shown, " isn't a host name. Did you mean ", { code: suggested }, '?']], buttons);
}

/** Offers the export that a mention asked for; `request` is its id. Nothing starts without a click. */
export function exportOffer(
  request: string,
  { site, typed }: { site?: string | undefined; typed?: string | undefined },
): Message {
  const example = { code: '@Docket export docs.acme.com' };
  if (site === undefined)
    return typed === undefined
      ? message([['Which site? For example: ', example]], [exportSiteButton])
      : badDomainMessage(typed, undefined);
  const wanted = { domain: site, privately: false, request };
  const buttons = targetButtons(`Export ${site}`, wanted, { style: 'primary' });
  if (typed !== undefined) return badDomainMessage(typed, site, buttons);
  return message([`Export ${site} now?`], buttons);
}

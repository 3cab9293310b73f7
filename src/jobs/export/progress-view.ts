import {
  type ButtonParts,
  compose,
  contextBlock,
  layout,
  type MenuParts,
  type Message,
  message,
  type Part,
} from '../../slack/blocks.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import {
  bidiIsolate,
  cut,
  formatCount,
  formatDuration,
  lowerFirst,
  sanitizeUserText,
  singleLine,
} from '../../slack/text.ts';
import { downloadButton } from '../link/view.ts';
import {
  keyRemedyText,
  nameTo,
  personName,
  projectMissingText,
  type StateWord,
  shortId,
} from '../wording-view.ts';
import { type Ending, type ExportRun, exportActions, fractionOf, type RunButton } from './record.ts';

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

/** Returns the value of a run's buttons, within `maxLength` characters: the domain is left out if it does not fit. */
function aboutRun(run: ExportRun, maxLength: number): string {
  const { id, attempt, resumed } = run;
  const value: RunButton = { v: 1, run: id, attempt, resumed, domain: bareDomain(run) };
  const text = JSON.stringify(value);
  return text.length <= maxLength ? text : JSON.stringify({ ...value, domain: '' });
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
const subject = ({ domain, jobId }: Pick<ExportRun, 'domain' | 'jobId'>) =>
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

const queued: StateWord = { icon: '🕒', label: 'Queued' };
const exporting: StateWord = { icon: '⏳', label: 'Exporting' };
const exported: StateWord = { icon: '✅', label: 'Exported' };

const ENDED: Record<Ending['kind'], StateWord> = {
  done: exported,
  failed: { icon: '❌', label: 'Export failed' },
  notStarted: { icon: '❌', label: 'Not started' },
  noPlace: { icon: '❌', label: 'Not started' },
  lost: { icon: '❌', label: 'Not found' },
  gaveUp: { icon: '💤', label: 'No longer watched' },
  noLink: { icon: '⚠️', label: 'Exported, no link yet' },
  left: { icon: '💤', label: 'Not started again' },
  broken: { icon: '❌', label: 'Stopped by an error' },
};

const noNewLink: StateWord = { icon: '⚠️', label: 'Exported, no new link yet' };

function stateOf(run: ExportRun): StateWord {
  switch (run.state) {
    case 'accepted':
    case 'postingCard':
    case 'starting':
      return queued;
    case 'watching':
      return run.status === 'queued' ? queued : exporting;
    case 'bundling':
      return run.relinked > 0 ? exported : exporting;
    case 'unknown':
      return { icon: '⚠️', label: 'Needs an answer' };
    case 'ended':
      // An earlier link may still work.
      if (run.ending?.kind === 'noLink' && run.relinked > 0) return noNewLink;
      return ENDED[run.ending?.kind ?? 'broken'];
  }
}

/** The state's word. An unknown state keeps the platform's own word. */
export function shownStateOf(run: ExportRun): StateWord {
  const state = stateOf(run);
  const status = singleLine(run.status ?? '');
  const known = ['queued', 'running', 'completed', 'failed', ''];
  return run.state !== 'watching' || known.includes(status)
    ? state
    : { ...state, label: sanitizeUserText(status, 40), isForeign: true };
}

/** The beginning of every message about a state. */
const stateParts = ({ icon, label }: StateWord): Part[] => [`${icon} `, { bold: label }];

/** Whether the export itself has ended; a new link may still be pending. */
export const hasEnded = (run: ExportRun) =>
  run.state === 'ended' || (run.state === 'bundling' && run.relinked > 0);

/** Consecutive errors before messages say that the platform does not answer. */
const TROUBLE_SHOWN_AT = 3;

/** The card of a run. It changes only with the state, until it shows the result. */
export function cardMessage(run: ExportRun): Message {
  const { icon, label } = stateOf(run);
  const small = `Static export${labelPart(run)}${pagesPart(run)} · ${run.joined ? 'watched' : 'requested'} by ${personName(run.requester.name)}`;
  // While a new link is made, the previous one may still work.
  const done = run.ending?.kind === 'done' ? run.ending : run.earlier?.ending;
  if (label === 'Exported' && done !== undefined) {
    const took = exportDurationMs(run);
    const facts = [...progressParts(run), ...(took === undefined ? [] : [` · ${formatDuration(took)}`])].join(
      '',
    );
    const isPublic = !done.privately && !done.expired;
    return layout({
      lines: [[`${icon} `, { bold: subject(run) }, ` exported${facts}`]],
      small: [[small]],
      buttons: isPublic ? [{ ...downloadButton(exportActions.download, done.link), label: 'Download' }] : [],
      text: [[`${subject(run)} exported${facts}. ${small}`]],
    });
  }
  return layout({
    lines: [[`${icon} `, { bold: label }, ` · ${subject(run)}`]],
    small: [[small]],
    text: [[`${subject(run)}: ${lowerFirst(label)}. ${small}`]],
  });
}

const labelPart = ({ version }: ExportRun) => {
  const label = sanitizeUserText(version ?? '', 100);
  return label === '' ? '' : ` "${label}"`;
};

function pagesPart(run: ExportRun): string {
  const pages = onlyPages(run);
  return pages === undefined ? '' : ` · ${pages}`;
}

/** The message in the thread that is edited while an export runs. */
export function progressMessage(run: ExportRun): Message {
  return hasEnded(run) ? endedProgress(run) : runningProgress(run);
}

function runningProgress(run: ExportRun): Message {
  const isQueued = stateOf(run).label === 'Queued';
  const since = isQueued ? queuedSince(run) : startedSince(run);
  const isUnclear = run.state === 'unknown';
  const state: Part[] = isLinkMade(run)
    ? ['⏳ ', { bold: 'Making the download link…' }]
    : isUnclear
      ? [...stateParts(stateOf(run)), ` · ${subject(run)}`]
      : [...stateParts(shownStateOf(run)), ...progressParts(run), ...since];
  // Nothing is retried before somebody answers.
  const trouble = isUnclear ? [] : troubleLine(run);
  if (trouble.length === 0 && run.stalled && run.state === 'watching') {
    const since: Part = { time: run.movedAtMs ?? run.sinceMs, format: '{time}' };
    trouble.push('No progress since ', since, '. Still checking.');
  }
  const second = trouble.length === 0 ? [] : [trouble];
  return layout({
    lines: [state, ...second],
    small: jobLines(run),
    buttons:
      run.state === 'watching'
        ? [
            runButtonOf(run, 'Refresh', exportActions.refresh),
            runButtonOf(run, 'Notify me too', exportActions.notify),
          ]
        : [],
    text: [[spokenProgress(run)], ...second],
  });
}

/** A job that was not started here is only watched. */
const queuedSince = ({ joined, attemptAtMs: time }: ExportRun): Part[] =>
  joined ? [' · watched since ', { time, format: '{time}' }] : [' · requested ', { time, format: '{ago}' }];

const startedSince = ({ startedAtMs }: ExportRun): Part[] =>
  startedAtMs === undefined ? [] : [' · started ', { time: startedAtMs, format: '{ago}' }];

const isLinkMade = ({ state, relinked }: ExportRun) => state === 'bundling' && relinked === 0;

/** After the end, only the times remain here; the card shows the result. */
function endedProgress(run: ExportRun): Message {
  const moments: [string, number | undefined][] = [
    ['requested', run.joined ? undefined : run.attemptAtMs],
    ['started', run.startedAtMs],
    ['finished', run.completedAtMs],
  ];
  const times = moments.flatMap(([word, atMs]): Part[][] =>
    atMs === undefined ? [] : [[`${word} `, { time: atMs, format: '{time}' }]],
  );
  const small = [...times, ...jobLines(run)].flatMap((parts, index) =>
    index === 0 ? parts : [' · ', ...parts],
  );
  const { label } = stateOf(run);
  const text = [[`${site(run)}: ${lowerFirst(label)}`]];
  return small.length === 0 ? message(text) : compose(text, [contextBlock([small])]);
}

/** The full job id, so that people can copy it. */
const jobLines = ({ jobId }: ExportRun): Part[][] =>
  jobId === undefined ? [] : [['job ', { code: cut(singleLine(jobId), 200) }]];

/** Such as "Exporting docs.acme.com, 42 percent, 128 pages so far." */
function spokenProgress(run: ExportRun): string {
  if (isLinkMade(run)) return `Making the download link for ${site(run)}.`;
  const { label } = shownStateOf(run);
  // In state `unknown`, progress may come from a wrong job id.
  if (run.state === 'unknown' || label === 'Queued') return `${site(run)}: ${lowerFirst(label)}.`;
  const fraction = fractionOf(run);
  const words = sanitizeUserText(run.progressText ?? '', 60);
  const facts = [
    ...(fraction === undefined ? [words] : [percent(fraction).replace('%', ' percent')]),
    run.pageCount === undefined ? '' : `${pageCountText(run.pageCount)} so far`,
  ].filter((fact) => fact !== '');
  return `${[`${label} ${site(run)}`, ...facts].join(', ')}.`;
}

/** The progress that the platform reports, with no guesses. */
function progressParts(run: ExportRun): string[] {
  if (run.state === 'watching' && run.status === 'queued') return [];
  const parts: string[] = [];
  const fraction = fractionOf(run);
  if (fraction !== undefined) {
    const cells = Math.floor(Math.round(fraction * 1e6) / 1e5);
    if (!hasEnded(run)) parts.push(`${'▰'.repeat(cells)}${'▱'.repeat(10 - cells)} ${percent(fraction)}`);
  } else if (singleLine(run.progressText ?? '') !== '') {
    parts.push(sanitizeUserText(run.progressText ?? '', 60));
  }
  if (run.pageCount !== undefined)
    parts.push(pageCountText(run.pageCount) + (hasEnded(run) ? '' : ' so far'));
  return parts.map((part) => ` · ${part}`);
}

export function troubleLine(run: ExportRun): Part[] {
  const { pollFailure: trouble } = run;
  if (trouble === undefined) return [];
  const next: Part = { time: trouble.nextMs, format: '{time}' };
  switch (trouble.kind) {
    case 'limit':
      return ["The platform's limit is reached; nothing is lost. I'll continue at about ", next, '.'];
    case 'key':
      return [
        `⚠️ My platform key was rejected; ${keyRemedyText(trouble.adminsTold)}. I'll continue when it works again.`,
      ];
    case 'forbidden':
      return ["⚠️ The platform doesn't let me see this export. I'll continue when it does."];
    case 'project':
      return [`⚠️ ${projectMissingText(run)}. I'll continue when it is back.`];
    case 'down':
    case 'lost':
      if (run.startedAtMs === undefined && !run.joined)
        return ["The docs platform isn't answering, so nothing has started yet. I'll keep trying."];
      if (trouble.inARow < TROUBLE_SHOWN_AT) return [];
      return ["I can't reach the platform. I'll keep trying; the job itself may be fine."];
  }
}

/**
 * One line in a list of exports that only `readerId` sees. `thread` is the card's address, for people who can open it.
 */
export function exportLine(run: ExportRun, thread: string | undefined, readerId?: string): Part[] {
  const progress = run.state === 'watching' ? progressParts(run).join('') : '';
  const open: Part[] = thread === undefined ? [] : [' · ', { link: thread, label: 'Open thread' }];
  const [word, format] = run.joined ? ['watched', '{time}'] : ['requested', '{ago}'];
  const by = `${word} by ${nameTo(readerId, run.requester)}${run.joined ? ' since' : ''} `;
  return [
    ...stateParts(shownStateOf(run)),
    ` · ${site(run)}${pagesPart(run)}${progress} · ${by}`,
    { time: run.attemptAtMs, format },
    ...open,
  ];
}

import { type Message, message, type Part } from '../../slack/blocks.ts';
import { cut, formatDuration, oneLine } from '../../slack/text.ts';
import { keyRemedyText, personName, projectMissingText, shortId } from '../wording-view.ts';
import { exportActions } from './buttons.ts';
import { exportDurationMs, pageCountText, percent, runButtonOf, site } from './phrases.ts';
import { type Ending, type ExportRun, fractionOf } from './record.ts';

/** Errors in a row before messages say that the platform does not answer. */
const TROUBLE_SHOWN_AT = 3;

const ENDING_LABELS: Record<Ending['kind'], string> = {
  done: 'Done',
  failed: 'Failed',
  notStarted: 'Not started',
  noPlace: 'Not started',
  lost: 'Lost',
  gaveUp: 'No longer watched',
  noLink: 'Done, without a link yet',
  left: 'Start unclear',
  broken: 'Stopped by an error',
};

/** One or two words for where a run stands. */
export function stateLabel(run: ExportRun): string {
  switch (run.state) {
    case 'accepted':
    case 'carding':
    case 'starting':
      return 'Queued';
    case 'watching':
      return run.status === 'queued' ? 'Queued' : 'Running';
    case 'bundling':
      return run.relinked > 0 ? 'Done' : 'Running';
    case 'unknown':
      return 'Start unclear';
    case 'ended':
      return ENDING_LABELS[run.ending?.kind ?? 'broken'];
  }
}

/** Whether the export itself has ended; another link may still be on its way. */
export const hasEnded = (run: ExportRun) =>
  run.state === 'ended' || (run.state === 'bundling' && run.relinked > 0);

export function cardMessage(run: ExportRun): Message {
  const state = stateLabel(run);
  // The card changes with its state word only: an id that comes sooner waits for it.
  const job = run.jobId === undefined || state === 'Queued' ? '' : ` · job ${shortId(run.jobId)}`;
  return message([
    [{ bold: `📦 Static export · ${site(run)} — ${state}` }],
    [
      `${run.joined ? 'Watched' : 'Asked for'} by @${personName(run.requester.name)}${pathsPart(run)}${job} · details in the thread`,
    ],
  ]);
}

/** Which pages were asked for, where it is not all of them. */
function pathsPart({ paths }: ExportRun): string {
  if (paths === undefined) return '';
  const [first = ''] = paths;
  return paths.length === 1 ? ` · only ${cut(oneLine(first), 60)}` : ` · only ${paths.length} pages`;
}

export function progressMessage(run: ExportRun): Message {
  const line: Part[] = [statusLabel(run), ...progressParts(run)];
  if (hasEnded(run)) {
    const took = exportDurationMs(run);
    return message([took === undefined ? line : [...line, ` · took ${formatDuration(took)}`]]);
  }
  if (run.startedAtMs !== undefined) line.push(' · started ', { time: run.startedAtMs, format: '{ago}' });
  const trouble = troubleLine(run);
  if (trouble.length === 0 && run.stalled && run.state === 'watching') {
    const since: Part = { time: run.movedAtMs ?? run.sinceMs, format: '{time}' };
    trouble.push('⚠️ No progress since ', since, '. Still checking.');
  }
  const buttons =
    run.state === 'watching'
      ? [
          runButtonOf(run, 'Refresh', exportActions.refresh),
          runButtonOf(run, 'Notify me too', exportActions.notify),
        ]
      : [];
  return message(trouble.length === 0 ? [line] : [line, trouble], buttons);
}

/** The platform's own word where it is not one of the known ones. */
function statusLabel(run: ExportRun): string {
  const status = oneLine(run.status ?? '');
  const known = ['queued', 'running', 'completed', 'failed', ''];
  return run.state !== 'watching' || known.includes(status) ? stateLabel(run) : cut(status, 40);
}

/** What the platform says of the progress: never more than that. */
function progressParts(run: ExportRun): string[] {
  if (run.state === 'watching' && run.status === 'queued') return [];
  const parts: string[] = [];
  const fraction = fractionOf(run);
  if (fraction !== undefined) {
    const cells = Math.floor(Math.round(fraction * 1e6) / 1e5);
    if (!hasEnded(run)) parts.push(`${'▓'.repeat(cells)}${'░'.repeat(10 - cells)} ${percent(fraction)}`);
  } else if (oneLine(run.progressText ?? '') !== '') {
    parts.push(cut(oneLine(run.progressText ?? ''), 60));
  }
  if (run.pageCount !== undefined)
    parts.push(pageCountText(run.pageCount) + (hasEnded(run) ? '' : ' so far'));
  return parts.map((part) => ` · ${part}`);
}

export function troubleLine(run: ExportRun): Part[] {
  const { trouble } = run;
  if (trouble === undefined) return [];
  const next: Part = { time: trouble.nextMs, format: '{time}' };
  switch (trouble.kind) {
    case 'limit':
      return ["The platform's limit is reached; nothing is lost. I go on about ", next, '.'];
    case 'key':
      return [
        `⚠️ My platform key was rejected; ${keyRemedyText(trouble.adminsTold)}. I go on when it works again.`,
      ];
    case 'forbidden':
      return ["⚠️ The platform doesn't let me look at this export (403). I go on when it does again."];
    case 'project':
      return [`⚠️ ${projectMissingText(run)}. I go on when it is back.`];
    case 'down':
    case 'lost':
      if (run.startedAtMs === undefined && !run.joined)
        return ["The docs platform isn't answering, so nothing is started yet. I keep trying."];
      if (trouble.inARow < TROUBLE_SHOWN_AT) return [];
      return ["I can't reach the platform and keep trying; the job itself may be fine."];
  }
}

/** One line for a list of exports. `thread` is the address of its card, for those who can open it. */
export function exportLine(run: ExportRun, thread: string | undefined): Part[] {
  const progress = run.state === 'watching' ? progressParts(run).join('') : '';
  const open: Part[] = thread === undefined ? [] : [' · ', { link: thread, label: 'Open thread' }];
  const askedAt: Part = { time: run.attemptAtMs, format: '{ago}' };
  return [
    { bold: site(run) },
    ` — ${statusLabel(run)}${progress} · asked for by @${personName(run.requester.name)} `,
    askedAt,
    ...open,
  ];
}

import {
  joinParts,
  type Line,
  layout,
  type Message,
  moment,
  openThreadButton,
  type Part,
} from '../../slack/blocks.ts';
import type { OutboxMessage } from '../../slack/outbox.ts';
import { countOf, formatCount, lowerFirst, sanitizeUserText, upperFirst } from '../../slack/text.ts';
import { updateLine } from '../deployment/view.ts';
import { onlyPages, WORDS } from '../export/progress-view.ts';
import { standingKey } from '../export/view.ts';
import { nextParts, scheduleViews } from '../schedule/view.ts';
import type { Person } from '../shared/origin.ts';
import { isNotThere, LABELS, listNames, personName, type StateWord } from '../shared/wording-view.ts';
import { type ExportSchedule, exportScheduleActions, type Latest } from './record.ts';

export const exportScheduleViews = scheduleViews<ExportSchedule, 'runNow'>({
  what: () => 'scheduled export',
  short: 'scheduled export',
  done: 'started',
  actions: exportScheduleActions,
  labels: { runNow: LABELS.runNow },
  now: 'runNow',
  confirmRemoval: {
    title: 'Remove this schedule?',
    text: 'The site is no longer exported on schedule. Its exports stay.',
  },
  cannot: 'start exports',
  create: '/docs-export schedule',
  ownerLeft: ({ deployments }) =>
    `It's paused until someone ${deployments.length > 0 ? 'who may deploy ' : ''}takes it over.`,
  goal: ({ deployments }) => (deployments.length > 0 ? ` → ${listNames(deployments)}` : ''),
  last: (run) => {
    const { label, isForeign } = wordOf({ ...run, state: 'active' });
    return [isForeign ? label : lowerFirst(label), ...endedParts(run)];
  },
});
const { site, primaryFirst, stateParts, timesText, listedActions } = exportScheduleViews;

/** Returns the one message of a schedule in its channel. Each export is in its thread. */
export function exportScheduleMessages(run: ExportSchedule): OutboxMessage[] {
  if (run.refusal !== undefined) return [];
  const place = { channel: run.channel };
  const standing = { key: standingKey(run.id), place, kind: 'state' as const, message: standingMessage(run) };
  // It is edited for as long as the schedule exists.
  return [run.state === 'removed' ? standing : { ...standing, permanent: true }];
}

const planned: StateWord = { icon: '🕒', label: 'Not exported yet' };
const waiting: StateWord = { icon: '🕒', label: 'Waiting' };

/** Returns the word for the running export, or for the result of the latest one. */
function wordOf({ state, latest }: ExportSchedule): StateWord {
  if (state === 'removed') return { icon: '➖', label: 'No longer exported on schedule' };
  if (latest?.state === 'unclear') return WORDS.unknown;
  if (latest?.state === 'running') return latest.full ? waiting : WORDS.watching;
  if (state === 'paused') return { icon: '⏸', label: 'Schedule paused' };
  return latest?.ending === undefined ? planned : WORDS[latest.ending];
}

/** When the latest export ended, if it did. */
const endedParts = ({ latest }: ExportSchedule): Part[] =>
  latest?.state === 'ended' && latest.endedAtMs !== undefined ? [' ', moment(latest.endedAtMs)] : [];

const waitingText = ({ of, max }: NonNullable<Latest['full']>, owner: Person) =>
  `${of === 'owner' ? personName(owner.name) : 'This channel'} has ${countOf(max, 'export')} running, so this one waits until one ends.`;

function standingMessage(run: ExportSchedule): Message {
  const { latest, exported, version = '', state, owner } = run;
  const word = wordOf(run);
  const isExported = word === WORDS.done;
  const isEnded = latest?.ending !== undefined && word === WORDS[latest.ending];
  // The next export waits for the answer to its question.
  const waits = latest?.state === 'unclear' && !latest.joined;
  const full = word === waiting && latest?.full;
  return layout({
    icon: word.icon,
    lines: [
      joinParts([
        [{ bold: word.label }, ...(isEnded ? endedParts(run) : [])],
        site(run),
        isExported && exported && pagesText(exported),
      ]),
      full && waitingText(full, owner),
      state === 'paused' &&
        stateParts(run).map((part) => (typeof part === 'string' ? upperFirst(part) : part)),
      joinParts([
        exported && !isExported && ['Last exported ', moment(exported.atMs)],
        exported && !isExported && pagesText(exported),
      ]),
      ...(exported?.updates ?? []).map(updateLine),
      (state === 'active' || state === 'testing') && !waits && nextParts(run, 'Next: '),
    ],
    small: [
      joinParts([
        timesText(run),
        version && `"${sanitizeUserText(version, 100)}"`,
        onlyPages(run),
        `set up by ${personName(owner.name)}`,
        [{ code: '/docs-export schedule list' }],
      ]),
    ],
    ...(state === 'testing' ? {} : listedActions(run)),
  });
}

/** Such as "412 pages (+3)". */
function pagesText({ pages, pagesBefore = pages }: NonNullable<ExportSchedule['exported']>): string {
  if (pages === undefined || pagesBefore === undefined) return '';
  const more = pages - pagesBefore;
  const change = more === 0 ? '' : ` (${more > 0 ? '+' : '−'}${formatCount(Math.abs(more))})`;
  return countOf(pages, 'page') + change;
}

/** The further messages of the schedule's steps. */
export const exportScheduleNotes = {
  /** In the thread: exports that were missed. */
  skipped: (missed: readonly number[]): Message =>
    layout({
      icon: '➖',
      lines: [
        [
          { bold: 'Skipped' },
          ` ${countOf(missed.length, 'missed export')} (last due `,
          moment(missed.at(-1) ?? 0),
          ')',
        ],
      ],
      small: ['I only catch up on the latest, up to a day late.'],
    }),

  /** In the thread: the schedule joined an export of other people, whose messages do not mention the owner. */
  joined(run: ExportSchedule, thread: string | undefined, isFailed: boolean): Message {
    const { icon, label } = wordOf(run);
    const text = 'The same export was running already';
    return layout({
      icon,
      mention: isFailed ? [run.owner] : [],
      lines: [
        run.latest?.state === 'ended'
          ? `${text}. Its result: ${lowerFirst(label)}.`
          : `${text}, so I wait for it.`,
      ],
      buttons: openThreadButton(exportScheduleActions.openThread, thread),
    });
  },

  /** In the thread: a person who may not deploy named the job of the export. */
  notDeployed: (run: ExportSchedule, by: string): Message =>
    layout({
      icon: '⚠️',
      mention: [run.owner],
      lines: [
        [{ bold: 'Not deployed' }, ` · ${site(run)}`],
        `It was unclear whether the export had started. ${personName(by)} named its job by hand, but can't deploy.`,
      ],
      buttons: primaryFirst(run, 'runNow'),
    }),

  /** In the thread: the site has far more pages than before, or far fewer. */
  pagesChanged: (run: ExportSchedule, pages: number, before: number): Message =>
    layout({
      icon: '⚠️',
      mention: [run.owner],
      lines: [
        [
          {
            bold: `${site(run)} ${pages < before ? 'lost' : 'gained'} ${countOf(Math.abs(pages - before), 'page')}`,
          },
          ` (${formatCount(before)} → ${formatCount(pages)})`,
        ],
        'Check them before you publish.',
      ],
    }),

  /** In the thread: the schedule paused after failures. */
  paused: (run: ExportSchedule): Message =>
    layout({
      icon: '⏸',
      mention: [run.owner],
      lines: [
        [
          { bold: 'Paused' },
          ` after ${countOf(run.failures, 'failure')} in a row · scheduled export of ${site(run)}`,
        ],
      ],
      small: ['It resumes once [Run now] works.'],
      buttons: primaryFirst(run, 'runNow', 'resume', 'remove'),
    }),

  /** To the owner: the channel takes no message, so nothing was started. */
  noPlace: (run: ExportSchedule, code: string): Message =>
    failedMessage(
      run,
      'Not exported',
      isNotThere(code)
        ? [
            "I can't post in ",
            { channel: run.channel },
            ' any more. Type ',
            { code: '/invite @Docket' },
            ' there, then choose [Run now].',
          ]
        : ["Slack doesn't let me post in ", { channel: run.channel }, ' any more.'],
      isNotThere(code) ? undefined : `Slack's answer: ${code}`,
    ),

  /** To the owner, after our own error. */
  broken: (run: ExportSchedule, ref: string): Message =>
    failedMessage(
      run,
      'Stopped by an error',
      "Something broke on my side. I can't tell whether it was exported.",
      `ref ${ref}`,
    ),
};

const failedMessage = (run: ExportSchedule, state: string, why: Line, small: Line): Message =>
  layout({
    icon: '❌',
    lines: [[{ bold: state }, ` · ${site(run)}`], why],
    small: [small],
    buttons: primaryFirst(run, 'runNow', 'remove'),
  });

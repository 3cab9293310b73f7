import {
  joinParts,
  type Layout,
  type Line,
  layout,
  type Message,
  moment,
  openThreadButton,
  type Part,
} from '../../slack/blocks.ts';
import type { OutboxMessage } from '../../slack/outbox.ts';
import { countOf, formatCount, joinFacts, lowerFirst, sanitizeUserText } from '../../slack/text.ts';
import { updateFact } from '../deployment/view.ts';
import { onlyPages, WORDS } from '../export/progress-view.ts';
import { standingKey } from '../export/view.ts';
import { timetableText } from '../schedule/timetable.ts';
import { nextParts, scheduleViews } from '../schedule/view.ts';
import { isNotThere, personName, type StateWord } from '../wording-view.ts';
import { type ExportSchedule, exportScheduleActions } from './record.ts';

export const exportScheduleViews = scheduleViews<ExportSchedule, 'runNow'>({
  ...{ what: 'scheduled export', short: 'scheduled export', done: 'started' },
  actions: exportScheduleActions,
  labels: { runNow: 'Run now' },
  now: 'runNow',
  confirmRemoval: {
    title: 'Remove this schedule?',
    text: 'The site is no longer exported on schedule. Its exports stay.',
  },
  cannot: 'start exports',
  create: '/docs-export schedule',
  ownerLeft: ['is paused, since', 'It resumes once somebody takes it over.'],
});
const { site, buttons, primaryFirst, stateParts, menuOf } = exportScheduleViews;

/** Returns the one message of a schedule in its channel. Each export is in its thread. */
export function exportScheduleMessages(run: ExportSchedule): OutboxMessage[] {
  if (run.refusal !== undefined) return [];
  const place = { channel: run.channel };
  const standing = { key: standingKey(run.id), place, kind: 'state' as const, message: standingMessage(run) };
  // It is edited for as long as the schedule exists.
  return [run.state === 'removed' ? standing : { ...standing, lasting: true }];
}

const planned: StateWord = { icon: '🕒', label: 'not exported yet' };

/** Returns the word for the running export, or for the result of the latest one. */
function wordOf({ state, latest }: ExportSchedule): StateWord {
  if (state === 'removed') return { icon: '💤', label: 'no longer exported on schedule' };
  if (latest?.state === 'unclear') return WORDS.unknown;
  if (latest?.state === 'running') return WORDS.watching;
  if (state === 'paused') return { icon: '⏸', label: 'Paused' };
  return latest?.ending === undefined ? planned : WORDS[latest.ending];
}

function standingMessage(run: ExportSchedule): Message {
  const { latest, exported, version = '', state } = run;
  const word = wordOf(run);
  const isPaused = word.icon === '⏸';
  const isExported = word === WORDS.done;
  // The next export waits for the answer to its question.
  const waits = latest?.state === 'unclear' && !latest.joined;
  const isEnded = latest?.ending !== undefined && word === WORDS[latest.ending];
  const facts: Line[] = [
    [
      ...(isPaused ? stateParts(run) : [lowerFirst(word.label)]),
      ...(isEnded && latest.endedAtMs !== undefined ? [' ', moment(latest.endedAtMs)] : []),
    ],
    exported && !isExported && ['last exported ', moment(exported.atMs)],
    exported && pagesText(exported),
    ...(exported?.updates ?? []).map(updateFact),
    state === 'paused' && !isPaused && stateParts(run),
    (state === 'active' || state === 'testing') && !waits && nextParts(run, 'next: '),
  ];
  const small = joinFacts(
    timetableText(run.timetable),
    version && `"${sanitizeUserText(version, 100)}"`,
    onlyPages(run),
    `set up by ${personName(run.owner.name)} · `,
  );
  return layout({
    icon: word.icon,
    lines: [[{ bold: site(run) }, ' · ', ...joinParts(facts)]],
    small: [[small, { code: '/docs-export schedule list' }]],
    ...standingActions(run),
  });
}

function standingActions(run: ExportSchedule): Pick<Layout, 'buttons' | 'menu'> {
  if (run.state === 'active') return { menu: menuOf(run, 'runNow', 'change', 'pause') };
  if (run.state !== 'paused') return {};
  return {
    buttons: buttons(run, run.ownerLeft ? 'takeOver' : 'resume'),
    menu: menuOf(run, 'runNow', 'change'),
  };
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
      lines: [[`Left out: ${countOf(missed.length, 'export')}, last due `, moment(missed.at(-1) ?? 0)]],
      small: ['Of several missed exports, only the last is made up for, within a day.'],
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

  /** In the thread: the site has far more pages than before, or far fewer. */
  pagesChanged: (run: ExportSchedule, pages: number, before: number): Message =>
    layout({
      icon: '⚠️',
      mention: [run.owner],
      lines: [
        `${site(run)} has ${countOf(pages, 'page')} now. The export before had ${formatCount(before)}.`,
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
      small: ['It resumes once an export succeeds.'],
      buttons: primaryFirst(run, 'runNow', 'resume', 'remove'),
    }),

  /** To the owner: the channel takes no message, so nothing was started. */
  noPlace: (run: ExportSchedule, code: string): Message =>
    failedMessage(
      run,
      ["was not exported: I can't post in ", { channel: run.channel }, ' any more.'],
      isNotThere(code)
        ? ['Type ', { code: '/invite @Docket' }, ' there, then choose [Run now].']
        : `Slack said: ${code}`,
    ),

  /** To the owner, after our own error. */
  broken: (run: ExportSchedule, ref: string): Message =>
    failedMessage(run, ['is perhaps not exported: something broke on my side.'], `ref ${ref}`),
};

const failedMessage = (run: ExportSchedule, why: Part[], small: Line): Message =>
  layout({
    icon: '❌',
    lines: [[`${site(run)} `, ...why]],
    small: [small],
    buttons: primaryFirst(run, 'runNow', 'remove'),
  });

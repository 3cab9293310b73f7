import {
  type ButtonParts,
  joinParts,
  type Layout,
  layout,
  type Message,
  message,
  moment,
  type Part,
} from '../../slack/blocks.ts';
import { countOf, sanitizeUserText } from '../../slack/text.ts';
import { isNotThere, nameTo, personName } from '../shared/wording-view.ts';
import type { Schedule } from './record.ts';
import { timetableText } from './timetable.ts';

const labels = {
  change: 'Change',
  remove: 'Remove',
  askRemove: 'Remove',
  pause: 'Pause',
  resume: 'Resume',
  takeOver: 'Take over',
};
type Action = keyof typeof labels;

/** A feature's words for its schedules, and its own actions. */
interface Words<Run, Own extends string> {
  /** Such as "weekly digest", "digest" and "posted". */
  what: (run: Pick<Schedule, 'timetable'>) => string;
  short: string;
  done: string;
  actions: Record<Own | Action, string>;
  labels: Record<Own, string>;
  /** The action that does the work at once; `first` precedes it. */
  now: Own;
  first?: Own;
  confirmRemoval: Pick<NonNullable<ButtonParts['confirm']>, 'title' | 'text'>;
  /** What an owner may no longer do: "set up digests". */
  cannot: string;
  /** The command that sets one up. */
  create: string;
  /** What follows for the schedule if its owner has left. */
  ownerLeft: (run: Run) => string;
  /** What follows its times, such as " → production", and what happened last. */
  goal?: (run: Run) => string;
  last?: (run: Run) => Part[];
}

export type ScheduleViews<Run extends Schedule> = ReturnType<typeof scheduleViews<Run, never>>;

/** The next due time; empty if only an update makes it due. */
export const nextParts = ({ timetable, nextAtMs }: Schedule, label = 'next '): Part[] =>
  timetable.afterUpdates ? [] : [label, moment(nextAtMs)];

/** Returns the views that the schedules of all features have. */
export function scheduleViews<Run extends Schedule, Own extends string>(words: Words<Run, Own>) {
  const labelOf: Record<string, string> = { ...labels, ...words.labels };
  const carried = ({ id }: Run) => JSON.stringify({ v: 1, schedule: id });
  const confirm = { ...words.confirmRemoval, yes: 'Remove', no: 'Keep it', style: 'danger' as const };
  const site = (run: Run) => sanitizeUserText(run.site, 253);

  /** Returns buttons of a schedule. */
  const buttons = (run: Run, ...actions: (Own | Action)[]): ButtonParts[] =>
    actions.map((action) => ({
      label: labelOf[action] ?? action,
      action: words.actions[action],
      value: carried(run),
      ...(action === 'remove' && { confirm }),
    }));

  /** The same; the first is the primary one. */
  const primaryFirst = (run: Run, ...actions: (Own | Action)[]): ButtonParts[] =>
    buttons(run, ...actions).map((one, at) => (at === 0 ? { ...one, style: 'primary' } : one));

  const placeParts = (run: Run): Part[] => [
    { bold: sanitizeUserText(run.site, 80) },
    ' in ',
    { channel: run.channel },
  ];

  const timesText = (run: Run) => timetableText(run.timetable) + (words.goal?.(run) ?? '');

  const whenParts = (run: Run, label = 'next '): Part[] => {
    const [next, when] = [nextParts(run, label), timesText(run)];
    return run.state === 'active' && next.length > 0 ? [...next, ` · ${when}`] : [when];
  };

  function stateParts(run: Run, readerId?: string): Part[] {
    switch (run.state) {
      case 'testing':
        return ['being set up'];
      case 'active':
        return nextParts(run);
      case 'paused':
        if (run.pausedBy === 'failures') return [`paused after ${countOf(run.failures, 'failure')}`];
        if (run.pausedBy === 'permission')
          return [
            `paused: ${nameTo(readerId, run.owner)} ${run.ownerLeft ? 'has left' : `can't ${words.cannot} any more`}`,
          ];
        return [run.pausedBy ? `paused by ${nameTo(readerId, run.pausedBy)}` : 'paused'];
      case 'removed':
        return ['removed'];
    }
  }

  /** The rare actions, in the menu. An entry cannot ask for a confirmation, so [Remove] there asks in an answer. */
  const menuOf = (run: Run, ...actions: (Own | Action)[]): Layout['menu'] => ({
    entries: buttons(run, ...actions).map(({ label, action }) => ({ label, action })),
    value: carried(run),
  });

  /** The actions of a schedule, wherever it is shown. Without its owner, it works once somebody has taken it over. */
  function listedActions(run: Run): Pick<Layout, 'buttons' | 'menu'> {
    const { now } = words;
    const first = words.first === undefined ? [] : [words.first];
    if (run.state === 'removed') return {};
    if (run.ownerLeft)
      return { buttons: buttons(run, ...first, 'takeOver'), menu: menuOf(run, 'change', 'askRemove') };
    if (run.state === 'testing')
      return { buttons: buttons(run, ...first, 'change'), menu: menuOf(run, 'askRemove') };
    return run.state === 'paused'
      ? { buttons: buttons(run, ...first, 'resume'), menu: menuOf(run, now, 'change', 'askRemove') }
      : { buttons: buttons(run, ...first, now), menu: menuOf(run, 'change', 'pause', 'askRemove') };
  }

  return {
    what: words.what,
    short: words.short,
    create: words.create,
    site,
    buttons,
    primaryFirst,
    stateParts,
    timesText,
    listedActions,

    /** A schedule in one line, for a list that only `readerId` sees: project, channel, and next due time. */
    line: (run: Run, readerId?: string): Part[] =>
      joinParts([placeParts(run), timesText(run), words.last?.(run), stateParts(run, readerId)]),

    /** The same as an entry of a list, with its actions; a state that needs attention is in full size. */
    entry(run: Run, readerId: string): Message {
      const isGoing = run.state === 'active';
      return layout({
        lines: [[...placeParts(run), ...(isGoing ? [] : [' · ', ...stateParts(run, readerId)])]],
        small: [joinParts([words.last?.(run), whenParts(run)])],
        ...listedActions(run),
      });
    },

    /** [Remove] in a menu. */
    removal: (run: Run): Message =>
      layout({
        lines: [[`Remove the ${words.what(run)} of `, ...placeParts(run), '?'], words.confirmRemoval.text],
        buttons: buttons(run, 'remove').map(({ confirm: _, ...button }) => ({ ...button, style: 'danger' })),
      }),

    /** To the person who changed it, with a consequence that they may not expect. */
    changed: (run: Run, consequence?: string): Message =>
      layout({
        lines: [
          [
            { bold: run.state === 'paused' ? 'Paused' : 'Active' },
            ` · ${words.what(run)} of ${site(run)} in `,
            { channel: run.channel },
          ],
          consequence,
        ],
        small: [whenParts(run)],
        ...listedActions(run),
      }),

    /** To the person who set it up. */
    created: (run: Run): Message =>
      layout({
        lines: [[{ bold: 'Set up' }, ` · ${words.what(run)} of ${site(run)} in `, { channel: run.channel }]],
        small: [whenParts(run, 'first one ')],
        ...listedActions(run),
      }),

    /** To the person who set it up, if the app may not post in the channel. */
    noPlace({ channel }: Run, code: string): Message {
      const then = [' yet, so nothing was set up. Type ', { code: '/invite @Docket' }, ' there, then '];
      const why = ', so nothing was set up. Choose another channel.';
      return isNotThere(code)
        ? message([["I can't post in ", { channel }, ...then, { code: words.create }, ' again.']])
        : layout({
            lines: [["Slack doesn't let me post in ", { channel }, why]],
            small: [`Slack's answer: ${code}`],
          });
    },

    /** To the owner, who lost the permission. */
    notPermitted: (run: Run): Message =>
      layout({
        icon: '⏸',
        lines: [
          [
            { bold: 'Paused' },
            `: you can't ${words.cannot} any more, so the ${words.short} of ${site(run)} in `,
            { channel: run.channel },
            ` isn't ${words.done}.`,
          ],
          'Ask your Docket admins for the permission, then choose [Resume].',
        ],
        buttons: buttons(run, 'resume', 'remove'),
      }),

    /** In the channel, once: the owner has left. */
    ownerLeft: (run: Run): Message =>
      layout({
        icon: '⚠️',
        lines: [
          `${personName(run.owner.name)}, who set up the ${words.what(run)} of ${site(run)}, has left.`,
          words.ownerLeft(run),
        ],
        buttons: buttons(run, 'takeOver'),
      }),

    /** The same after a person took it over. */
    takenOver: (run: Run, from: { name: string }): Message =>
      layout({
        icon: '✅',
        lines: [`${personName(run.owner.name)} took over the ${words.what(run)} of ${site(run)}.`],
        small: [`It was set up by ${personName(from.name)}, who has left.`],
      }),
  };
}

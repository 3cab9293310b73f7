import type { InputBlock } from '@slack/types';
import { z } from 'zod';
import { changeSchedule, newSchedule, type Schedule, type ScheduleKind } from '../jobs/schedule/record.ts';
import { isZone, type Timetable, timetable, WEEKDAYS, zoneGroups } from '../jobs/schedule/timetable.ts';
import type { ScheduleViews } from '../jobs/schedule/view.ts';
import type { Limits } from '../jobs/shared/limits.ts';
import { canRead, conversationOf, filterVisible } from '../jobs/shared/origin.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import { compose, type Message, message, type Part } from '../slack/blocks.ts';
import { kindOfId } from '../slack/ids.ts';
import { channelField, choiceField, timeField } from '../slack/modals.ts';
import { countOf, cut, formatCount, singleLine } from '../slack/text.ts';
import { type Caller, type CommandTools, retryStale, UserFacingError } from './intake.ts';
import { type ButtonAction, defineButton, type SubmitResult } from './registry.ts';

// Shared by the commands and modals of all schedules.

/** A modal's trigger expires soon. If the look-up of a time zone takes longer than this, the modal begins with UTC. */
const ZONE_TIMEOUT_MS = 400;

/** Returns a person's time zone if Slack returns it in time, else UTC. */
export async function zoneOf({ user }: Caller, tools: CommandTools): Promise<string> {
  const zone = await withTimeout(ZONE_TIMEOUT_MS, tools.personZone(user.id)).catch(() => undefined);
  return zone !== undefined && isZone(zone) ? zone : 'UTC';
}

/** The choices in place of a weekday, by their values. */
const OTHERS: Record<string, { label: string; timetable: Partial<Timetable>; hint?: string }> = {
  daily: { label: 'Every day', timetable: {} },
  updates: {
    label: 'After each site update started in Slack',
    timetable: { afterUpdates: true },
    hint: 'After an update, an export starts at once, whatever the time.',
  },
  monthly: { label: 'Once a month, around the 1st', timetable: { monthly: true } },
};

/** What a person may choose as the day, in this order. */
export type DayChoices = readonly ('weekdays' | 'daily' | 'updates' | 'monthly')[];

const WEEKDAY_CHOICES = WEEKDAYS.map((label, index) => ({ label, value: String(index + 1) }));

/** Returns the fields of a timetable; without a time if it follows updates. */
export function timetableFields(
  { weekday, time, zone, monthly, afterUpdates }: Timetable,
  days: DayChoices,
): InputBlock[] {
  const hints = days.flatMap((value) => OTHERS[value]?.hint ?? []);
  const other = afterUpdates ? 'updates' : monthly ? 'monthly' : 'daily';
  return [
    choiceField({
      block: 'day',
      label: 'Day',
      ...(hints.length > 0 && { hint: hints.join(' ') }),
      choices: days.flatMap((value) => {
        const one = OTHERS[value];
        return one ? [{ label: one.label, value }] : WEEKDAY_CHOICES;
      }),
      initial: weekday === undefined ? other : String(weekday),
    }),
    ...(afterUpdates
      ? []
      : [
          timeField({
            block: 'time',
            label: 'Time',
            hint: 'Local time in the zone below; follows daylight saving.',
            initial: time,
          }),
          choiceField({ block: 'zone', label: 'Time zone', groups: zoneGroups(zone), initial: zone }),
        ]),
  ];
}

/** Returns the chosen timetable, or adds the problem with it. */
export function readTimetable(
  { day, time, zone = '' }: Record<string, string | undefined>,
  problems: Record<string, string>,
  days: DayChoices,
): Timetable | undefined {
  const other = OTHERS[days.find((value) => value === day) ?? ''];
  const { data } = timetable.safeParse({ ...(other?.timetable ?? { weekday: Number(day) }), time, zone });
  if (!isZone(zone)) problems.zone = 'Choose a time zone.';
  else if (data === undefined) problems.time = 'Choose a day and a time.';
  else return data;
  return undefined;
}

/** Returns the field for the channel of a schedule; the present one is preselected. */
export function placeField({ channel }: Pick<Caller, 'channel'>, hint: string): InputBlock {
  const { joinable } = conversationOf(channel);
  return channelField({
    block: 'channel',
    label: 'Channel',
    hint: `${hint} If I'm not in the channel, type /invite @Docket there first.`,
    ...(joinable && { initial: channel.id }),
  });
}

export const CANNOT_SEE =
  "I can't see you in that channel. Choose one that you are in; in a private one, first type /invite @Docket.";

/** Whether a person may choose this channel for a schedule. */
export async function mayUse(
  channel: string,
  { user, ...caller }: Caller,
  tools: CommandTools,
): Promise<boolean> {
  // Other conversations are not channels.
  if (kindOfId(channel) !== 'channel') return false;
  return channel === caller.channel.id || canRead(channel, user, tools);
}

/** Each entry takes three of a message's 50 blocks. A line counts the schedules that are not listed. */
const MAX_LISTED = 15;

export type RunSchedule<Run> = (run: Run, by: Caller, tools: CommandTools) => Promise<Message | undefined>;

/** Returns the functions behind the commands and buttons of one feature's schedules. */
export function scheduleCommands<Run extends Schedule>(feature: {
  kind: ScheduleKind<Run>;
  views: ScheduleViews<Run>;
  /** The command that lists all. */
  list: string;
  /** What is scheduled, such as "export". */
  short: string;
  /** How to find schedules that a list leaves out. */
  more: string;
  /** What the owner gets a message about. */
  trouble: string;
  /** The limit of a person's schedules, if there is one. */
  limit?: keyof Limits;
}) {
  const { kind, views, short } = feature;
  const create = { code: views.create };
  const removed = message([[`This ${kind.what} was already removed. `, create, ' sets one up.']]);

  const quotasOf = ({ teamId, owner }: Pick<Run, 'teamId' | 'owner'>, { limits }: CommandTools) =>
    feature.limit === undefined
      ? []
      : [{ name: [kind.job, teamId, owner.id].join(':'), max: limits[feature.limit] }];

  const tooMany = (max = 0) =>
    `You have ${countOf(max, kind.what)}, and nobody may have more. Remove one that you no longer need: ${feature.list} shows them.`;

  /** Returns the schedules that this person may see: this channel's first, then by due time. */
  async function find(caller: Caller, tools: CommandTools, isWanted: (run: Run) => boolean = () => true) {
    const { channel, teamId } = caller;
    const all = await tools.intake.read(caller, ({ runs }) => runs.activeOf(kind.record, kind.job, teamId));
    const wanted = all.filter((run) => run.state !== 'removed' && isWanted(run));
    const visible = await filterVisible(wanted, kind.visible, caller, tools.isPublic);
    const isElsewhere = (run: Run) => Number(run.channel !== channel.id);
    return visible.toSorted(
      (one, other) => isElsewhere(one) - isElsewhere(other) || one.nextAtMs - other.nextAtMs,
    );
  }

  function list(schedules: readonly Run[], { user }: Caller): Message {
    if (schedules.length === 0)
      return message([
        [`There are no scheduled ${short}s that you can see here. Set one up with `, create, '.'],
      ]);
    const listed = schedules.slice(0, MAX_LISTED);
    const rest = schedules.length - listed.length;
    return compose([
      ...listed.map((run) => views.entry(run, user.id)),
      ...(rest > 0 ? [message([`and ${formatCount(rest)} more; ${feature.more}.`])] : []),
    ]);
  }

  /** Returns the schedule of a button. Rejects with `UserFacingError` if this person has none there. */
  async function load(id: string, caller: Caller, { intake }: CommandTools): Promise<Run> {
    const schedule = await intake.loadVisible(id, kind, caller, removed);
    if (schedule.state === 'removed') throw new UserFacingError(removed);
    return schedule;
  }

  /**
   * Saves a schedule after a person's change, with `result` in the audit log. Returns it `before` and `after` the change.
   * If `change` returns undefined, nothing is saved. With a `responseUrl`, later answers go to this person.
   */
  function save(
    id: string,
    caller: Caller,
    tools: CommandTools,
    change: (schedule: Run) => Run | undefined,
    result: string,
    responseUrl?: string,
  ): Promise<{ before: Run; after: Run | undefined }> {
    return retryStale(kind.what, async () => {
      const before = await load(id, caller, tools);
      const after = change(before);
      if (after === undefined) return { before, after };
      const quotas = after.owner.id === before.owner.id ? [] : quotasOf(after, tools);
      const acceptance = await tools.intake.resume(after, caller, { responseUrl, quotas });
      if (acceptance.kind === 'stale') return 'stale';
      if (acceptance.kind === 'full') throw new UserFacingError(message([tooMany(quotas[0]?.max)]));
      await tools.audit({ subject: after.site, result });
      return { before, after };
    });
  }

  /** Applies a person's change. `result` is in the audit log; `done` is the answer, by default the schedule itself. */
  const changes =
    (
      change: Parameters<typeof changeSchedule>[1],
      result: string,
      done?: [state: string, next?: string],
    ): RunSchedule<Run> =>
    async ({ id }, caller, tools) => {
      const changed = (latest: Run) => changeSchedule(latest, change, caller.user, tools.now());
      const { before, after } = await save(id, caller, tools, changed, result);
      if (after === undefined && before.state === 'testing')
        return message(["It's still being set up, so I changed nothing. Try again in a moment."]);
      if (after === undefined && change === 'pause' && before.state === 'paused')
        return message([["It's already paused."]], views.buttons(before, 'resume'));
      if (after === undefined || done === undefined) return views.changed(after ?? before);
      const [state, next] = done;
      const subject = ` · the ${views.what(after)} of ${cut(singleLine(after.site), 80)} in `;
      return message(
        [[{ bold: state }, subject, { channel: after.channel }], next],
        change === 'pause' ? views.buttons(after, 'resume', 'remove') : [],
      );
    };

  const noneHere: Part[] = [
    `No ${short} is scheduled in this channel. `,
    { code: feature.list },
    ' shows the others, and ',
    create,
    ' sets one up.',
  ];

  return {
    find,
    list,
    load,
    save,

    /** Stores a new schedule. If the channel has the same one already, returns the form with this problem. */
    async create<Wanted extends Pick<Run, 'project' | 'site' | 'channel' | 'timetable'>>(
      wanted: Wanted,
      caller: Caller,
      tools: CommandTools,
    ): Promise<SubmitResult> {
      const isPublic = await tools.isPublic(wanted.channel);
      const run = newSchedule({ ...wanted, job: kind.job, isPublic }, caller, tools.now());
      const quotas = quotasOf(run, tools);
      const { kind: outcome } = await tools.intake.start(run, caller, quotas);
      if (outcome !== 'claimed' && outcome !== 'full') return { kind: 'closed' };
      const result = outcome === 'full' ? 'refused: too many schedules' : 'scheduled already';
      await tools.audit({ subject: wanted.site, result });
      if (outcome === 'full') return { kind: 'problems', problems: { channel: tooMany(quotas[0]?.max) } };
      const text = `That channel already has a ${views.what(run)} of ${cut(singleLine(wanted.site), 40)}. Close this, type ${feature.list}, and choose [Change].`;
      return { kind: 'problems', problems: { channel: text } };
    },

    /** The functions of the buttons that all schedules have. Slack asks for confirmation before a removal. */
    actions: {
      pause: changes('pause', 'paused', ['Paused', 'Paused until someone resumes it.']),
      resume: changes('resume', 'resumed'),
      remove: changes('remove', 'removed', ['Removed']),
      askRemove: (async (run) => views.removal(run)) satisfies RunSchedule<Run>,
      takeOver: changes('takeOver', 'taken over', ['Yours now', `I'll message you if ${feature.trouble}.`]),
    },

    /** Runs a command for this channel's schedule. If the channel has several, returns a list to choose from. */
    async inChannel(visible: Run[], caller: Caller, tools: CommandTools, run?: RunSchedule<Run>) {
      const here = visible.filter(({ channel }) => channel === caller.channel.id);
      const [schedule, ...others] = here;
      if (schedule === undefined) return message([noneHere]);
      return others.length === 0 && run ? run(schedule, caller, tools) : list(here, caller);
    },

    /** Returns the buttons of a schedule, by the names of their actions. */
    buttons: <Name extends string>(
      may: ButtonAction['may'],
      actionIds: Record<NoInfer<Name>, string>,
      actions: Record<Name, RunSchedule<Run>>,
    ) =>
      (Object.keys(actions) as Name[]).map((name) =>
        defineButton({
          action: actionIds[name],
          may,
          value: z.object({ v: z.literal(1), schedule: z.string() }),
          run: async ({ schedule }, caller, tools) =>
            actions[name](await load(schedule, caller, tools), caller, tools),
        }),
      ),
  };
}

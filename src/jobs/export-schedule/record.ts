import { z } from 'zod';
import { idOf } from '../../store/keys.ts';
import { updateState } from '../deployment/attempt.ts';
import type { EventsOf } from '../engine/send-event.ts';
import { type ExportRun, endingKinds, newExportRun } from '../export/record.ts';
import { schedule, scheduleKindOf } from '../schedule/record.ts';

/** Exports of a site at the times of a timetable; `site` is the domain. `job.ts` has its steps. */
export const exportSchedule = schedule.extend({
  job: z.literal('export-schedule'),
  /** The label; `{date}` in it stands for the due day in the timetable's zone. */
  version: z.string().optional(),
  paths: z.array(z.string()).optional(),
  /** Only the owner gets the links. */
  privately: z.boolean(),
  /** The deployments to update to each export, by their names in the settings. */
  deployments: z.array(z.string()),
  /** The latest export: on schedule, or by hand. */
  latest: z
    .object({
      dueAtMs: z.number(),
      /** Its run, once that is accepted. */
      run: z.string().optional(),
      /** The same export was running already, so the schedule watches that one. */
      joined: z.boolean().optional(),
      /** It waits for a place among the running exports: at most so many of its owner, or of its channel. */
      full: z.object({ of: z.enum(['owner', 'channel']), max: z.number() }).optional(),
      /** An update made it due, so no export from before that will do. */
      isOfUpdate: z.literal(true).optional(),
      /** `unclear`: waits for a person's answer. */
      state: z.enum(['running', 'unclear', 'ended']),
      /** How it last ended, and when. A person may have resumed it since. */
      ending: z.enum(endingKinds).optional(),
      endedAtMs: z.number().optional(),
    })
    .optional(),
  /** The latest successful export, the pages of the one before, and the updates of deployments to it. */
  exported: z
    .object({
      atMs: z.number(),
      pages: z.number().optional(),
      pagesBefore: z.number().optional(),
      updates: z.array(updateState),
    })
    .optional(),
});
export type ExportSchedule = z.infer<typeof exportSchedule>;

/** An update of the site from here has ended. */
export const exportScheduleEvents: EventsOf<{ kind: 'siteUpdated' }> = {
  job: 'export-schedule',
  schema: z.object({ kind: z.literal('siteUpdated') }),
};

export type Latest = NonNullable<ExportSchedule['latest']>;

export const exportScheduleKind = scheduleKindOf({
  what: 'export schedule',
  job: 'export-schedule' as const,
  record: exportSchedule,
});

/** Returns the label of the export that is due then. */
export function labelAt(
  { version, timetable }: Pick<ExportSchedule, 'version' | 'timetable'>,
  dueAtMs: number,
) {
  const due = Temporal.Instant.fromEpochMilliseconds(Math.floor(dueAtMs));
  return version?.replaceAll('{date}', due.toZonedDateTimeISO(timetable.zone).toPlainDate().toString());
}

/** Whether its latest export has not ended. */
export const isExporting = ({ latest }: ExportSchedule) => latest !== undefined && latest.state !== 'ended';

/** Returns the schedule that exports now: for a due time, or by hand. */
export const exportNow = (run: ExportSchedule, dueAtMs: number, isOfUpdate?: true): ExportSchedule => ({
  ...run,
  latest: { dueAtMs, isOfUpdate, state: 'running' },
});

/** Returns the export of a due time. Its id follows from the schedule and the due time. */
export function scheduledExport(
  run: ExportSchedule,
  dueAtMs: number,
  how: { links: 'thread' | 'requester'; now: () => number },
): ExportRun {
  const { id, teamId, owner, channel, isPublic, project, site: domain, paths, privately } = run;
  const target = { project, domain, paths, privately, version: labelAt(run, dueAtMs) };
  const request = {
    teamId,
    requestId: '',
    user: { ...owner, fullMember: true },
    channel: { id: channel, name: '' },
  };
  return {
    ...newExportRun(target, request, how),
    id: idOf('scheduled export', id, String(dueAtMs)),
    schedule: id,
    // Home lists the schedule.
    people: [],
    asked: { channel, joinable: true, isPublic },
    // The card stays in the thread, whatever its result.
    kept: true,
  };
}

export const exportScheduleActions = {
  setUp: 'export_schedule.set_up',
  runNow: 'export_schedule.run_now',
  change: 'export_schedule.change',
  remove: 'export_schedule.remove',
  askRemove: 'export_schedule.ask_remove',
  pause: 'export_schedule.pause',
  resume: 'export_schedule.resume',
  takeOver: 'export_schedule.take_over',
  openThread: 'export_schedule.open_thread',
} as const;

import type { Redis } from 'ioredis';
import { editionJob } from '../../../../src/jobs/digest/edition/job.ts';
import {
  type EditionRun,
  editionRun,
  figuresOf,
  newEdition,
  weeklyId,
} from '../../../../src/jobs/digest/edition/record.ts';
import { figuresJob } from '../../../../src/jobs/digest/figures/job.ts';
import type { FiguresRun } from '../../../../src/jobs/digest/figures/record.ts';
import type { ScheduleRun } from '../../../../src/jobs/digest/schedule/record.ts';
import { timetableText } from '../../../../src/jobs/digest/schedule-times.ts';
import { lastCompleteWeek, type Week } from '../../../../src/jobs/digest/weeks.ts';
import { SlackApiError } from '../../../../src/slack/errors.ts';
import type { OutboxMessage } from '../../../../src/slack/outbox.ts';
import type { JobContextParts } from '../world.ts';
import { aSchedule } from './builders.ts';
import { type DigestWorld, digestWorld } from './world.ts';

/** The hour of the weekly digest, whose week is over. */
const MONDAY = Date.parse('2026-09-21T07:00:00Z');

/** A Slack that shows what is published, and takes files, as far as the test lets it. */
export interface Shown {
  messages: Map<string, OutboxMessage>;
  files: { fileId: string; filename: string; bytes: Uint8Array | undefined; completed: object[] }[];
}

function slackOf(shown: Shown): Pick<JobContextParts, 'outbox' | 'slack'> {
  return {
    outbox: {
      async publish(_team, message) {
        shown.messages.set(message.key, message);
      },
      async deliveryState(key) {
        return shown.messages.has(key)
          ? { kind: 'shown', channel: 'C0DOCS', ts: '1.1' }
          : { kind: 'waiting' };
      },
    },
    slack: {
      async getUploadAddress({ filename }) {
        const fileId = `F${shown.files.length + 1}`;
        shown.files.push({ fileId, filename, bytes: undefined, completed: [] });
        return { fileId, uploadUrl: `https://files.example/${fileId}` };
      },
      async uploadBytes(url, bytes) {
        const file = shown.files.find(({ fileId }) => url.endsWith(`/${fileId}`));
        if (file) file.bytes = bytes;
      },
      async completeUpload({ fileId, ...rest }) {
        shown.files.find((file) => file.fileId === fileId)?.completed.push(rest);
      },
      async fileInfo(fileId) {
        const file = shown.files.find((one) => one.fileId === fileId);
        if (!file || file.completed.length === 0)
          throw new SlackApiError('missing', 'files.info', 'file_not_found');
        return { sharedIn: ['C0DOCS'] };
      },
    },
  };
}

/** The world of digests with such a Slack, on that Monday. */
export async function setUp(redis: Redis) {
  const shown: Shown = { messages: new Map(), files: [] };
  return { shown, world: await digestWorld(redis, MONDAY, { context: slackOf(shown) }) };
}

/** The weekly digest of that Monday, and the figures that it needs. */
export const weekly = () => planWeekly(aSchedule(), lastCompleteWeek(MONDAY), MONDAY);

interface PlannedEdition {
  edition: EditionRun;
  figures: FiguresRun[];
}

/** The digest of a week as a schedule accepts it, and the figures that it collects. */
export function planWeekly(schedule: ScheduleRun, { name, range }: Week, nowMs: number): PlannedEdition {
  const { teamId, channel, project, site, owner, sections, timetable } = schedule;
  const edition = newEdition(
    {
      ...{ teamId, channel, project, site, owner, sections, range, kind: 'weekly' },
      id: weeklyId({ teamId, channel, project }, name),
      timetable: timetableText(timetable),
    },
    nowMs,
  );
  return { edition, figures: figuresOf(edition, nowMs) };
}

/** Collects the figures, then posts the digest; returns its record as it is then. */
export async function post(world: DigestWorld, { edition, figures }: PlannedEdition): Promise<EditionRun> {
  for (const run of [...figures, edition]) await world.accept(run);
  for (const { id } of figures) await world.drive(figuresJob, id);
  await world.drive(editionJob, edition.id);
  const run = await world.context.runs.load(edition.id, editionRun);
  if (run === undefined) throw new Error('the record is gone');
  return run;
}

/** What a message shows, as one text. */
export const textOf = ({ messages }: Shown, key: string) => JSON.stringify(messages.get(key)?.message ?? {});

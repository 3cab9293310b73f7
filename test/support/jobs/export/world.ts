import type { DocsApi } from '../../../../src/docs-api/client.ts';
import type { JobContext } from '../../../../src/jobs/engine/context.ts';
import { exportJob } from '../../../../src/jobs/export/job.ts';
import { type ExportRun, exportRun } from '../../../../src/jobs/export/record.ts';
import type { OutboxMessage } from '../../../../src/slack/outbox.ts';
import { createAuditStore } from '../../../../src/store/audit.ts';
import { createRunStore } from '../../../../src/store/runs.ts';
import type { TestRedis } from '../../redis.ts';
import { type JobContextParts, jobContext, stepJob } from '../world.ts';
import { aRun } from './builders.ts';

export const HOUR_MS = 3_600_000;

/** The job's world: real stores, and a platform that answers as the test says. */
export function createExportWorld(redis: TestRedis) {
  const runs = createRunStore(redis.client);
  const audit = createAuditStore(redis.client);
  const published = new Map<string, OutboxMessage>();

  function contextWith(docs: Partial<DocsApi>, changes: JobContextParts = {}): JobContext {
    return jobContext(redis.client, {
      runs,
      audit,
      docs: () => docs as DocsApi,
      ...changes,
      outbox: {
        publish: async (_team, one) => void published.set(one.key, one),
        deliveryState: async () => ({ kind: 'shown', channel: 'C0DOCS', ts: '1.1' }),
        ...changes.outbox,
      },
    });
  }

  return {
    contextWith,
    runs,
    text: (run: ExportRun, part: string) => published.get(`${run.id}.${part}`)?.message.text,
    published,

    async given(changes: Partial<ExportRun>): Promise<ExportRun> {
      const run = aRun({ rev: 1, ...changes });
      await runs.accept(run, { deadlineMs: (await runs.timeMs()) + 10_000, claimMs: HOUR_MS });
      return run;
    },

    /** Steps the run until it is to be stepped later or is done; returns the last outcome. */
    async step(run: ExportRun, context: JobContext) {
      for (;;) {
        const inMs = await stepJob(exportJob, run.id, context);
        if (inMs !== 0) return inMs;
      }
    },

    stored: (run: ExportRun) => runs.load(run.id, exportRun),
  };
}

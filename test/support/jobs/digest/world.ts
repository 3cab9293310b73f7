import type { Redis } from 'ioredis';
import { onTestFinished } from 'vitest';
import {
  createStandInPlatform,
  type StandInPlatform,
  type StandInPlatformOptions,
} from '../../../../demo/docs-platform/platform.ts';
import { createDocsApi } from '../../../../src/docs-api/client.ts';
import type { JobContext } from '../../../../src/jobs/engine/context.ts';
import type { Job } from '../../../../src/jobs/engine/job.ts';
import type { RunBase } from '../../../../src/store/runs.ts';
import { aProject } from '../../commands/builders.ts';
import { type JobContextParts, jobContext, stepJob } from '../world.ts';

/** The real jobs of digests with a real Redis and the stand-in platform, at a clock that tests move. */
export interface DigestWorld {
  context: JobContext;
  platform: StandInPlatform;
  nowMs: number;
  /** Accepts a run as a command or a job does. */
  accept(run: RunBase): Promise<void>;
  /** Steps a run until it rests, moving the clock by what it waits for, `maxMs` at most in all. Returns the time spent. */
  drive(job: Job, runId: string, maxMs?: number): Promise<number>;
}

export async function digestWorld(
  redis: Redis,
  startMs: number,
  options: { platform?: StandInPlatformOptions; context?: JobContextParts } = {},
): Promise<DigestWorld> {
  const now = () => world.nowMs;
  const platform = createStandInPlatform({ analyticsPerHour: 1_000_000, ...options.platform, nowMs: now });
  const server = await platform.listen();
  const docs = createDocsApi({
    baseUrl: server.url,
    apiKey: platform.apiKey,
    timeoutMs: 5000,
  });
  onTestFinished(async () => {
    await docs.close();
    await server.close();
  });
  const world: DigestWorld = {
    nowMs: startMs,
    platform,
    context: jobContext(redis, {
      docs: () => docs,
      projects: [aProject({ name: 'acme', projectId: platform.projectId })],
      now,
      ...options.context,
      limits: { analyticsPerHour: 10_000, ...options.context?.limits },
    }),
    async accept(run) {
      await world.context.store.runs.accept(run);
    },
    async drive(job, runId, maxMs = 10 * 24 * 3_600_000) {
      let spentMs = 0;
      for (;;) {
        const inMs = await stepJob(job, runId, world.context);
        if (inMs === undefined || spentMs + inMs > maxMs) return spentMs;
        spentMs += inMs;
        world.nowMs += inMs;
      }
    },
  };
  return world;
}

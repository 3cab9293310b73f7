import { subscribe } from 'node:diagnostics_channel';
import { Job } from 'bullmq';
import { startApp } from '../../src/app.ts';
import { allowGrowth } from '../../src/config/node.ts';
import { readSettings, secretsOf } from '../../src/config/settings.ts';
import { createLog } from '../../src/runtime/log.ts';
import type { Timing } from '../../src/runtime/timing.ts';
import { serve } from './remote.ts';

/**
 * Docket with more polls a second than its settings allow, which says how late its polls are: from the moment for which
 * BullMQ was told to wake a run to the moment its request leaves. The id of a run is that of its export job.
 */
const PER_SECOND = 1000;
const settings = readSettings(process.env);
const timing: Partial<Timing> = JSON.parse(process.env.TIMING ?? '{}');
const log = createLog('warn', secretsOf(settings));

const plannedMs = new Map<string, number>();
let latenesses: number[] = [];
const moveToDelayed = Job.prototype.moveToDelayed;
Job.prototype.moveToDelayed = function (this: Job, atMs, token) {
  const { id } = this.data;
  // A run that waits for its turn is planned anew; what counts is the first plan since its last poll.
  if (!plannedMs.has(id)) plannedMs.set(id, atMs);
  return moveToDelayed.call(this, atMs, token);
};
subscribe('undici:client:sendHeaders', (message) => {
  const { path } = (message as { request: { path: string } }).request;
  const id = path.split('/').at(-1) ?? '';
  const atMs = plannedMs.get(id);
  if (atMs === undefined) return;
  plannedMs.delete(id);
  latenesses.push(Date.now() - atMs);
});

const limits = { ...settings.limits, exportStatusPerSecond: PER_SECOND };
const app = await startApp({ ...settings, limits }, { log, timing });
allowGrowth();

const handlers = {
  port: () => app.port,
  /** Hands back what is at work. */
  end: () => app.stop(),
  /** Returns the latenesses since it was asked last, in milliseconds. */
  lateness() {
    const list = latenesses;
    latenesses = [];
    return list;
  },
};

export type LiftedProcess = typeof handlers;
serve(handlers);

import { createStandInPlatform } from '../../demo/docs-platform/platform.ts';
import { createMovedTime } from './moved-clock.ts';
import { serve } from './remote.ts';

/** The platform in a process of its own, at a time that can be moved: exports and instructions are done at once. */
const time = createMovedTime();
const domains: string[] = [];
const platform = createStandInPlatform({
  nowMs: time.now,
  domains,
  followUpsPerHour: 1_000_000,
  exportPlan: { durationMs: 100 },
  agentPlan: { durationMs: 100 },
});
let address: { url: string } | undefined;

const handlers = {
  async listen() {
    address ??= await platform.listen();
    return { url: address.url, apiKey: platform.apiKey, projectId: platform.projectId };
  },
  move: time.move,
  /** Forgets all exports and jobs, and has these sites exported and these jobs followed. Returns the ids of the jobs. */
  renew(sites: string[], refs: string[]): string[] {
    platform.domains.splice(0, platform.domains.length, ...sites);
    for (const list of [platform.starts, platform.wire.calls]) list.splice(0);
    for (const jobId of [...platform.exports.keys()]) platform.forget(jobId);
    platform.agent.clear();
    return refs.map((ref) => platform.agent.add({ ref }));
  },
  /** How many instructions were taken since. */
  taken: () => platform.agent.messages.length,
};

export type FlatPlatformProcess = typeof handlers;
serve(handlers);

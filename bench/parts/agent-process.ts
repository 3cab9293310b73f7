import { setTimeout as pause } from 'node:timers/promises';
import { createStandInPlatform } from '../../demo/docs-platform/platform.ts';
import { serve, sharedMs } from './remote.ts';

/** The platform in a process of its own, which says when each instruction and each poll of an export came. */
const SEND = 'POST /v2/agent/{projectId}/job/{jobId}/message';
const POLL = 'GET /v1/static-export/jobs/{jobId}';
const MARKED = /^n\d+ please/;
/** Domains of exports that can be started. */
const DOMAINS = 5000;
const EXPORT_MS = 4 * 3_600_000;

// An agent works for minutes: no round ends while it is measured.
const domains = Array.from({ length: DOMAINS }, (_, index) => `site-${index}.acme.com`);
const platform = createStandInPlatform({
  domains,
  followUpsPerHour: 100_000,
  agentPlan: { durationMs: 900_000 },
  // For its first minutes, a number below one would be read as a fraction: each job would seem to end soon.
  exportPlan: { durationMs: EXPORT_MS, pages: 20_000, progress: 'percent-text' },
});
const arrived: Record<string, number> = {};
let [polls, pollMs] = [0, 0];
platform.wire.onCall(async (call, phase) => {
  if (phase !== 'before') return;
  if (call.name === POLL) {
    polls += 1;
    if (pollMs > 0) await pause(pollMs);
  }
  if (call.name !== SEND) return;
  const { prompt } = call.detail.body as { prompt: string };
  const marked = MARKED.exec(prompt)?.[0];
  if (marked !== undefined) arrived[marked] ??= sharedMs();
});
let address: { url: string } | undefined;

const handlers = {
  async listen() {
    address ??= await platform.listen();
    return { url: address.url, apiKey: platform.apiKey, projectId: platform.projectId };
  },
  addJob: (ref: string): string => platform.agent.add({ ref }),
  /** Starts so many exports, which run for hours, and returns their ids. */
  async startExports(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (const domain of domains.slice(0, count)) {
      const answer = await fetch(`${address?.url}/v1/static-export/jobs`, {
        method: 'POST',
        headers: { authorization: `Bearer ${platform.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ domain }),
      });
      const { jobId } = (await answer.json()) as { jobId: string };
      ids.push(jobId);
    }
    return ids;
  },
  /** Has each poll of an export take so long. */
  slowPolls(ms: number) {
    pollMs = ms;
  },
  /** How many polls of exports came. */
  polls: () => polls,
  /** When each marked instruction came, by its beginning. */
  arrivals: () => arrived,
  /** How many instructions were taken. */
  taken: () => platform.agent.messages.length,
};

export type AgentProcess = typeof handlers;
serve(handlers);

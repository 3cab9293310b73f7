import type { RateLimit } from '../../../store/rate-limit.ts';

/** Polls that are let through at once; what a worker's late wake-up left unused is made up for. */
const BURST = 2;

/** The polls of agent jobs with one API key, which `key` names without giving it away. All processes share them. */
export const agentPollLimit = (key: string, perSecond: number): RateLimit => ({
  name: `agent-status:${key}`,
  count: perSecond * 60,
  windowMs: 60_000,
  burst: BURST,
});

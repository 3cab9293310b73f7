import type { ThreadPlace } from '../store/threads.ts';

/**
 * Returns the further name (`runs.alias`) of a run under whose message people may talk: nothing that they write there
 * instructs the agent, and no job can be followed there.
 */
export const closedThreadName = ({ teamId, channel, rootTs }: ThreadPlace) =>
  ['closed-thread', teamId, channel, rootTs].join(' ');

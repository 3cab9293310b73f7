import { formatCount } from '../../slack/text.ts';
import { runBase } from '../../store/runs.ts';
import { defineHomeRuns, type Feature } from '../feature.ts';
import { hourlyUsageText, statusLine } from '../wording-view.ts';
import { followUpLimit } from './thread/follow-up-limit.ts';
import { type ThreadRun, threadRun } from './thread/record.ts';
import { threadLine, threadPermalink } from './thread/view.ts';

/** Followed threads of the workspace, the latest first, among which those of one person are looked for. */
const MAX_FOLLOWED = 300;

export const agentFeature: Feature = {
  command: '/docs-agent',
  permission: { name: 'agent', may: 'Instruct the docs agent', cannot: 'instruct the docs agent' },

  homeRuns: defineHomeRuns<ThreadRun>({
    job: 'agent-thread',
    record: threadRun,
    // What somebody asked for is forgotten in time; a thread that they follow is not.
    lasting: async (teamId, { threads }) => (await threads.followed(teamId)).slice(0, MAX_FOLLOWED),
    entry(thread, userId, { workspaceUrl }) {
      // A thread that ended has nothing to come back to.
      if (thread.owner.id !== userId || thread.state === 'ended') return undefined;
      const url = workspaceUrl();
      return { line: async () => threadLine(thread, url && threadPermalink(thread, url)) };
    },
  }),

  async needsKey(teamId, projects, { runs, threads }) {
    const ids = (await threads.followed(teamId)).slice(0, MAX_FOLLOWED);
    const found = (await runs.loadAll(ids, runBase.loose())).flatMap((run) => {
      const read = threadRun.safeParse(run);
      return read.success && projects.includes(read.data.project) ? read.data.instructions : [];
    });
    // Sent to the platform, whose answer cannot be had, or next.
    const waits = found.filter(({ state }) => state === 'waiting' || state === 'working');
    return { count: waits.length, what: 'instruction' };
  },

  async limits(_, { projects, limits, rateLimiter }) {
    const perHour = limits.followUpsPerHour;
    // Without an id a project has no agent.
    const withAgent = projects.filter(({ projectId }) => projectId !== undefined);
    return Promise.all(
      withAgent.map(async ({ name }) => {
        const usage = await rateLimiter.usage(followUpLimit(name, perHour));
        const where = withAgent.length > 1 ? ` in ${name}` : '';
        const text = `instructions to the docs agent${where}: ${hourlyUsageText(usage, perHour)}`;
        return { text, waiting: usage?.waiting ?? 0 };
      }),
    );
  },

  status: {
    async lines(teamId, _, { threads }) {
      const { length } = await threads.followed(teamId);
      return [
        statusLine('Agent threads', length === 0 ? 'none is followed' : `${formatCount(length)} followed`),
      ];
    },
    unknown: [statusLine('Agent threads', "can't be counted right now")],
  },
};

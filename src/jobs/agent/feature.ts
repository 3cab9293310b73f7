import { projectsWithId } from '../../projects.ts';
import { formatCount } from '../../slack/text.ts';
import { defineHomeRuns, type Feature, isNeedOf } from '../feature.ts';
import { pollRateLimits } from '../polling.ts';
import { hourlyLimit, statusLine } from '../wording-view.ts';
import { threadNeeds } from './thread/ephemeral-view.ts';
import { instructButton } from './thread/messages-view.ts';
import { listedThread, type ThreadRun, threadKind, threadRun } from './thread/record.ts';
import { followUpLimit } from './thread/send.ts';
import { threadLine, threadPermalink } from './thread/view.ts';

/** Maximum number of threads loaded for a person's Home, or to count work that waits for a key. */
const MAX_LOADED = 300;

/**
 * Returns ids of the threads that need this person, then of those that they follow, latest first. A person's request
 * expires; a thread that they follow does not.
 */
function ownThreads(listed: readonly unknown[], userId: string): string[] {
  const threads = listed.flatMap((entry) => listedThread.safeParse(entry).data ?? []);
  const needing = threads.filter(({ needs = [] }) => needs.some((need) => isNeedOf(need, userId)));
  const followed = threads.filter(({ owner, state }) => owner.id === userId && state !== 'ended');
  return [...new Set([...needing, ...followed].map(({ id }) => id))].slice(0, MAX_LOADED);
}

export const agentFeature: Feature = {
  permission: { name: 'agent', may: 'Instruct the docs agent', cannot: 'instruct the docs agent' },

  homeRuns: defineHomeRuns<ThreadRun>({
    job: 'agent-thread',
    title: 'What you follow',
    ...threadKind,
    needs: threadNeeds,
    lasting: async (teamId, userId, { threads }) => ownThreads(await threads.followedIndex(teamId), userId),
    entry(thread, userId, { workspaceUrl }) {
      // An ended thread has nothing to show.
      if (thread.owner.id !== userId || thread.state === 'ended') return undefined;
      return { line: async () => threadLine(thread, threadPermalink(thread, workspaceUrl()), userId) };
    },
  }),

  async needsKey(teamId, projects, { runs, threads }) {
    const ids = (await threads.followed(teamId)).slice(0, MAX_LOADED);
    const found = (await runs.loadAll(ids, threadRun)).filter(({ project }) => projects.includes(project));
    // Instructions that wait, or that work and cannot be polled.
    const waits = found
      .flatMap(({ instructions }) => instructions)
      .filter(({ state }) => state === 'waiting' || state === 'working');
    return { count: waits.length, what: 'instruction' };
  },

  begin: {
    button: instructButton,
    how: 'Instruct the docs agent: its job gets a thread, and replies there instruct it further.',
  },

  limits: (_, { projects, limits: { followUpsPerHour: perHour, exportStatusPerSecond } }) => [
    ...projectsWithId(projects).map(({ name }, _index, { length }) => {
      const where = length > 1 ? ` in ${name}` : '';
      const what = `instructions to the docs agent${where}`;
      return hourlyLimit(followUpLimit(name, perHour), what, `instructions${where}`);
    }),
    ...pollRateLimits('agent-status', projects, exportStatusPerSecond),
  ],

  status: {
    async lines(teamId, _, { threads }) {
      const { length } = await threads.followed(teamId);
      return [
        statusLine('Agent threads', length === 0 ? 'none followed' : `${formatCount(length)} followed`),
      ];
    },
    unknown: [statusLine('Agent threads', "can't be counted right now")],
  },
};

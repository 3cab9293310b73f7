import { projectsWithId } from '../../projects.ts';
import { joinParts } from '../../slack/blocks.ts';
import { countOf, formatCount } from '../../slack/text.ts';
import { pollRateLimits } from '../engine/polling.ts';
import { defineHomeRuns, type Feature, isNeedOf } from '../shared/feature.ts';
import { hourlyLimit, statusLine } from '../shared/wording-view.ts';
import { threadNeeds } from './thread/ephemeral-view.ts';
import { instructButton } from './thread/messages-view.ts';
import { jobName } from './thread/phrases.ts';
import { type ListedThread, listThreads, type ThreadRun, threadKind, threadRun } from './thread/record.ts';
import { hourlyLimitOf } from './thread/send.ts';
import { isReady, threadLine, threadPermalink } from './thread/view.ts';

/** Maximum number of threads loaded for a person's Home, or to count work that waits for a key. */
const MAX_LOADED = 300;

/** Ready threads that Home links to. */
const MAX_FOLDED = 10;

/**
 * Returns ids of the threads that need this person, then of those that they follow, latest first. A person's request
 * expires; a thread that they follow does not.
 */
function ownThreads(threads: readonly ListedThread[], userId: string): string[] {
  const needing = threads.filter(({ needs = [] }) => needs.some((need) => isNeedOf(need, userId)));
  const followed = threads.filter(({ owner, state }) => owner.id === userId && state !== 'ended');
  return [...new Set([...needing, ...followed].map(({ id }) => id))].slice(0, MAX_LOADED);
}

export const agentFeature: Feature = {
  permission: { name: 'agent', cannot: 'ask the docs agent' },

  homeRuns: defineHomeRuns<ThreadRun>({
    job: 'agent-thread',
    title: 'Running now',
    ...threadKind,
    needs: threadNeeds,
    further: async (teamId, userId, { runs }) => ownThreads(await listThreads(runs, teamId), userId),
    entry(thread, userId, { workspaceUrl }) {
      // An ended thread has nothing to show.
      if (thread.owner.id !== userId || thread.state === 'ended') return undefined;
      const link = threadPermalink(thread, workspaceUrl());
      const label = jobName(thread);
      return {
        ...(isReady(thread) && { short: link === undefined ? label : { link, label } }),
        line: async () => threadLine(thread, link, userId),
      };
    },
    fold: (threads) => [
      '✅ ',
      { bold: 'Ready' },
      ` · ${countOf(threads.length, 'thread')}: `,
      ...joinParts(threads.slice(0, MAX_FOLDED).map((thread) => [thread])),
      threads.length > MAX_FOLDED ? ` and ${formatCount(threads.length - MAX_FOLDED)} more` : '',
    ],
  }),

  async needsKey(teamId, projects, { runs, threads }) {
    const ids = (await threads.followed(teamId)).slice(0, MAX_LOADED);
    const found = (await runs.loadAll(ids, threadRun)).filter(({ project }) => projects.includes(project));
    // Instructions that wait, or that work and cannot be polled.
    const waits = found
      .flatMap(({ instructions }) => instructions)
      .filter(({ state }) => state === 'waiting' || state === 'working');
    return { count: waits.length, what: 'request' };
  },

  begin: {
    button: instructButton,
    how: 'Ask the docs agent: its job gets a thread, where replies ask for more.',
  },

  limits: (_, { projects, limits: { followUpsPerHour: perHour, exportStatusPerSecond } }) => [
    ...projectsWithId(projects).flatMap(({ name }, _index, { length }) => {
      const where = length > 1 ? ` in ${name}` : '';
      const what = `requests to the docs agent${where}`;
      const followUps = hourlyLimit(hourlyLimitOf(false, name, perHour), what, `requests${where}`);
      return [followUps, { limit: hourlyLimitOf(true, name, perHour) }];
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

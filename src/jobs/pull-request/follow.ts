import type { ThreadRun } from '../agent/thread/record.ts';
import type { StrandResult } from '../agent/thread/strand.ts';
import type { JobContext } from '../engine/context.ts';
import { save } from '../engine/job.ts';
import { newPullRequest, pullRequestEvents } from './record.ts';

/** Follows the pull request of a round that has ended with one, if the settings have its host. */
export async function followPullRequest(thread: ThreadRun, context: JobContext): StrandResult {
  const { id, teamId, project, owner, asked, inDirectMessage, place, rounds } = thread;
  const host = context.gitHost(project);
  if (host === undefined || place === undefined) return undefined;
  for (const round of rounds) {
    const { n, ending, pullRequest, last, authors, final } = round;
    const { prLink: link = '', atMs = 0 } = ending ?? {};
    // The latest round alone shows its state.
    const isLatest = rounds.findLast((one) => one.ending?.prLink === link) === round;
    const found = final || pullRequest || !isLatest ? undefined : host.parse(link);
    if (found === undefined) continue;
    const author = last?.by ?? authors[0] ?? owner;
    const about = { teamId, project, link, thread: id, round: n, author, owner };
    const { channel, isPublic } = asked;
    const where = { asked: { channel, isPublic }, inDirectMessage, place };
    const run = newPullRequest({ ...found, ...about, ...where, openedAtMs: atMs }, context.now());
    const { kind } = await context.store.runs.accept(run);
    if (kind === 'repeated')
      await context.sendEvent(
        pullRequestEvents,
        run.id,
        { kind: 'round', round: n, author, atMs },
        `round ${n}`,
      );
    await context.wake(run);
    const next = rounds.map((one) => {
      if (one === round) return { ...one, pullRequest: { run: run.id } };
      return one.pullRequest?.run === run.id ? { ...one, pullRequest: undefined } : one;
    });
    return save({ ...thread, rounds: next });
  }
  return undefined;
}

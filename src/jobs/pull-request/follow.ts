import type { ThreadRun } from '../agent/thread/record.ts';
import type { StrandResult } from '../agent/thread/strand.ts';
import type { JobContext } from '../engine/context.ts';
import { save } from '../engine/job.ts';
import { newPullRequest, pullRequestEvents, pullRequestId } from './record.ts';

/** Follows the pull request of a round that has ended with one, if the settings have its host. */
export async function followPullRequest(thread: ThreadRun, context: JobContext): StrandResult {
  const { id, teamId, project, owner, asked, inDirectMessage, place, rounds } = thread;
  const host = context.gitHost(project);
  if (host === undefined || place === undefined) return undefined;
  const idOfLink = (link: string) => {
    const parsed = host.parse(link);
    return parsed && pullRequestId(id, parsed.repository, parsed.number);
  };
  for (const round of rounds) {
    const { n, ending, pullRequest, last, authors, found: isFound, final } = round;
    const { prLink: link = '', atMs = 0 } = ending ?? {};
    const found = final || pullRequest ? undefined : host.parse(link);
    if (found === undefined) continue;
    // The latest round alone shows its state. Its address may be spelled in several ways.
    const latest = rounds.findLast((one) => idOfLink(one.ending?.prLink ?? '') === idOfLink(link));
    if (latest !== round) continue;
    const author = last?.by ?? authors[0] ?? owner;
    // Only a round with a message about its ending has a request of this thread.
    const isQuiet = last === undefined && !(isFound && authors.length > 0);
    const about = { teamId, project, link, thread: id, round: n, author, isQuiet, owner };
    const { channel, isPublic } = asked;
    const where = { asked: { channel, isPublic }, inDirectMessage, place };
    const run = newPullRequest({ ...found, ...about, ...where, openedAtMs: atMs }, context.now());
    const { kind } = await context.store.runs.accept(run);
    if (kind === 'repeated')
      await context.sendEvent(
        pullRequestEvents,
        run.id,
        { kind: 'round', round: n, author, isQuiet, atMs },
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

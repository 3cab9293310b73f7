import { DocsApiError } from '../../docs-api/errors.ts';
import { SlackApiError } from '../../slack/errors.ts';
import { createBundleLink, shouldRetryLink } from '../bundle-link.ts';
import type { JobContext } from '../context.ts';
import { type Outcome, runAgainIn } from '../job.ts';
import { advance, retryLater, troubleAfter } from './advance.ts';
import { type Ending, type ExportRun, jobIdOf } from './record.ts';
import { endRun } from './transitions.ts';

/** Has the platform make a download link of the completed export. */
export async function createDownloadLink(run: ExportRun, context: JobContext): Promise<Outcome> {
  if (context.now() < run.nextLookAtMs) return runAgainIn(run.nextLookAtMs - context.now());
  const endWithoutLink = (reason: Pick<Extract<Ending, { kind: 'noLink' }>, 'why' | 'adminsTold'>) =>
    advance(run, endRun(run, { kind: 'noLink', ...reason }, context.now()), context);
  const docs = context.docs(run.project);
  if (docs === undefined) return endWithoutLink({ why: 'project' });
  const { alone } = run;
  if (alone === undefined) return decideRecipient(run, context);
  try {
    const link = `${run.id}.${run.attempt}.${run.resumed}.${run.relinked}`;
    const created = await createBundleLink(docs, jobIdOf(run), link, context);
    return advance(run, endRun(run, { kind: 'done', ...created, privately: alone }, context.now()), context);
  } catch (error) {
    if (!(error instanceof DocsApiError)) throw error;
    if (error.kind === 'aborted') return runAgainIn(0);
    const trouble = troubleAfter(run, error, context);
    if (trouble.kind === 'key')
      return endWithoutLink({ why: 'key', adminsTold: await context.alertAdmins(run.teamId, run.project) });
    return shouldRetryLink(error, trouble.nextMs, run.sinceMs, context)
      ? retryLater(run, trouble, context)
      : endWithoutLink({});
  }
}

/**
 * Decides whether the link is not for everybody in the thread: it was asked for like that, or people of other
 * organizations read along. It is asked anew for each link, since channels change; where Slack does not tell for long,
 * the link is taken to be for the requester alone.
 */
async function decideRecipient(run: ExportRun, context: JobContext): Promise<Outcome> {
  const { slack, timing, now, random, log } = context;
  // A direct message that takes the bot's card is the requester's own with the bot.
  const isDirectMessage = run.inDirectMessage || run.asked.channel.startsWith('D');
  if (isDirectMessage || run.privately) return advance(run, { alone: !isDirectMessage }, context);
  try {
    const { shared } = await slack.channel(run.asked.channel);
    return advance(run, { alone: shared }, context);
  } catch (error) {
    if (!(error instanceof SlackApiError)) throw error;
    // Whoever comes back at the time that was named keeps the place in the line.
    const retryAfterMs = error.kind === 'limited' ? error.retryAfterMs : undefined;
    const isTransient = ['limited', 'unreachable', 'unclear'].includes(error.kind);
    // As long again as it has taken so far: the pauses double without a count of them.
    const pauseMs = Math.min(Math.max(now() - run.sinceMs, timing.retryMinMs), timing.retryMaxMs);
    const waitMs = retryAfterMs ?? pauseMs * (0.75 + random() / 2);
    if (isTransient && now() + waitMs <= run.sinceMs + timing.giveUpMs) return runAgainIn(waitMs);
    log.warn({ run: run.id, err: error }, 'Slack does not tell whether the channel is shared');
    return advance(run, { alone: true }, context);
  }
}

import { DocsApiError } from '../../docs-api/errors.ts';
import { SlackApiError } from '../../slack/errors.ts';
import { createBundleLink, shouldRetryLink } from '../bundle-link.ts';
import type { JobContext } from '../context.ts';
import { runAgainIn } from '../job.ts';
import { growingPauseMs, nextFailure } from '../retry.ts';
import { type StepResult, saveAs } from '../run-job.ts';
import { type Ending, type ExportRun, jobIdOf } from './record.ts';
import { endRun, withFailure } from './transitions.ts';

/** Requests a download link for the completed export. */
export async function createDownloadLink(
  run: ExportRun,
  context: JobContext,
): Promise<StepResult<ExportRun>> {
  const { now } = context;
  if (now() < run.nextPollAtMs) return runAgainIn(run.nextPollAtMs - now());
  const endWithoutLink = (details: Omit<Extract<Ending, { kind: 'noLink' }>, 'kind'>) =>
    saveAs(endRun(run, { kind: 'noLink', ...details }, now()));
  const docs = context.docs(run.project);
  if (docs === undefined) return endWithoutLink({ why: 'project' });
  const { alone } = run;
  if (alone === undefined) return decideRecipient(run, context);
  try {
    const link = `${run.id}.${run.attempt}.${run.resumed}.${run.relinked}`;
    const created = await createBundleLink(docs, jobIdOf(run), link, context);
    return saveAs(endRun(run, { kind: 'done', ...created, privately: alone }, now()));
  } catch (error) {
    if (!(error instanceof DocsApiError)) throw error;
    if (error.kind === 'aborted') return runAgainIn(0);
    const trouble = nextFailure(run.pollFailure, error, context);
    if (trouble.kind === 'key')
      return endWithoutLink({ why: 'key', adminsTold: await context.alertAdmins(run.teamId, run.project) });
    if (shouldRetryLink(error, trouble.nextMs, run.sinceMs, context))
      return saveAs(withFailure(run, trouble), { inMs: trouble.nextMs - now() });
    if (error.kind === 'forbidden') await context.alertAdmins(run.teamId, run.project, error);
    return endWithoutLink({ reason: error.platformMessage });
  }
}

/**
 * Decides whether only the requester gets the link: by the request, or because people of other organizations read the
 * thread. It is decided for each link, since channels change. If a channel cannot be looked up for long, only the
 * requester gets it.
 */
async function decideRecipient(run: ExportRun, context: JobContext): Promise<StepResult<ExportRun>> {
  const { slack, timing, now, log } = context;
  const decide = (alone: boolean) => saveAs({ ...run, alone });
  // A direct message that takes the bot's card is between the requester and the bot.
  const isDirectMessage = run.inDirectMessage || run.asked.channel.startsWith('D');
  if (isDirectMessage || run.privately) return decide(!isDirectMessage);
  try {
    const { shared } = await slack.channel(run.asked.channel);
    return decide(shared);
  } catch (error) {
    if (!(error instanceof SlackApiError)) throw error;
    // A request that comes back at the time named keeps its place in the line.
    const retryAfterMs = error.kind === 'limited' ? error.retryAfterMs : undefined;
    const isTransient = ['limited', 'unreachable', 'unclear'].includes(error.kind);
    const waitMs = retryAfterMs ?? growingPauseMs(run.sinceMs, context);
    if (isTransient && now() + waitMs <= run.sinceMs + timing.giveUpMs) return runAgainIn(waitMs);
    log.warn({ run: run.id, err: error }, 'the channel could not be looked up; it counts as shared');
    return decide(true);
  }
}

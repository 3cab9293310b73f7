import { DocsApiError } from '../../docs-api/errors.ts';
import { makeLink, mayComeYet } from '../bundle-link.ts';
import { lookAgainIn, type Outcome } from '../job.ts';
import { advance, troubleAfter, waitOut } from './advance.ts';
import type { ExportContext } from './context.ts';
import { type ExportRun, ended, jobIdOf } from './run.ts';

/** Has the platform make a download link of the completed export. */
export async function bundle(run: ExportRun, context: ExportContext): Promise<Outcome> {
  if (context.now() < run.nextLookAtMs) return lookAgainIn(run.nextLookAtMs - context.now());
  const noLink = () => advance(run, ended(run, { kind: 'noLink' }, context.now()), context);
  const docs = context.docs(run.project);
  if (docs === undefined) return noLink();
  try {
    const link = `${run.id}.${run.attempt}.${run.resumed}.${run.relinked}`;
    const made = await makeLink(docs, jobIdOf(run), link, context);
    // Asked once there is a link, so that tries that give none do not use up Slack's limit.
    const privately = await forRequesterAlone(run, context);
    return advance(run, ended(run, { kind: 'done', ...made, privately }, context.now()), context);
  } catch (error) {
    if (!(error instanceof DocsApiError)) throw error;
    if (error.kind === 'aborted') return lookAgainIn(0);
    const trouble = troubleAfter(run, error, context);
    if (trouble.kind === 'key') await context.tellAdmins(run.teamId, run.project);
    return mayComeYet(error, trouble.nextMs, run.sinceMs, context)
      ? waitOut(run, trouble, context)
      : noLink();
  }
}

/**
 * Whether the link is not for everybody in the thread: it was asked for like that, or people of other organizations
 * read along. Where Slack does not tell, it is taken to be so.
 */
async function forRequesterAlone(run: ExportRun, { slack, log }: ExportContext): Promise<boolean> {
  // A direct message that takes the bot's card is the requester's own with the bot.
  if (run.inDirectMessage || run.asked.channel.startsWith('D')) return false;
  if (run.privately) return true;
  try {
    return (await slack.channel(run.asked.channel)).shared;
  } catch (error) {
    log.warn({ run: run.id, err: error }, 'Slack does not tell whether the channel is shared');
    return true;
  }
}

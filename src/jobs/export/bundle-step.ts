import { DocsApiError } from '../../docs-api/errors.ts';
import { SlackApiError } from '../../slack/errors.ts';
import { makeLink, mayComeYet } from '../bundle-link.ts';
import { lookAgainIn, type Outcome } from '../job.ts';
import { advance, troubleAfter, waitOut } from './advance.ts';
import type { ExportContext } from './context.ts';
import { type Ending, type ExportRun, ended, jobIdOf } from './record.ts';

/** Has the platform make a download link of the completed export. */
export async function bundle(run: ExportRun, context: ExportContext): Promise<Outcome> {
  if (context.now() < run.nextLookAtMs) return lookAgainIn(run.nextLookAtMs - context.now());
  const noLink = (reason: Pick<Extract<Ending, { kind: 'noLink' }>, 'why' | 'adminsTold'>) =>
    advance(run, ended(run, { kind: 'noLink', ...reason }, context.now()), context);
  const docs = context.docs(run.project);
  if (docs === undefined) return noLink({ why: 'project' });
  const { alone } = run;
  if (alone === undefined) return decideForWhom(run, context);
  try {
    const link = `${run.id}.${run.attempt}.${run.resumed}.${run.relinked}`;
    const made = await makeLink(docs, jobIdOf(run), link, context);
    return advance(run, ended(run, { kind: 'done', ...made, privately: alone }, context.now()), context);
  } catch (error) {
    if (!(error instanceof DocsApiError)) throw error;
    if (error.kind === 'aborted') return lookAgainIn(0);
    const trouble = troubleAfter(run, error, context);
    if (trouble.kind === 'key')
      return noLink({ why: 'key', adminsTold: await context.tellAdmins(run.teamId, run.project) });
    return mayComeYet(error, trouble.nextMs, run.sinceMs, context)
      ? waitOut(run, trouble, context)
      : noLink({});
  }
}

/**
 * Decides whether the link is not for everybody in the thread: it was asked for like that, or people of other
 * organizations read along. It is asked anew for each link, since channels change; where Slack does not tell for long,
 * the link is taken to be for the requester alone.
 */
async function decideForWhom(run: ExportRun, context: ExportContext): Promise<Outcome> {
  const { slack, timing, now, random, log } = context;
  // A direct message that takes the bot's card is the requester's own with the bot.
  const isOwn = run.inDirectMessage || run.asked.channel.startsWith('D');
  if (isOwn || run.privately) return advance(run, { alone: !isOwn }, context);
  try {
    const { shared } = await slack.channel(run.asked.channel);
    return advance(run, { alone: shared }, context);
  } catch (error) {
    if (!(error instanceof SlackApiError)) throw error;
    // Whoever comes back at the time that was named keeps the place in the line.
    const inMs = error.kind === 'limited' ? error.retryAfterMs : undefined;
    const passing = ['limited', 'unreachable', 'unclear'].includes(error.kind);
    // As long again as it has taken so far: the pauses double without a count of them.
    const pauseMs = Math.min(Math.max(now() - run.sinceMs, timing.retryMinMs), timing.retryMaxMs);
    const waitMs = inMs ?? pauseMs * (0.75 + random() / 2);
    if (passing && now() + waitMs <= run.sinceMs + timing.giveUpMs) return lookAgainIn(waitMs);
    log.warn({ run: run.id, err: error }, 'Slack does not tell whether the channel is shared');
    return advance(run, { alone: true }, context);
  }
}

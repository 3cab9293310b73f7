import { type ButtonParts, type Message, message } from '../../slack/blocks.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import { cut, formatDuration, singleLine } from '../../slack/text.ts';
import { nameTo, wordInSentence } from '../wording-view.ts';
import { onlyPages, percentOf, runButtonOf, shownStateOf, site, troubleLine } from './progress-view.ts';
import { type ExportRun, exportActions, type UseDomain } from './record.ts';

/** To the requester, if the card could not be posted in their conversation. */
export const noPlaceMessage = ({ asked }: ExportRun, code: string): Message =>
  asked.joinable && (code === 'not_in_channel' || code === 'channel_not_found')
    ? message([
        [
          "I can't post here yet, so nothing was started. Type ",
          { code: '/invite @Docket' },
          ', then run the command again.',
        ],
      ])
    : message([
        [
          `Slack doesn't let me post here (${code}), so nothing was started. Run the command in another channel.`,
        ],
      ]);

const confirmSecond = {
  title: 'Start another?',
  text: 'A second export of the same pages will run at the same time.',
  yes: 'Start another',
  no: 'Cancel',
};

/** Opens a run's thread; `thread` is its card's address, if the person can open it. */
export const threadButtons = (thread: string | undefined): ButtonParts[] =>
  thread === undefined ? [] : [{ label: 'Open thread', action: exportActions.openThread, url: thread }];

/**
 * To `readerId`, who requests a running export. `thread` is its card's address, `mayFollow` whether they can read its
 * messages, `request` the id of their request.
 */
export function runningMessage(
  run: ExportRun,
  nowMs: number,
  { thread, mayFollow, readerId }: { thread: string | undefined; mayFollow: boolean; readerId?: string },
  request: string,
): Message {
  const open = threadButtons(thread);
  const by = nameTo(readerId, run.requester);
  if (run.state === 'unknown') {
    const answer = mayFollow
      ? 'Answer the question in its thread first.'
      : `Ask ${by} to answer the question about it.`;
    const whose = by === 'you' ? 'your' : `${by}'s`;
    const text = `It's unclear whether ${whose} export of ${site(run)} started, so I won't start another. ${answer}`;
    return message([[text]], open);
  }
  const pages = onlyPages(run);
  const what = pages === undefined ? site(run) : `${site(run)}, ${pages},`;
  const progress = percentOf(run) === undefined ? '' : `${percentOf(run)}, `;
  const how = run.joined
    ? `watched by ${by}`
    : `started by ${by} ${formatDuration(nowMs - run.attemptAtMs)} ago`;
  // A mention does not notify people who cannot read the thread.
  const notify = mayFollow ? [runButtonOf(run, 'Notify me too', exportActions.notify)] : [];
  const parts = { action: exportActions.startAnother, confirm: confirmSecond };
  const another = run.joined ? [] : targetButtons('Start another', { ...run, request }, parts);
  return message(
    [[`${what} is already being exported: ${progress}${how}.`]],
    [...open, ...notify, ...another],
  );
}

/** Returns the button that exports this target; none if the target does not fit into its value. */
export function targetButtons(
  label: string,
  { domain, project, version, paths, privately, request, chosen }: Omit<UseDomain, 'v'>,
  more: Partial<ButtonParts> = {},
): ButtonParts[] {
  const wanted: UseDomain = { v: 1, domain, project, version, paths, privately, request, chosen };
  const value = JSON.stringify(wanted);
  if (value.length > SLACK_LIMITS.buttonValue) return [];
  return [{ label: cut(label, SLACK_LIMITS.buttonText), action: exportActions.useDomain, value, ...more }];
}

/** Answers a click on a message from before the export was started again. */
export const earlierAttemptMessage = message([
  ['That was an earlier attempt. The export has been started again since.'],
]);

/** Answers a late click, or [Refresh] right after a poll or at the rate limit. */
export function unchangedProgressMessage(run: ExportRun): Message {
  const word = wordInSentence(shownStateOf(run));
  if (run.state === 'ended')
    return message([[`Nothing new: ${word}. See the latest message in the thread.`]]);
  if (run.state === 'unknown') return message([[`Still ${word}: it's unclear whether it started.`]]);
  const trouble = troubleLine(run);
  return message([trouble.length > 0 ? trouble : [`Still ${percentOf(run) ?? word}, checked just now.`]]);
}

/** Opens the modal that asks what to export. */
export const exportSiteButton: ButtonParts = {
  label: 'Export a site',
  action: exportActions.ask,
  value: JSON.stringify({ v: 1 }),
};

/** Answers a text that is not a host name. `suggested` is the likely domain, which the buttons take. */
export function badDomainMessage(
  typed: string,
  suggested: string | undefined,
  buttons: ButtonParts[] = [],
): Message {
  const shown = { code: cut(singleLine(typed), 100) };
  if (suggested === undefined)
    return message([[shown, " isn't a host name. Type it like ", { code: 'docs.acme.com' }, '.']]);
  return message([[shown, " isn't a host name. Did you mean ", { code: suggested }, '?']], buttons);
}

/** Offers the export that a mention asked for; `request` is its id. Nothing starts without a click. */
export function exportOffer(
  request: string,
  { site, typed }: { site?: string | undefined; typed?: string | undefined },
): Message {
  if (site === undefined)
    return typed === undefined
      ? message([['Which site? For example: ', { code: '@Docket export docs.acme.com' }]], [exportSiteButton])
      : badDomainMessage(typed, undefined);
  const wanted = { domain: site, privately: false, request };
  const buttons = targetButtons(`Export ${site}`, wanted, { style: 'primary' });
  return typed === undefined
    ? message([[`Export ${site} now?`]], buttons)
    : badDomainMessage(typed, site, buttons);
}

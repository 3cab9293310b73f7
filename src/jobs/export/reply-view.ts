import { type ButtonParts, type Message, message } from '../../slack/blocks.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import { cut, formatDuration, singleLine } from '../../slack/text.ts';
import { nameTo, wordInSentence } from '../wording-view.ts';
import { onlyPages, percent, runButtonOf, shownStateOf, site, troubleLine } from './progress-view.ts';
import { type ExportRun, exportActions, fractionOf, type UseDomain } from './record.ts';

/** To the requester, if the card could not be posted in their conversation. */
export function noPlaceMessage(run: ExportRun, code: string): Message {
  if (run.asked.joinable && (code === 'not_in_channel' || code === 'channel_not_found')) {
    return message([
      [
        "I can't post here yet, so nothing was started. Type ",
        { code: '/invite @Docket' },
        ', then run the command again.',
      ],
    ]);
  }
  return message([
    [`Slack doesn't let me post here (${code}), so nothing was started. Run the command in another channel.`],
  ]);
}

const confirmSecond = {
  title: 'Start another?',
  text: 'A second export of the same pages will run at the same time.',
  yes: 'Start another',
  no: 'Cancel',
};

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
  const open =
    thread === undefined ? [] : [{ label: 'Open thread', action: exportActions.openThread, url: thread }];
  const by = nameTo(readerId, run.requester);
  if (run.state === 'unknown') {
    const answer = mayFollow
      ? 'Answer the question in its thread first.'
      : `Ask ${by} to answer the question about it.`;
    const whose = run.requester.id === readerId ? 'your' : `${by}'s`;
    const text = `It's unclear whether ${whose} export of ${site(run)} started, so I won't start another. ${answer}`;
    return message([[text]], open);
  }
  const fraction = fractionOf(run);
  const progress = fraction === undefined ? '' : `${percent(fraction)}, `;
  // A mention does not notify people who cannot read the thread.
  const notify = mayFollow ? [runButtonOf(run, 'Notify me too', exportActions.notify)] : [];
  const pages = onlyPages(run);
  const what = pages === undefined ? site(run) : `${site(run)}, ${pages},`;
  if (run.joined)
    return message(
      [[`${what} is already being exported: ${progress}watched by ${by}.`]],
      [...open, ...notify],
    );
  const ago = formatDuration(nowMs - run.attemptAtMs);
  const action = exportActions.startAnother;
  const another = targetButtons('Start another', { ...run, request }, { action, confirm: confirmSecond });
  return message(
    [[`${what} is already being exported: ${progress}started by ${by} ${ago} ago.`]],
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
  if (trouble.length > 0) return message([trouble]);
  const fraction = fractionOf(run);
  const progress = fraction === undefined ? word : percent(fraction);
  return message([[`Still ${progress}, checked just now.`]]);
}

/** Opens the modal that asks what to export. */
export const exportSiteButton: ButtonParts = {
  label: 'Export a site',
  action: exportActions.ask,
  value: JSON.stringify({ v: 1 }),
};

/** Answers a text that is not a host name. `suggested` is the likely domain; `use` is the button that takes it. */
export function badDomainMessage(typed: string, suggested: string | undefined, use?: ButtonParts): Message {
  const shown = { code: cut(singleLine(typed), 100) };
  if (suggested === undefined)
    return message([[shown, " isn't a host name. Type it like ", { code: 'docs.acme.com' }, '.']]);
  return message(
    [[shown, " isn't a host name. Did you mean ", { code: suggested }, '?']],
    use === undefined ? [] : [use],
  );
}

/** Answers an unknown domain. `meant` is a known domain that differs in a letter or two. */
export const misspeltMessage = (domain: string, meant: string, buttons: ButtonParts[]): Message =>
  message([[`I don't know ${domain}. Did you mean `, { code: meant }, '? Nothing was started.']], buttons);

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
    : badDomainMessage(typed, site, buttons[0]);
}

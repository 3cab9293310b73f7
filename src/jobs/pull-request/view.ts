import { type ButtonParts, layout, type Message, openThreadLink, type Part } from '../../slack/blocks.ts';
import { countOf, messageUrl, sanitizeUserText } from '../../slack/text.ts';
import {
  buttonUrl,
  LABELS,
  listNames,
  nameTo,
  personName,
  pullRequestPart,
  stateParts,
} from '../shared/wording-view.ts';
import { openedMs, type PullRequestRun, pullRequestActions, stateOf } from './record.ts';
import { PULL_REQUEST_STATES } from './state-view.ts';

const nameOf = ({ link }: PullRequestRun) => pullRequestPart(link, 'pull request');

const firstLine = (label: string, run: PullRequestRun): Part[] => [{ bold: label }, ' · ', nameOf(run)];

function openButton({ link }: PullRequestRun): ButtonParts | false {
  const url = buttonUrl(link);
  return url !== undefined && { label: LABELS.openPullRequest, action: pullRequestActions.open, url };
}

/** The quiet reply at its end. */
export const endedMessage = (run: PullRequestRun): Message => {
  const { icon, label } = PULL_REQUEST_STATES[run.pull?.state === 'merged' ? 'merged' : 'closed'];
  return layout({ icon, lines: [firstLine(label, run)] });
};

/** Mentions the author at most once a day. */
export const failedMessage = (run: PullRequestRun, isMention: boolean): Message =>
  layout({
    icon: '❌',
    mention: isMention ? [run.author] : [],
    lines: [
      firstLine('Checks failed', run),
      listNames((run.details?.failed ?? []).map((name) => sanitizeUserText(name, 60))),
    ],
    small: [`Requested by ${personName(run.author.name)}`],
    buttons: [
      {
        label: 'Ask the agent to fix it',
        action: pullRequestActions.fix,
        value: JSON.stringify({ v: 1, run: run.id }),
      },
      openButton(run),
    ],
  });

/** The one reminder; `mention` is a person or a user group. */
export const reminderMessage = (run: PullRequestRun, mention: string, days: number): Message =>
  layout({
    icon: '⚠️',
    mention: [{ id: mention }],
    lines: [
      firstLine('Waiting for a review', run),
      `Nobody has reviewed it for ${countOf(days, 'working day')}.`,
    ],
    small: [`Requested by ${personName(run.author.name)}`],
    buttons: [openButton(run)],
  });

/** A line in a list that only `readerId` sees. */
export function pullRequestLine(
  run: PullRequestRun,
  readerId: string,
  workspaceUrl: string | undefined,
): Part[] {
  const { state = 'open' } = stateOf(run);
  const { channel, rootTs: ts } = run.place;
  return [
    ...stateParts(PULL_REQUEST_STATES[state]),
    ' · ',
    nameOf(run),
    ' · opened ',
    { time: openedMs(run), format: '{ago}' },
    `, requested by ${nameTo(readerId, run.author)}`,
    ...openThreadLink(workspaceUrl && messageUrl(workspaceUrl, { channel, ts })),
  ];
}

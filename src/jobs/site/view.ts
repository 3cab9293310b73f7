import { type ButtonParts, type Line, layout, type Message, message, type Part } from '../../slack/blocks.ts';
import type { OutboxMessage } from '../../slack/outbox.ts';
import { formatDuration, sanitizeUserText, singleLine } from '../../slack/text.ts';
import { failureLine, targetButtons, WORDS } from '../export/progress-view.ts';
import {
  answeredStart,
  buttonUrl,
  confirmStart,
  nameTo,
  notPermittedText,
  notStartedReason,
  personName,
  platformReasonText,
  type StateWord,
  stateParts,
} from '../wording-view.ts';
import { type SiteEnding, type SiteRun, siteActions } from './record.ts';

/** Such as "preview of agent/quickstart" or "update of docs.acme.com". */
export function subject({ branch, domain, project }: SiteRun): string {
  if (branch !== undefined) return `preview of ${sanitizeUserText(branch, 80)}`;
  return `update of ${sanitizeUserText(domain ?? (project === 'default' ? 'the site' : project), 253)}`;
}

/** The key of the line that shows the state. A line in direct messages is a different message. */
export const lineKey = ({ id, inDirectMessage, thread }: SiteRun) =>
  `${id}.line${inDirectMessage && !thread ? '.dm' : ''}`;

/** Returns every message of a run in its present form. */
export function siteMessages(run: SiteRun): OutboxMessage[] {
  const { id, attempt, state, ending, answer, by, thread, inDirectMessage, asked } = run;
  if (ending?.kind === 'noPlace') return [];
  const inThread = thread && { channel: thread.channel, threadTs: thread.threadTs };
  const place = inThread ?? (inDirectMessage ? { user: by.id } : { channel: asked.channel });
  const below = (name: string, message: Message): OutboxMessage => ({
    ...{ key: `${id}.${name}`, place: inThread ?? { under: lineKey(run) }, kind: 'ending', message },
    fallbackRecipient: by.id,
  });
  const kind = state === 'watching' ? 'progress' : 'state';
  const messages: OutboxMessage[] = [{ key: lineKey(run), place, kind, message: lineMessage(run) }];
  if (state === 'unknown') messages.push(below(`question.${attempt}`, questionMessage(run)));
  if (answer) messages.push(below(`question.${answer.attempt}`, answeredMessage(run, answer)));
  if (ending && ending.kind !== 'left') messages.push(below('end', endingMessage(run, ending)));
  return messages;
}

const buttonOf = ({ id, attempt }: SiteRun, label: string, action: string): ButtonParts => ({
  ...{ label, action },
  value: JSON.stringify({ v: 1, site: id, attempt }),
});

/** The state's word. An unknown state keeps the platform's own word. */
function stateOf({ state, branch, status = 'queued', ending }: SiteRun): StateWord {
  if (ending?.kind === 'done') return { icon: '✅', label: branch === undefined ? 'Updated' : 'Ready' };
  if (ending?.kind === 'failed') return { icon: '❌', label: 'Failed' };
  // Each ended run has an ending.
  if (state !== 'watching') return WORDS[ending?.kind ?? (state as 'unknown')];
  if (status === 'queued') return WORDS.starting;
  const working = branch === undefined ? 'Updating' : 'Building';
  return { icon: '⏳', label: status === 'in_progress' ? working : sanitizeUserText(status, 40) };
}

/** Such as "⏳ Building · preview of agent/quickstart". */
export const stateLine = (run: SiteRun): Part[] => [...stateParts(stateOf(run)), ` · ${subject(run)}`];

/** The one line that is edited until the end. */
function lineMessage(run: SiteRun): Message {
  const { state, status = 'queued', sinceMs: time, startedAtMs = time, by, ending } = run;
  const isBuilt = ending?.kind === 'done' || ending?.kind === 'failed';
  const facts: Part[] = isBuilt ? [` · took ${formatDuration(time - startedAtMs)}`] : [];
  if (state === 'watching' && status !== 'queued') facts.push(' · started ', { time, format: '{ago}' });
  return layout({
    lines: [
      [...stateLine(run), ...facts],
      state !== 'unknown' && failureLine({ ...run, joined: false }, 'it'),
    ],
    small: [`Asked for by ${personName(by.name)}`],
  });
}

/** Says how it ended, and mentions who asked for it. */
function endingMessage(run: SiteRun, ending: Exclude<SiteEnding, { kind: 'left' | 'noPlace' }>): Message {
  const what = subject(run);
  const again = buttonOf(run, 'Try again', siteActions.startAgain);
  // The first build may still run.
  const carefully = [{ ...again, confirm: confirmSecond }];
  const ended = (lines: Line[], small?: Line, buttons: (ButtonParts | false)[] = [again]) =>
    layout({ icon: stateOf(run).icon, mention: [run.by], lines, small: [small], buttons });
  switch (ending.kind) {
    case 'done':
      return run.branch === undefined
        ? ended([`The ${what} is done.`], undefined, exportButtons(run))
        : ended(...previewParts(run));
    case 'failed': {
      const log = ending.log.map((text): Line => [{ code: singleLine(text) }]);
      const small = run.branch !== undefined && 'Your live site is not affected.';
      return ended([`The ${what} failed.`, ...(log.length > 0 ? log : [platformReasonText('')])], small);
    }
    case 'notStarted': {
      const { why, reason = '', contacts = '', adminsAlerted } = ending;
      if (why === 'permission') return ended([notPermittedText('site', contacts)]);
      const because =
        why === 'unsupported' ? unsupportedReason(run) : notStartedReason(why, run, adminsAlerted);
      const reasonLine = singleLine(reason) !== '' && platformReasonText(reason);
      return ended([`The ${what} was not started: ${because}.`, reasonLine]);
    }
    case 'lost':
      return ended([`The platform no longer knows the ${what} (404).`]);
    case 'gaveUp': {
      const after = formatDuration(ending.afterMs);
      const text = `I stopped watching the ${what} after ${after}. It may still finish.`;
      return ended([text], undefined, carefully);
    }
    case 'broken':
      return ended(
        [`Something broke on my side during the ${what}. It may still finish.`],
        `ref ${ending.ref}`,
        carefully,
      );
  }
}

function unsupportedReason({ branch, thread }: SiteRun): string {
  if (branch === undefined) return "this platform doesn't let me make updates";
  // A typed branch may not exist.
  return `${thread ? 'this platform' : 'the platform knows no such branch, or'} doesn't let me make previews`;
}

/** The lines, small print and buttons of a preview that is ready, or older than the agent's work. */
function previewParts(run: SiteRun): [Line[], Line, (ButtonParts | false)[]] {
  const url = buttonUrl(run.previewUrl);
  const primary = { style: 'primary' as const };
  const open: ButtonParts | false = url !== undefined && {
    label: 'Open preview',
    action: siteActions.open,
    url,
  };
  const refresh = { ...buttonOf(run, 'Refresh preview', siteActions.startAgain), ...primary };
  const lines = [
    `The ${subject(run)} is ${run.isOlder ? "older than the agent's last round" : 'ready'}.`,
    url === undefined && 'The platform gave no address of it. Look in its dashboard.',
  ];
  const small = url !== undefined && 'Anyone who has its address may be able to open it.';
  return [lines, small, run.isOlder ? [open, refresh] : [open && { ...open, ...primary }]];
}

const exportButtons = ({ id, domain, project }: SiteRun): ButtonParts[] =>
  domain === undefined ? [] : targetButtons('Export it', { domain, project, privately: false, request: id });

export const questionMessage = (run: SiteRun): Message =>
  layout({
    icon: '⚠️',
    mention: [run.by],
    lines: [`Did the ${subject(run)} start? The platform gave no clear answer.`],
    small: ['Look in its dashboard first: starting again could run it twice.'],
    buttons: [
      { ...buttonOf(run, 'Start again', siteActions.startAgain), confirm: confirmSecond },
      buttonOf(run, 'Leave it', siteActions.leave),
    ],
  });

const confirmSecond = confirmStart('it may run twice');

export const answeredMessage = (run: SiteRun, { action, by }: NonNullable<SiteRun['answer']>): Message =>
  answeredStart(`the ${subject(run)}`, action, by.name);

/** To a person who asks for a preview or an update that another run is making. */
export function runningMessage(run: SiteRun, readerId: string): Message {
  const by = nameTo(readerId, run.by);
  if (run.state !== 'unknown')
    return message([`The ${subject(run)} is already under way, asked for by ${by}.`]);
  const next =
    by === 'you' ? 'Answer the question about it first.' : `Ask ${by} to answer the question about it.`;
  return message([`It's unclear whether the ${subject(run)} started, so I won't start another. ${next}`]);
}

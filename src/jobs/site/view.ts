import {
  type ButtonParts,
  joinParts,
  type Line,
  layout,
  type Message,
  message,
  type Part,
} from '../../slack/blocks.ts';
import type { OutboxMessage } from '../../slack/outbox.ts';
import { andList, formatCount, formatDuration, sanitizeUserText, singleLine } from '../../slack/text.ts';
import {
  answeredStart,
  confirmStart,
  failureLine,
  notStartedReason,
  OPERATION_WORDS,
  startQuestion,
} from '../operation/view.ts';
import { targetButtons } from '../shared/offer-view.ts';
import {
  buttonUrl,
  LABELS,
  nameTo,
  notPermittedText,
  personName,
  platformReasonText,
  type StateWord,
} from '../shared/wording-view.ts';
import { openPreview, type SiteEnding, type SiteRun, siteActions } from './record.ts';

/** The branch of a preview, or the site of an update. */
const target = ({ branch, domain, project }: SiteRun) =>
  branch === undefined
    ? sanitizeUserText(domain ?? (project === 'default' ? 'the site' : project), 253)
    : sanitizeUserText(branch, 80);

const whatOf = ({ branch }: SiteRun) => (branch === undefined ? 'update' : 'preview');

/** Such as "preview of agent/quickstart" or "update of docs.acme.com". */
export const subject = (run: SiteRun) => `${whatOf(run)} of ${target(run)}`;

/** The key of the line that shows the state. A line in direct messages is a different message. */
export const lineKey = ({ id, inDirectMessage, thread }: SiteRun) =>
  `${id}.line${inDirectMessage && !thread ? '.dm' : ''}`;

/** Returns every message of a run in its present form. */
export function siteMessages(run: SiteRun): OutboxMessage[] {
  const { id, attempt, state, ending, answer, by, thread, inDirectMessage, asked } = run;
  if (ending?.kind === 'noPlace') return [];
  const inThread = thread && { channel: thread.channel, threadTs: thread.threadTs };
  const place = inThread ?? (inDirectMessage ? { user: by.id } : { channel: asked.channel });
  const below = (name: string, message: Message) => ({
    key: `${id}.${name}`,
    place: inThread ?? { under: lineKey(run) },
    kind: 'ending' as const,
    message,
    fallbackRecipient: by.id,
  });
  const picture = ending && pictureOf(run, ending);
  const isRefused = ending?.kind === 'notStarted' && ending.why === 'permission';
  const kind = state === 'watching' ? 'progress' : 'state';
  const line: OutboxMessage = { key: lineKey(run), place, kind, message: lineMessage(run) };
  // In a followed thread, its own messages say that the preview is on its way.
  const messages: OutboxMessage[] = thread ? [] : [isRefused ? { ...line, retracted: true } : line];
  if (state === 'unknown') messages.push(below(`question.${attempt}`, questionMessage(run)));
  if (answer) messages.push(below(`question.${answer.attempt}`, answeredMessage(run, answer)));
  // Only the person reads that they may not.
  if (ending && ending.kind !== 'left')
    messages.push({
      ...below('end', endingMessage(run, ending, picture)),
      ...(picture && { fallback: endingMessage(run, ending) }),
      ...(isRefused && { place: { user: by.id } }),
    });
  return messages;
}

const buttonOf = ({ id, attempt }: SiteRun, label: string, action: string): ButtonParts => ({
  label,
  action,
  value: JSON.stringify({ v: 1, site: id, attempt }),
});

/** The state's word. An unknown state keeps the platform's own word. */
function stateOf(run: SiteRun): StateWord {
  const { state, branch, status = 'queued', ending, isOlder } = run;
  const [working, built, failed] =
    branch === undefined
      ? ['Updating', 'Updated', 'Update failed']
      : ['Building preview', 'Preview ready', 'Preview failed'];
  if (ending?.kind === 'done')
    return isOlder ? { icon: '⚠️', label: 'Preview out of date' } : { icon: '✅', label: built };
  if (ending?.kind === 'failed') return { icon: '❌', label: failed };
  if (ending?.kind === 'otherwise')
    return { icon: '➖', label: sanitizeUserText(ending.status, 40), isForeign: true };
  // Each ended run has an ending.
  if (state !== 'watching') return OPERATION_WORDS[ending?.kind ?? (state as 'unknown')];
  if (status === 'queued') return OPERATION_WORDS.starting;
  if (status === 'in_progress') return { icon: '⏳', label: working };
  return { icon: '⏳', label: sanitizeUserText(status, 40), isForeign: true };
}

/** Such as "**Building preview** · agent/quickstart". Where the word says nothing of it, "update of docs.acme.com". */
function headline(run: SiteRun): Part[] {
  const { label, isForeign } = stateOf(run);
  const isBare = !isForeign && /^(?:Preview|Update|Updating|Building)/.test(label);
  return [{ bold: label }, ` · ${isBare ? target(run) : subject(run)}`];
}

/** The same with its emoji, for lists. */
export const stateLine = (run: SiteRun): Part[] => [`${stateOf(run).icon} `, ...headline(run)];

const tookFact = ({ sinceMs, startedAtMs = sinceMs }: SiteRun) =>
  `took ${formatDuration(sinceMs - startedAtMs)}`;

/** The card: one line that is edited until the end, then the result. */
function lineMessage(run: SiteRun): Message {
  const { state, status = 'queued', sinceMs: time, by, ending } = run;
  const isBuilt = ending?.kind === 'done' || ending?.kind === 'failed';
  const isWorking = state === 'watching' && status !== 'queued';
  return layout({
    icon: stateOf(run).icon,
    lines: [
      joinParts([
        headline(run),
        isBuilt && tookFact(run),
        isWorking && ['started ', { time, format: '{ago}' }],
      ]),
      state !== 'unknown' && failureLine(run, run.startedAtMs !== undefined, 'it'),
    ],
    small: [`Requested by ${personName(by.name)}`],
    buttons: ending?.kind === 'done' ? resultButtons(run) : [],
  });
}

/** A picture of the latest work. */
const pictureOf = (run: SiteRun, ending: SiteEnding) =>
  ending.kind === 'done' && !run.isOlder && ending.picture !== undefined
    ? { url: ending.picture, alt: `Screenshot of the ${subject(run)}` }
    : undefined;

const HOW = { modified: '', added: ' (new)', removed: ' (removed)' };

/** Such as "Changed in its last commit: guides/sso.mdx, quickstart.mdx (new) and 3 more". A path of the site would be a guess. */
function changedText({ changed }: Extract<SiteEnding, { kind: 'done' }>): string | undefined {
  if (changed === undefined) return undefined;
  const { files, count } = changed;
  const named = files.slice(0, count > files.length ? 2 : undefined);
  const names = named.map(({ name, how }) => `${sanitizeUserText(name, 80)}${HOW[how]}`);
  const more = count > names.length ? [`${formatCount(count - names.length)} more`] : [];
  return `Changed in its last commit: ${andList.format([...names, ...more])}`;
}

/** Says how it ended, and mentions who asked for it. */
function endingMessage(
  run: SiteRun,
  ending: Exclude<SiteEnding, { kind: 'left' | 'noPlace' }>,
  picture?: ReturnType<typeof pictureOf>,
): Message {
  const what = whatOf(run);
  const tryAgain = buttonOf(run, LABELS.tryAgain, siteActions.tryAgain);
  // The first build may still run.
  const anyway = { ...buttonOf(run, LABELS.startAnyway, siteActions.startAgain), confirm: confirmSecond };
  const ended = (lines: Line[], buttons: (ButtonParts | false)[], small?: Line, fact?: Line, more?: Line) =>
    layout({
      icon: stateOf(run).icon,
      mention: [run.by],
      lines: [joinParts([headline(run), fact]), ...lines],
      small: [more, small],
      picture,
      buttons,
    });
  switch (ending.kind) {
    case 'done': {
      const { isOlder, branch } = run;
      const hasUrl = buttonUrl(run.previewUrl) !== undefined;
      const lines = [
        isOlder && `The agent has changed ${target(run)} since this preview was built.`,
        !(branch === undefined || hasUrl) &&
          'The platform sent no link. Open the preview from its dashboard.',
      ];
      const small = branch !== undefined && hasUrl && 'Anyone who has its address may be able to open it.';
      const changed = !isOlder && changedText(ending);
      return ended(lines, resultButtons(run), small, !isOlder && tookFact(run), changed);
    }
    case 'failed': {
      const log = ending.log.map((text): Line => [{ code: singleLine(text) }]);
      const small = run.branch !== undefined && "Your live site isn't affected.";
      return ended(log.length > 0 ? log : [platformReasonText('')], [tryAgain], small);
    }
    case 'notStarted': {
      const { why, reason = '', adminsAlerted, contacts = '' } = ending;
      if (why === 'permission') return message([notPermittedText('site', contacts)]);
      const because = lacksReason(why, run) ?? notStartedReason(why, run, adminsAlerted);
      const reasonLine = singleLine(reason) !== '' && platformReasonText(reason);
      const mayHelp = !['unsupported', 'notFound', 'project'].includes(why);
      return ended([because, reasonLine], [mayHelp && tryAgain], why === 'plan' && 'HTTP 403');
    }
    case 'otherwise':
      return ended([`That's the platform's word for how the ${what} ended.`], [tryAgain]);
    case 'lost':
      return ended([`The platform no longer knows this ${what}.`], [tryAgain], 'HTTP 404');
    case 'gaveUp': {
      const after = formatDuration(ending.afterMs);
      return ended([`I stopped watching it after ${after}. It may still finish.`], [anyway]);
    }
    case 'broken': {
      const text = `Something broke on my side. The ${what} may still finish.`;
      return ended([text], [anyway], `ref ${ending.ref}`);
    }
  }
}

function lacksReason(why: string, { branch }: SiteRun): string | undefined {
  const [known, what] = branch === undefined ? ['project', 'update sites'] : ['branch', 'build previews'];
  if (why === 'unsupported') return `This platform doesn't let me ${what}.`;
  return why === 'notFound'
    ? `The platform doesn't know this ${known}, or doesn't let me ${what}.`
    : undefined;
}

/** What can be done with the result: open or build a preview, or export the site. */
function resultButtons(run: SiteRun): ButtonParts[] {
  const { id, branch, domain, project, isOlder } = run;
  if (branch === undefined)
    return domain === undefined
      ? []
      : targetButtons('Export it', { domain, project, privately: false, request: id });
  const url = buttonUrl(run.previewUrl);
  const style = { style: 'primary' as const };
  const again = buttonOf(run, LABELS.buildAgain, siteActions.buildAgain);
  return [
    ...(isOlder ? [{ ...again, ...style }] : []),
    ...(url === undefined ? [] : [{ ...openPreview(url), ...(!isOlder && style) }]),
  ];
}

export const questionMessage = (run: SiteRun): Message =>
  startQuestion(run.by, subject(run), [
    { ...buttonOf(run, LABELS.startAnyway, siteActions.startAgain), confirm: confirmSecond },
    buttonOf(run, LABELS.dontStart, siteActions.leave),
  ]);

const confirmSecond = confirmStart('it may run twice');

export const answeredMessage = (run: SiteRun, answer: NonNullable<SiteRun['answer']>): Message =>
  answeredStart(`the ${subject(run)}`, answer);

/** To a person who asks for a preview or an update that another run is making. */
export function runningMessage(run: SiteRun, reader: { teamId: string; user: { id: string } }): Message {
  const isOwn = run.teamId === reader.teamId;
  const by = isOwn ? nameTo(reader.user.id, run.by) : 'somebody in another workspace';
  if (run.state !== 'unknown')
    return message([`The ${subject(run)} is already under way, requested by ${by}.`]);
  const next =
    by === 'you' ? 'Answer the question about it first.' : `Ask ${by} to answer the question about it.`;
  return message([`It's unclear whether the ${subject(run)} started, so I won't start another. ${next}`]);
}

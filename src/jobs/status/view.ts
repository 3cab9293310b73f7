import type { DeploymentProblem } from '../../deployments/troubles.ts';
import {
  type ButtonParts,
  layout,
  type Message,
  message,
  moment,
  type Part,
  toLines,
} from '../../slack/blocks.ts';
import { kindOfId } from '../../slack/ids.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import { countOf, escapeText, formatCount, joinFacts, sanitizeUserText } from '../../slack/text.ts';
import type { AuditEntry, AuditLines } from '../../store/audit.ts';
import type { HealthSnapshot } from '../../store/values.ts';
import type { QueueCounts } from '../engine/queue.ts';
import { listNames, statusLine } from '../shared/wording-view.ts';

export const statusActions = { details: 'status.details', audit: 'status.audit' } as const;

const detailsButton: ButtonParts = { label: 'Details', action: statusActions.details, value: '{}' };

const auditButton: ButtonParts = { label: 'Audit log', action: statusActions.audit, value: '{}' };

/** An API key in messages. */
export interface ShownKey {
  /** The setting that holds the key. */
  variable: string;
  /** Whether the key is in a file, which is read again. */
  isFile?: boolean;
  /** The key's projects, if there are other ones. */
  names: readonly string[];
}

export interface RejectedKey extends ShownKey {
  sinceMs: number;
  /** The work that waits because of it; empty if none. */
  waiting: string;
}

/** A key's setting and projects, then the rest of a line. */
export const keyParts = ({ variable, names }: ShownKey, rest: string): Part[] => [
  { bold: variable },
  (names.length > 0 ? ` (${listNames(names)})` : '') + rest,
];

/** A rejected key: its setting, projects, time of rejection, and waiting work. */
export const rejectedKeyLine = (key: RejectedKey): Part[] => [
  ...keyParts(key, ' has been rejected since '),
  moment(key.sinceMs),
  key.waiting === '' ? '.' : `; ${key.waiting}.`,
];

/** A result with the problems that concern this workspace, each once. */
type Snapshot = Omit<HealthSnapshot, 'problems'> & { problems?: readonly string[] };

/** The state of Docket, as far as it is known. Times are epoch milliseconds. */
export interface SystemState {
  /** Results of the last calls, from the process that saw them last. */
  docs: Snapshot | undefined;
  slack: Snapshot | undefined;
  /** Scopes that this process found missing. */
  missingScopes: readonly string[];
  /** Socket Mode: whether Slack can reach this process. Undefined over HTTP. */
  connected: boolean | undefined;
  /** Response time of Redis in milliseconds; undefined if it did not answer. */
  redisMs: number | undefined;
  /** Present problems that this process or a worker sees, with the fix. Those of calls are in the snapshots as well. */
  problems: readonly { name: string; text: string }[];
  /** Keys that the platform rejects; undefined if unknown. */
  rejectedKeys: readonly RejectedKey[] | undefined;
  /** Deployments that take no exports; undefined if unknown. */
  deployments: readonly Pick<DeploymentProblem, 'project' | 'deployment' | 'text'>[] | undefined;
  /** Number of entries overdue by more than a minute; undefined if unknown. */
  overdue: number | undefined;
  queues: QueueCounts[] | undefined;
  /** What runs here. */
  running: readonly Part[][];
  /** The features' further lines: their limits, and the work that waits for them. */
  featureLines: readonly Part[][];
  limits: readonly string[];
  waits: readonly string[];
  /** Whether any admin gets alerts by direct message. */
  hasAdmins: boolean;
  /** The contact from the settings. */
  contact: string | undefined;
  version: string;
  role: string;
  upSinceMs: number;
}

/** Who reads the status. Without any admin in the settings, everybody may read the details. */
export interface StatusReader {
  isAdmin: boolean;
  details?: true;
}

/** Whether all is healthy, then problems with their effect on people, and running work; for admins, [Details] has all else. */
export function statusMessage(state: SystemState, { isAdmin, details }: StatusReader): Message {
  const mayRead = isAdmin || !state.hasAdmins;
  if (!mayRead || !details) return withRest(state, [...state.running], mayRead ? [detailsButton] : [], false);
  const { queues, redisMs, docs, slack, connected } = state;
  const socket = connected === undefined ? '' : ` · socket ${connected ? '' : 'not '}connected`;
  const rest: Part[][] = [
    ...state.running,
    ...state.featureLines,
    ...state.limits.map((text) => statusLine('Limit', text)),
    statusLine('Docs platform', ...healthParts(docs)),
    statusLine('Slack', ...healthParts(slack), socket),
    statusLine(
      'My database (Redis)',
      redisMs === undefined
        ? isSilent(state) && stopOf(state) === undefined
          ? 'not answering'
          : 'see above'
        : `answers in ${Math.max(1, Math.round(redisMs))} ms`,
    ),
    ...(queues ?? []).map((counts) => statusLine(`Queue ${counts.queue}`, queueText(counts))),
    statusLine(
      'This process',
      `Docket ${state.version} · role ${state.role} · up since `,
      moment(state.upSinceMs),
    ),
  ];
  return withRest(state, rest, isAdmin ? [auditButton] : [], true);
}

function withRest(state: SystemState, rest: Part[][], buttons: ButtonParts[], isFull: boolean): Message {
  const problems = problemLines(state, isFull);
  const waits = state.waits.map((text): Part[] => ['🕒 ', { bold: 'Waiting' }, ` — ${text}`]);
  const unknown = unknownParts(state);
  const headline: Part[] =
    problems.length > 0
      ? ['⚠️ ', { bold: 'Needs attention' }]
      : ['✅ ', { bold: unknown.length === 0 ? 'All good' : 'All good, as far as I know' }];
  const small = [
    unknown.length > 0 && `Not known right now: ${unknown.join(', ')}.`,
    problems.length > 0 && state.contact && `Ask ${state.contact}.`,
    isFull && !state.hasAdmins && 'No admins are set, so nobody gets a message when something goes wrong.',
  ];
  return layout({ lines: [headline, ...problems, ...waits, ...rest], small, buttons });
}

/** Problems of which [Details] has the text. Those of calls, of Redis and of scopes have lines of their own. */
const OTHERS =
  /^(?:clock|slack_signature|slack_socket|slack_org_wide|no_worker|queue_paused|record_damaged|key_expires|workspace_\w+)$/;

/** Of more deployments, only the names are shown, because a message has a maximum length. */
const MAX_DEPLOYMENTS = 10;

/** Problems with which nothing can be saved, as people notice them. */
const STOPS: Record<string, string> = {
  redis_full: 'My database is full',
  'redis_read-only': 'My database is read-only',
  'redis_refuses-writes': 'My database refuses to save anything',
  redis_rights: 'My database refuses what I ask',
  disk: 'My disk is full',
};

const stopOf = ({ problems }: SystemState) =>
  problems.map(({ name }) => STOPS[name]).find((text) => text !== undefined);

/** A slow Redis may answer too late for this message. */
const isSilent = (state: SystemState) =>
  state.redisMs === undefined &&
  (textsOf(state, /^redis_slow$/).length === 0 || textsOf(state, /^redis_unreachable$/).length > 0);

/** The lines about Redis and its disk, and whether nothing can be saved. */
function storeLines(state: SystemState, isFull: boolean): { lines: Part[][]; isOnHold: boolean } {
  const stop = stopOf(state);
  const isOnHold = stop !== undefined || isSilent(state);
  // That Redis is unreachable has a line of its own.
  const texts = textsOf(state, /^(?:disk$|redis_(?!unreachable))/);
  const isSlow = texts.length > 0 && texts.length === textsOf(state, /^redis_slow$/).length;
  const lines: Part[][] = [];
  if (isOnHold && !(isFull && stop))
    lines.push([
      { bold: stop ?? "My database isn't answering" },
      ': nothing new starts, and running work is on hold.',
    ]);
  if (isFull) lines.push(...texts.map((text) => [{ bold: 'My database has a problem' }, `: ${text}`]));
  else if (isSlow) lines.push([{ bold: 'My database is slow' }, ': everything takes longer.']);
  else if (texts.length > 0 && !isOnHold) lines.push([{ bold: 'My database has a problem' }, '.']);
  return { lines, isOnHold };
}

/** The problems as people notice them; with `isFull`, also the causes, and what admins can do. */
function problemLines(state: SystemState, isFull: boolean): Part[][] {
  const { docs, slack, missingScopes, rejectedKeys = [], deployments = [], overdue = 0 } = state;
  const { lines: ofStore, isOnHold } = storeLines(state, isFull);
  // For people, another line says that a part does not answer.
  const ofCalls = [docs, slack].flatMap((one) => (isFull || one?.answered ? (one?.problems ?? []) : []));
  const others = [...ofCalls, ...textsOf(state, isFull ? OTHERS : /^(?:clock|queue_paused|record_damaged)$/)];
  const names = `${listNames(deployments.map(({ deployment, project }) => `${deployment} of ${project}`))}.`;
  const causes = (texts: string[], bold: string, effect: string): Part[][] =>
    isFull ? texts.map((text) => [{ bold }, `: ${text}`]) : texts.slice(0, 1).map(() => [{ bold }, effect]);
  const keyLines = isFull
    ? rejectedKeys.map((key) => [...rejectedKeyLine(key), " Nothing new starts with it until it's replaced."])
    : rejectedKeys
        .slice(0, 1)
        .map((): Part[] => [{ bold: 'My access to the docs platform is rejected' }, ': nothing new starts.']);
  return toLines([
    ...ofStore,
    ...keyLines,
    docs?.answered === false && [
      { bold: "The docs platform isn't answering" },
      ', last tried ',
      ago(docs),
      ': nothing new starts, and nobody sees the progress of running jobs.',
    ],
    slack?.answered === false && [
      { bold: slack.refused ? 'Slack refuses my token' : "Slack isn't answering" },
      ', last tried ',
      ago(slack),
      slack.refused
        ? `: messages don't arrive or update.${isFull ? ' Reinstall me, or set the new token.' : ''}`
        : ': messages are late; nothing is lost.',
    ],
    ...causes(others, 'There is trouble', ': work may wait, and messages may be late.'),
    ...causes(
      deployments.length > MAX_DEPLOYMENTS ? [names] : deployments.map(({ text }) => text),
      'Deploying has trouble',
      `: ${names} New exports may not get there.`,
    ),
    missingScopes.length > 0 && [
      { bold: 'Some features fail' },
      ': I was installed without ',
      ...(isFull
        ? [{ code: missingScopes.join(', ') }, '. Replace my manifest and reinstall me.']
        : ['all permissions that I need.']),
    ],
    state.connected === false && [
      { bold: "Slack can't reach me" },
      ' here right now: commands may get no answer.',
    ],
    overdue > 0 && [
      { bold: 'Work is stuck' },
      `: ${countOf(overdue, 'task')} ${overdue === 1 ? 'is' : 'are'} more than a minute overdue.${isOnHold ? '' : ' New requests are saved, but run late.'}`,
    ],
  ]);
}

const textsOf = ({ problems }: SystemState, names: RegExp) =>
  problems.filter(({ name }) => names.test(name)).map(({ text }) => text);

const unknownParts = ({ docs, slack, redisMs, rejectedKeys, deployments, overdue }: SystemState) =>
  [
    docs === undefined ? 'whether the docs platform answers' : '',
    slack === undefined ? 'whether Slack accepts messages' : '',
    redisMs !== undefined && rejectedKeys === undefined ? 'whether my keys work' : '',
    redisMs !== undefined && deployments === undefined ? 'whether deployments work' : '',
    redisMs !== undefined && overdue === undefined ? 'whether work is stuck' : '',
  ].filter((text) => text !== '');

const ago = ({ atMs }: Snapshot): Part => ({ time: atMs, format: '{ago}' });

function healthParts(snapshot: Snapshot | undefined): Part[] {
  if (snapshot === undefined) return ['not called recently'];
  return snapshot.answered
    ? ['answering, last seen ', ago(snapshot)]
    : [snapshot.refused ? 'refuses my token' : 'not answering', ', last tried ', ago(snapshot)];
}

const queueText = ({ waiting, active, delayed, failed }: QueueCounts) =>
  `${formatCount(waiting)} waiting, ${formatCount(active)} active, ${formatCount(delayed)} for later, ${formatCount(failed)} failed`;

/** Characters of all lines together, with room for Slack's own overhead. Refusals get at most a quarter. */
const MAX_CHARACTERS = SLACK_LIMITS.messageBlocksText - 1200;

/** Length of a time, which Slack shows in each reader's words, and of the line break. */
const TIME_LENGTH = 30;

/** Lines of the audit log, newest first: actions, then refusals. Lines that do not fit are counted. */
export function auditMessage({ done, refused }: AuditLines): Message {
  if (done.length + refused.length === 0) return message(['The audit log is empty.']);
  if (refused.length === 0) return message(fitLines(done, MAX_CHARACTERS));
  const refusals = fitLines(refused, MAX_CHARACTERS / 4);
  return message([...fitLines(done, (MAX_CHARACTERS * 3) / 4), [{ bold: 'Refused' }], ...refusals]);
}

/** Returns as many lines as fit; the others are counted. */
function fitLines(entries: readonly AuditEntry[], maxLength: number): Part[][] {
  const lines: Part[][] = [];
  let length = 0;
  for (const line of entries.map(auditLine)) {
    length += lengthOf(line);
    if (length > maxLength) break;
    lines.push(line);
  }
  const rest = entries.length - lines.length;
  if (rest > 0) lines.push([`${formatCount(rest)} older lines don't fit in one message.`]);
  return lines;
}

/** People and places show as ids. Text that a person may have typed or chosen is in quotes, without quotes inside. */
function auditLine({ atMs, user, channel, what, subject, job, result }: AuditEntry): Part[] {
  const name = user.name === '' || user.name === user.id ? '' : ` ${quoted(user.name, 60)}`;
  const parts: Part[] = [
    moment(atMs),
    ` · ${kindOfId(user.id) === 'person' ? user.id : quoted(user.id, 30)}${name}`,
  ];
  const kind = kindOfId(channel);
  if (kind === 'channel') parts.push(' · ', { channel });
  else if (channel !== '')
    parts.push(kind === 'directMessage' ? ' · direct message' : ` · ${quoted(channel, 30)}`);
  const rest = joinFacts(
    plain(what, 60),
    subject && quoted(subject, 80),
    job === undefined ? '' : `job ${quoted(job, 60)}`,
    plain(result, 100),
  );
  return [...parts, ` · ${rest}`];
}

const plain = (text: string, max: number) => sanitizeUserText(text.toWellFormed(), max);

const quoted = (text: string, max: number) => `"${plain(text, max).replaceAll('"', "'")}"`;

function lengthOf(line: Part[]): number {
  const texts = line.map((part) => (typeof part === 'string' ? escapeText(part).length : TIME_LENGTH));
  return texts.reduce((sum, length) => sum + length, 0);
}

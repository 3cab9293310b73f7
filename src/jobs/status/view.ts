import { type Message, message, type Part } from '../../slack/blocks.ts';
import { formatCount } from '../../slack/text.ts';
import type { HealthSnapshot } from '../../store/health.ts';
import type { RateLimitUsage } from '../../store/rate-limit.ts';
import type { QueueCounts } from '../queue.ts';

/** How things are, as far as it is known. Times are epoch milliseconds. */
export interface SystemState {
  /** What the last calls came to, of whichever process saw them last. */
  docs: HealthSnapshot | undefined;
  slack: HealthSnapshot | undefined;
  /** Socket Mode: whether Slack can reach this process. Nothing over HTTP. */
  connected: boolean | undefined;
  /** How long Redis took to answer, in milliseconds; nothing when it did not. */
  redisMs: number | undefined;
  /** What is wrong with Redis, in sentences with the fix. */
  redisProblems: readonly string[];
  queues: QueueCounts[] | undefined;
  /** How many threads follow an agent job; nothing when they could not be counted. */
  threads: number | undefined;
  limits: LimitState;
  version: string;
  role: string;
  upSinceMs: number;
}

/** What Docket holds itself to. `edits`: of messages in Slack, all processes together. */
export interface LimitState {
  exportStatusPerSecond: number;
  editsPerMinute: number;
  edits: Pick<RateLimitUsage, 'free' | 'waiting'> | undefined;
  /** Of each project that has an agent. */
  followUps: readonly FollowUpUsage[];
}

/** Follow-ups to the docs agent in the past hour; `use` is missing when it could not be read. */
export interface FollowUpUsage {
  project: string;
  perHour: number;
  use: Pick<RateLimitUsage, 'used' | 'waiting'> | undefined;
}

/** Exports that run, a line for each; `rest` counts those without one. Nothing when they could not be read. */
export type RunningExports = { lines: Part[][]; rest: number } | undefined;

/** How things are: one line for each, state in words. */
export function statusMessage(state: SystemState, exports: RunningExports): Message {
  const { redisMs, queues, connected } = state;
  const line = (name: string, ...parts: Part[]): Part[] => [{ bold: name }, ' — ', ...parts];
  const socketText =
    connected === undefined ? '' : connected ? ' · socket connected' : ' · socket not connected';
  return message([
    line('Docs platform', ...healthParts(state.docs, 'not asked lately')),
    line('Slack', ...healthParts(state.slack, 'not called lately'), socketText),
    redisMs === undefined
      ? line('Redis', 'not answering; I start nothing I might lose')
      : line('Redis', `answers in ${Math.max(1, Math.round(redisMs))} ms`),
    ...state.redisProblems.map((text) => [`⚠️ ${text}`]),
    ...(queues ?? []).map((counts) => line(`Queue ${counts.queue}`, queueText(counts))),
    ...exportLines(exports),
    line('Agent threads', threadText(state.threads)),
    line('Schedules', 'Nothing is scheduled.'),
    ...limitLines(state.limits).map((text) => line('Limit', text)),
    line('This process', `Docket ${state.version} · role ${state.role} · up since `, {
      time: state.upSinceMs,
      format: '{date_short_pretty} {time}',
    }),
  ]);
}

function healthParts(snapshot: HealthSnapshot | undefined, fallback: string): Part[] {
  if (snapshot === undefined) return [fallback];
  const at: Part = { time: snapshot.atMs, format: '{ago}' };
  return snapshot.answered ? ['answering, last seen ', at] : ['not answering, last tried ', at];
}

const queueText = ({ waiting, active, delayed, failed }: QueueCounts) =>
  `${formatCount(waiting)} waiting, ${formatCount(active)} active, ${formatCount(delayed)} for later, ${formatCount(failed)} failed`;

function exportLines(exports: RunningExports): Part[][] {
  const title = { bold: 'Exports you can see here' };
  if (exports === undefined) return [[title, " — can't be read right now"]];
  const { lines, rest } = exports;
  if (lines.length === 0) return [[title, ' — none is running']];
  const more: Part[][] = rest > 0 ? [[`and ${formatCount(rest)} more`]] : [];
  return [[title, ` — ${formatCount(lines.length + rest)} running`], ...lines, ...more];
}

function threadText(threads: number | undefined): string {
  if (threads === undefined) return "can't be counted right now";
  return threads === 0 ? 'none is followed' : `${formatCount(threads)} followed`;
}

/** What Docket holds itself to, and how much of it is in use. */
export function limitLines({
  exportStatusPerSecond,
  editsPerMinute,
  edits,
  followUps,
}: LimitState): string[] {
  return [
    `looks at exports: up to ${exportStatusPerSecond} a second for each API key`,
    `edits in Slack: up to ${editsPerMinute} a minute${edits === undefined ? '' : `, ${usageText(edits)}`}`,
    ...followUps.map((one) => followUpText(one, followUps.length > 1)),
  ];
}

function followUpText({ project, perHour, use }: FollowUpUsage, withProject: boolean): string {
  const what = `instructions to the docs agent${withProject ? ` in ${project}` : ''}`;
  if (use === undefined) return `${what}: up to ${formatCount(perHour)} an hour`;
  const used = `${what}: ${formatCount(use.used)} of ${formatCount(perHour)} used in the past hour`;
  return use.waiting === 0 ? used : `${used}, ${waitingText(use.waiting)}`;
}

const waitingText = (waiting: number) =>
  waiting === 0 ? 'none waits' : waiting === 1 ? '1 waits' : `${formatCount(waiting)} wait`;

function usageText({ free, waiting }: Pick<RateLimitUsage, 'free' | 'waiting'>): string {
  return `${free === 0 ? 'all in use' : `${free} free`} just now, ${waitingText(waiting)}`;
}

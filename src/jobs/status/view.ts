import { type Message, message, type Part } from '../../slack/blocks.ts';
import { count } from '../../slack/text.ts';
import type { Seen } from '../../store/health.ts';
import type { PaceUse } from '../../store/rate-limit.ts';
import type { QueueCounts } from '../queue.ts';

/** How things are, as far as it is known. Times are epoch milliseconds. */
export interface SystemState {
  /** What the last calls came to, of whichever process saw them last. */
  docs: Seen | undefined;
  slack: Seen | undefined;
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
  edits: PaceUse | undefined;
  /** Of each project that has an agent. */
  followUps: readonly FollowUpUse[];
}

/** Follow-ups to the docs agent in the past hour; `use` is missing when it could not be read. */
export interface FollowUpUse {
  project: string;
  perHour: number;
  use: { used: number; waiting: number } | undefined;
}

/** Exports that run, a line for each; `rest` counts those without one. Nothing when they could not be read. */
export type Running = { lines: Part[][]; rest: number } | undefined;

/** How things are: one line for each, state in words. */
export function statusMessage(state: SystemState, exports: Running): Message {
  const { redisMs, queues, connected } = state;
  const line = (name: string, ...parts: Part[]): Part[] => [{ bold: name }, ' — ', ...parts];
  const reached =
    connected === undefined ? '' : connected ? ' · socket connected' : ' · socket not connected';
  return message([
    line('Docs platform', ...seenParts(state.docs, 'not asked lately')),
    line('Slack', ...seenParts(state.slack, 'not called lately'), reached),
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

function seenParts(seen: Seen | undefined, otherwise: string): Part[] {
  if (seen === undefined) return [otherwise];
  const at: Part = { time: seen.atMs, format: '{ago}' };
  return seen.answered ? ['answering, last seen ', at] : ['not answering, last tried ', at];
}

const queueText = ({ waiting, active, delayed, failed }: QueueCounts) =>
  `${count(waiting)} waiting, ${count(active)} active, ${count(delayed)} for later, ${count(failed)} failed`;

function exportLines(exports: Running): Part[][] {
  const title = { bold: 'Exports you can see here' };
  if (exports === undefined) return [[title, " — can't be read right now"]];
  const { lines, rest } = exports;
  if (lines.length === 0) return [[title, ' — none is running']];
  const more: Part[][] = rest > 0 ? [[`and ${count(rest)} more`]] : [];
  return [[title, ` — ${count(lines.length + rest)} running`], ...lines, ...more];
}

function threadText(threads: number | undefined): string {
  if (threads === undefined) return "can't be counted right now";
  return threads === 0 ? 'none is followed' : `${count(threads)} followed`;
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
    `edits in Slack: up to ${editsPerMinute} a minute${edits === undefined ? '' : `, ${useText(edits)}`}`,
    ...followUps.map((one) => followUpText(one, followUps.length > 1)),
  ];
}

function followUpText({ project, perHour, use }: FollowUpUse, named: boolean): string {
  const what = `instructions to the docs agent${named ? ` in ${project}` : ''}`;
  if (use === undefined) return `${what}: up to ${count(perHour)} an hour`;
  const used = `${what}: ${count(use.used)} of ${count(perHour)} used in the past hour`;
  return use.waiting === 0 ? used : `${used}, ${waitText(use.waiting)}`;
}

const waitText = (waiting: number) =>
  waiting === 0 ? 'none waits' : waiting === 1 ? '1 waits' : `${count(waiting)} wait`;

function useText({ free, waiting }: PaceUse): string {
  return `${free === 0 ? 'all in use' : `${free} free`} just now, ${waitText(waiting)}`;
}

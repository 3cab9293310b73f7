import { type Message, message, type Part } from '../../slack/blocks.ts';
import { formatCount } from '../../slack/text.ts';
import type { HealthSnapshot } from '../../store/health.ts';
import type { QueueCounts } from '../queue.ts';
import { statusLine } from '../wording-view.ts';

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
  /** What the features say of themselves, and what they hold themselves to. */
  featureLines: readonly Part[][];
  limits: readonly string[];
  version: string;
  role: string;
  upSinceMs: number;
}

/** How things are: one line for each, state in words. */
export function statusMessage(state: SystemState): Message {
  const { redisMs, queues, connected } = state;
  const socketText =
    connected === undefined ? '' : connected ? ' · socket connected' : ' · socket not connected';
  return message([
    statusLine('Docs platform', ...healthParts(state.docs, 'not asked lately')),
    statusLine('Slack', ...healthParts(state.slack, 'not called lately'), socketText),
    redisMs === undefined
      ? statusLine('Redis', 'not answering; I start nothing I might lose')
      : statusLine('Redis', `answers in ${Math.max(1, Math.round(redisMs))} ms`),
    ...state.redisProblems.map((text) => [`⚠️ ${text}`]),
    ...(queues ?? []).map((counts) => statusLine(`Queue ${counts.queue}`, queueText(counts))),
    ...state.featureLines,
    ...state.limits.map((text) => statusLine('Limit', text)),
    statusLine('This process', `Docket ${state.version} · role ${state.role} · up since `, {
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

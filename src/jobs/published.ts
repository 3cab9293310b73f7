import { hash } from 'node:crypto';
import type { OutboxMessage } from '../slack/outbox.ts';
import type { RunBase } from '../store/runs.ts';
import type { JobContext } from './context.ts';

/** After so long all messages are published again: a failover may have lost the last ones. */
const AGAIN_MS = 60_000;

/** Runs of which a process knows this at most; the one that was published the longest time ago goes first. */
const MOST_RUNS = 10_000;

interface Published {
  rev: number;
  sinceMs: number;
  /** Digests of its messages, by their keys. */
  messages: ReadonlyMap<string, string>;
}

const published = new WeakMap<JobContext['outbox'], Map<string, Published>>();

/**
 * Publishes those messages of a run that have changed since the revision before, where this process published that one:
 * what it did not change, nobody else can have changed in between. Else it publishes all.
 */
export async function publishChanged(
  run: RunBase,
  messages: readonly OutboxMessage[],
  { outbox, now }: Pick<JobContext, 'outbox' | 'now'>,
): Promise<void> {
  const runs = published.get(outbox) ?? new Map<string, Published>();
  published.set(outbox, runs);
  const last = runs.get(run.id);
  const isKnown =
    last !== undefined && (last.rev === run.rev || last.rev === run.rev - 1) && !isOld(last, now());
  if (isKnown && last.rev === run.rev) return;
  const digests = new Map<string, string>();
  for (const message of messages) {
    const digest = hash('sha1', JSON.stringify(message), 'base64');
    if (!isKnown || last.messages.get(message.key) !== digest)
      await outbox.publish(run.teamId, message, run.rev);
    digests.set(message.key, digest);
  }
  runs.delete(run.id);
  runs.set(run.id, { rev: run.rev, sinceMs: isKnown ? last.sinceMs : now(), messages: digests });
  for (const [id, one] of runs) {
    if (runs.size <= MOST_RUNS && !isOld(one, now())) break;
    runs.delete(id);
  }
}

/** What is old is of no use any more. */
const isOld = ({ sinceMs }: Published, nowMs: number) => Math.abs(nowMs - sinceMs) >= AGAIN_MS;

import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, expect } from 'vitest';
import { messageEvents } from '../../../src/commands/agent/events.ts';
import { createWake } from '../../../src/commands/intake.ts';
import type { EventTools } from '../../../src/commands/registry.ts';
import { defaultConfigFile } from '../../../src/config/file.ts';
import { mentionRun } from '../../../src/jobs/agent/mention.ts';
import { NOW_MS } from '../builders.ts';
import { redisForTests } from '../redis.ts';
import { keptLog } from '../runtime/log.ts';
import { aProject } from './builders.ts';
import { createCommandWorld } from './world.ts';

/** The thread that these events are about. */
export const ROOT = '1789912800.000100';
export const place = { teamId: 'T0ACME', channel: 'C0DOCS', rootTs: ROOT };

const identity = { teamId: 'T0ACME', botUserId: 'U0BOT', botId: 'B0', url: 'https://acme.example/' };

type HearChanges = Partial<EventTools> & { enqueue?: Parameters<typeof createWake>[0] };

/** What hears events in a test file, with a Redis of its own; `world` and `kept` are new for each test. */
export function eventsForTests() {
  const redis = redisForTests();
  let world: ReturnType<typeof createCommandWorld>;
  let kept: ReturnType<typeof keptLog>;
  beforeEach(() => {
    world = createCommandWorld(redis);
    kept = keptLog();
  });

  /** Hands an event to the listener of messages; that of mentions does the same. */
  async function hear(event: object, { enqueue, ...changes }: HearChanges = {}) {
    const [listener, ...others] = messageEvents;
    for (const other of others) expect(other.handle).toBe(listener?.handle);
    const wake = createWake(enqueue ?? (async ({ id }) => void world.woken.push(id)), kept.log);
    await listener?.handle(
      event,
      { team_id: 'T0ACME' },
      {
        identity,
        threads: world.threads,
        runs: world.runs,
        publish: async () => {},
        updateHome: async () => {},
        changeChannelId: async () => {},
        checkToken: async () => {},
        projects: [aProject({ projectId: 'prj_1' })],
        limits: defaultConfigFile.limits,
        replyMode: 'all',
        now: () => NOW_MS,
        log: kept.log,
        ...changes,
        wake,
      },
    );
    // It is queued after the present turn.
    await nextTurn();
    await nextTurn();
  }

  const mentions = () => world.runs.activeOf(mentionRun, 'agent-mention');
  /** Nothing came of it. */
  async function nothingKept() {
    expect(await mentions()).toEqual([]);
    expect(await world.threadRuns()).toEqual([]);
  }

  return {
    redis,
    get world() {
      return world;
    },
    get kept() {
      return kept;
    },
    hear,
    mentions,
    nothingKept,
  };
}

export const aMessage = (changes: object = {}) => ({
  type: 'message',
  channel: 'C0DOCS',
  ts: '1789912900.000200',
  user: 'U0BEN',
  team: 'T0ACME',
  text: 'Also the api',
  ...changes,
});
export const aReply = (changes: object = {}) =>
  aMessage({ thread_ts: ROOT, parent_user_id: 'U0ANA', ...changes });
export const changed = (message: object, edited: string) => ({
  type: 'message',
  subtype: 'message_changed',
  channel: 'C0DOCS',
  message: { ...message, edited: { user: 'U0BEN', ts: edited } },
  previous_message: aReply(),
});

import type { Policy } from './policy.ts';
import type { Closers } from './runtime/closers.ts';
import type { Log } from './runtime/log.ts';
import type { Timing } from './runtime/timing.ts';
import type { Health } from './server/health.ts';
import type { HealthChecks } from './server/health-checks.ts';
import type { HttpServer } from './server/http-server.ts';
import type { SlackApi } from './slack/client.ts';
import type { IdentitySource } from './slack/identity.ts';
import type { Mentions } from './slack/markdown/message.ts';
import type { Names } from './slack/markdown/names.ts';
import type { RedisAddress } from './store/redis/address.ts';
import type { Clock } from './store/redis/clock.ts';
import type { RedisWatch } from './store/redis/watch.ts';

/** What both roles are made from. */
export interface RoleParts {
  address: RedisAddress;
  redisWatch: RedisWatch;
  slack: SlackApi;
  identity: IdentitySource;
  health: Health;
  checks: HealthChecks;
  /** Listens already; in every role it answers the health addresses. */
  server: HttpServer;
  policy: Policy;
  /** Names for what a message mentions. Rejects with `NamesUnknown`. */
  names: (mentions: Mentions) => Promise<Names>;
  /** Whether every full member may read a conversation now; not, when Slack does not tell. */
  isPublic: (channelId: string) => Promise<boolean>;
  timing: Timing;
  /** The time of `clock`. */
  now: () => number;
  clock: Clock;
  /** What the clock of this machine shows: what Slack signs is compared with it. */
  machineMs: () => number;
  random: () => number;
  /** A short reference that a person sees and the log has too. */
  newRef: () => string;
  log: Log;
  closers: Closers;
  onRedisError: (error: Error) => void;
}

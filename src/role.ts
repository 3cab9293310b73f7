import type { Closers } from './closers.ts';
import type { DocsApiRequest } from './docs-api/caller.ts';
import type { PartState } from './http.ts';
import type { Log } from './log.ts';
import type { SlackApi } from './slack/client.ts';
import type { IdentityKeeper } from './slack/identity.ts';
import type { RedisAddress } from './store/connections.ts';
import type { Timing } from './timing.ts';

/** What both roles are made from. */
export interface RoleParts {
  address: RedisAddress;
  slack: SlackApi;
  identity: IdentityKeeper;
  /** Hears of every request to the docs API, and tells whether the last one was answered. */
  onDocsCall: (request: DocsApiRequest) => void;
  docsState: () => PartState;
  timing: Timing;
  now: () => number;
  random: () => number;
  /** A short reference that a person sees and the log has too. */
  newRef: () => string;
  log: Log;
  closers: Closers;
  onRedisError: (error: Error) => void;
}

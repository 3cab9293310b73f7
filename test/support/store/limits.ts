import type { Redis } from 'ioredis';
import { keys } from '../../../src/store/keys.ts';

/** Moves all that a rate limit keeps into the past: time passes for it. A negative time sets Redis' clock back. */
export async function timePasses(client: Redis, name: string, ms: number): Promise<void> {
  for (const lane of ['', ':interactive']) {
    const key = keys.rateLimit(`${name}${lane}`);
    for (const member of await client.zrange(key, '0', '-1')) await client.zincrby(key, -ms, member);
  }
  const hold = keys.rateLimit(`${name}:hold`);
  for (const field of await client.hkeys(hold)) await client.hincrby(hold, field, -ms);
}

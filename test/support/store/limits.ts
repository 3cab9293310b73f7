import type { Redis } from 'ioredis';
import { keys } from '../../../src/store/keys.ts';

/** Moves all that a rate limit keeps into the past: time passes for it. A negative time sets Redis' clock back. */
export async function timePasses(client: Redis, name: string, ms: number): Promise<void> {
  const [taken, reserved, hold] = ['', ':reserved', ':hold'].map((part) => keys.rateLimit(`${name}${part}`));
  for (const key of [taken, reserved, hold] as string[]) {
    const type = await client.type(key);
    if (type === 'zset')
      for (const member of await client.zrange(key, '0', '-1')) await client.zincrby(key, -ms, member);
    if (type === 'hash')
      for (const field of await client.hkeys(key)) await client.hincrbyfloat(key, field, -ms);
  }
}

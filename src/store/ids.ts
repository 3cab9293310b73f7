import { createHash } from 'node:crypto';

/** Ids and claims that are the same for the same parts. */
export const idOf = (...parts: string[]) =>
  createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 24);

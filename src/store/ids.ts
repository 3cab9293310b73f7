import { hash } from 'node:crypto';

/** Ids and claims that are the same for the same parts. */
export const idOf = (...parts: string[]) => hash('sha256', parts.join('\n')).slice(0, 24);

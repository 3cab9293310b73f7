import { readFileSync } from 'node:fs';

/** Returns the key in a file, without the white space around it. Throws what the file system throws. */
export const readKeyFile = (path: string): string => readFileSync(path, 'utf8').trim();

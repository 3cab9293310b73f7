import { readFileSync } from 'node:fs';

/** Returns the key in a file, without the white space around it. Throws errors of the file system. */
export const readKeyFile = (path: string): string => readFileSync(path, 'utf8').trim();

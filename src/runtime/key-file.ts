import { readFileSync } from 'node:fs';
import { tryOr } from './try-or.ts';

/** Returns the key in a file, without the white space around it. Throws errors of the file system. */
export const readKeyFile = (path: string): string => readFileSync(path, 'utf8').trim();

/**
 * Returns a key that is read again from its file, if it has one, after the other side has rejected it. `form` is that of a
 * whole key.
 */
export function createKey(
  first: string,
  file?: string,
  onNew?: (key: string) => void,
  form = /^[\x21-\x7e]+$/,
) {
  const all = [first];
  const current = () => all.at(-1) ?? first;
  return {
    /** All keys so far: no text may show one. */
    all,
    current,
    /**
     * Returns whether there is another key than the rejected one. An unreadable file, or one without a key, changes
     * nothing: it may be half written.
     */
    isRenewed(rejected: string): boolean {
      const read = tryOr('', () => (file === undefined ? '' : readKeyFile(file)));
      if (read !== current() && form.test(read)) {
        onNew?.(read);
        all.push(read);
      }
      return current() !== rejected;
    },
  };
}

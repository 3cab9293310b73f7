import { readFileSync, statSync } from 'node:fs';

/** First bytes of text that is not plain UTF-8, with the name of what it is. */
const MARKS = [
  [
    [0xef, 0xbb, 0xbf],
    'begins with a byte order mark, which hides its first setting. Save it as UTF-8 without one',
  ],
  [[0xff, 0xfe], 'is UTF-16. Save it as UTF-8'],
  [[0xfe, 0xff], 'is UTF-16. Save it as UTF-8'],
];

/** The bits of a file's mode that let other people on the machine read it. */
const OTHERS_READ = 0o044;

/**
 * Reads a file of settings into the environment; variables that are set already stay. Does nothing when there is no
 * file. Returns why it cannot be read (`problem`) or is unsafe (`warning`), each with its fix.
 */
export function loadEnvFile(path) {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return {};
    if (!stats.isFile())
      return { problem: `${path} is not a file. Move it away, then: cp .env.example .env, and fill it in.` };
    const bytes = readFileSync(path);
    const marked = MARKS.find(([mark]) => mark.every((byte, index) => bytes[index] === byte));
    if (marked) return { problem: `${path} ${marked[1]}.` };
    process.loadEnvFile(path);
    if ((stats.mode & OTHERS_READ) === 0) return {};
    return {
      warning: `${path} holds secrets, and others on this machine can read it. Run: chmod 600 ${path}`,
    };
  } catch (error) {
    if (error.code !== 'EACCES' && error.code !== 'EPERM') throw error;
    const uid = process.getuid?.();
    return {
      problem: `${path} may not be read by Docket, which runs as uid ${uid}. Run: chown ${uid} ${path}`,
    };
  }
}

import { readFileSync, statSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { type Outcome, ok, warning, wrong } from './outcome.ts';

/** What a file of settings holds, and what is to be said of it. */
export interface EnvFile {
  values: NodeJS.ProcessEnv;
  outcome: Outcome | 'absent';
}

/** The bits of a file's mode that let other people on the machine read it. */
const OTHERS_READ = 0o044;

/** Reads a `.env` as `npm start` does. Never throws. */
export function readEnvFile(path: string): EnvFile {
  const fail = (text: string): EnvFile => ({ values: {}, outcome: wrong(text) });
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return { values: {}, outcome: 'absent' };
    if (!stats.isFile())
      return fail(`${path} is not a file. Move it away, then: cp .env.example .env, and fill it in.`);
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(readFileSync(path));
    if (text.startsWith('\ufeff'))
      return fail(`${path} begins with a byte order mark, which hides its first setting. Save it without.`);
    const values = parseEnv(text);
    return { values, outcome: outcomeOf(path, text, stats.mode) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EACCES' || code === 'EPERM') {
      const uid = process.getuid?.();
      return fail(`${path} may not be read by Docket, which runs as uid ${uid}. Run: chown ${uid} ${path}`);
    }
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return fail(`${path} is not UTF-8. Save it as UTF-8.`);
    return fail(`${path} cannot be read (${String(code)}).`);
  }
}

function outcomeOf(path: string, text: string, mode: number): Outcome {
  if ((mode & OTHERS_READ) !== 0)
    return warning(`${path} holds secrets, and others on this machine can read it. Run: chmod 600 ${path}`);
  const quoted = [...text.matchAll(/^[ \t]*(?:export[ \t]+)?([A-Z][A-Z0-9_]*)=[ \t]*["'`]/gm)].map(
    ([, name]) => name,
  );
  if (quoted.length > 0)
    return warning(
      `${path} has quotes around ${quoted.join(', ')}. Remove them: "docker run --env-file" keeps them in the value.`,
    );
  return ok(`${path} can be read, by its owner alone.`);
}

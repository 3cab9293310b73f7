import { readFileSync, statSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** A file of settings, and its problem or warning with the fix. */
export interface EnvFile {
  /** Missing if there is no file, or it has a problem. */
  text?: string;
  values?: NodeJS.ProcessEnv;
  problem?: string;
  warning?: string | undefined;
}

/** The bits of a file's mode that let other people on the machine read it. */
const OTHERS_READ = 0o044;

/** Reads a file of settings, for `npm start` and for related commands. Never throws. */
export function readEnvFile(path: string): EnvFile {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return {};
    if (!stats.isFile())
      return { problem: `${path} is not a file. Move it away, then: cp .env.example .env, and fill it in.` };
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
    const isOpen = (stats.mode & OTHERS_READ) !== 0;
    const warning = isOpen
      ? `${path} contains secrets, and other users of this machine can read it. Run: chmod 600 ${path}`
      : undefined;
    return { text, values: parseEnv(text), warning };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EACCES' || code === 'EPERM') {
      const uid = process.getuid?.();
      return {
        problem: `${path} may not be read by Docket, which runs as uid ${uid}. Run: chown ${uid} ${path}`,
      };
    }
    return { problem: `${path} cannot be read (${String(code)}). Save it as UTF-8.` };
  }
}

/** Returns host and port of the health checks, from the environment alone: other settings may be wrong. */
export function healthAddressOf(env: NodeJS.ProcessEnv): string {
  const host = env.HOST?.trim() || '127.0.0.1';
  // The wildcard address cannot be requested.
  const asked = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
  const ofWorker = env.DOCKET_ROLE?.trim() === 'worker' && env.HEALTH_PORT?.trim();
  const port = ofWorker || env.PORT?.trim() || '3000';
  return `${asked.includes(':') ? `[${asked}]` : asked}:${port}`;
}

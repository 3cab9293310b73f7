import { createWriteStream, fstatSync } from 'node:fs';
import { Writable } from 'node:stream';
import { BackupError } from './dump.ts';

const STDOUT = 1;

/**
 * Returns standard output as a stream that ends with an error where something could not be written: `process.stdout` takes
 * a part of a write to a file for the whole. Throws `BackupError` where npm has written to it before us.
 */
export function openStandardOutput(env: NodeJS.ProcessEnv): Writable {
  if (env.npm_lifecycle_event === 'backup' && env.npm_config_loglevel !== 'silent')
    throw new BackupError(
      'npm adds its own lines to standard output, which would end up in the backup. Run: npm run --silent backup -- -',
    );
  const kind = fstatSync(STDOUT);
  if (kind.isFIFO() || kind.isSocket()) return toProcessOutput();
  return createWriteStream('', { fd: STDOUT, autoClose: false, flush: kind.isFile() });
}

/** A pipe may be one that does not wait (a parent's doing), which `process.stdout` can handle. */
function toProcessOutput(): Writable {
  const output = process.stdout;
  // What fails is said by the write, too.
  output.on('error', () => {});
  return new Writable({ write: (part, _encoding, done) => void output.write(part, done) });
}

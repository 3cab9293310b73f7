import { createReadStream } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { readEnvFile } from '../config/env-file.ts';
import { redisAddressOf } from '../config/settings.ts';
import { readUsableSettings } from '../config/usable-settings.ts';
import { DataDirUnusable } from '../store/embedded/data-dir.ts';
import { DataDirInUse } from '../store/embedded/data-dir-lock.ts';
import { RedisMissing, RedisStartFailed } from '../store/embedded/redis-server.ts';
import { setTagName } from '../store/keys.ts';
import { type RedisAddress, tagNameOf } from '../store/redis/address.ts';
import { checkRedis } from '../store/redis/check.ts';
import { takeBackup } from './backup.ts';
import { BackupError, codeOf } from './dump.ts';
import { markEmbedded, markExternal, restoreBackup } from './restore.ts';
import { openStandardOutput } from './standard-output.ts';

const USAGE = `Usage: npm run backup -- FILE        writes all that Docket keeps; also while it runs. In the image: backup FILE
       npm run restore -- FILE       puts it back; Docket must not run. In the image: restore FILE
       npm run restore -- --mark TIME  says that data of that time was put back in another way, such as 2026-11-23T02:00Z
FILE may be - for standard output or input.
`;

const operatorErrors = [BackupError, DataDirInUse, DataDirUnusable, RedisMissing, RedisStartFailed];

/** Does what is asked for, and ends the process. */
async function main(env: NodeJS.ProcessEnv): Promise<void> {
  try {
    const [command, ...args] = process.argv.slice(2);
    const said = await run(command, args, env);
    process.stderr.write(said ?? USAGE, () => process.exit(said === undefined ? 1 : 0));
  } catch (error) {
    if (!(error instanceof Error) || !operatorErrors.some((kind) => error instanceof kind)) throw error;
    process.stderr.write(`${error.message}\n`, () => process.exit(1));
  }
}

/** Returns what to tell; nothing when it was not asked for rightly. */
async function run(
  command: string | undefined,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const [first, second] = args;
  if (first === undefined || (first.startsWith('--') && first !== '--mark')) return undefined;
  const settings = readSettings(env);
  const address = redisAddressOf(settings);
  const parts = { dataDir: settings.dataDir, searchPath: env.PATH ?? '', log: silent };
  if (command === 'restore' && first === '--mark') {
    const takenAtMs = Date.parse(second ?? '');
    if (args.length !== 2 || Number.isNaN(takenAtMs)) return undefined;
    if (address === undefined) await markEmbedded(takenAtMs, parts);
    else await markOutside(takenAtMs, address);
    return `The data is now marked as that of ${timeOf(takenAtMs)}. ${NEXT}\n`;
  }
  if (args.length !== 1 || (command !== 'backup' && command !== 'restore')) return undefined;
  if (address !== undefined) throw new BackupError(EXTERNAL);
  if (command === 'backup') {
    const bytes = await takeBackup(first === '-' ? openStandardOutput(env) : first, parts);
    return `Backed up: ${first === '-' ? 'to standard output' : first}, ${bytes} bytes. It contains messages and links: keep it as safe as .env.\n`;
  }
  const { takenAtMs, movedTo } = await restoreBackup(read(first), parts);
  const before =
    movedTo === undefined ? '' : `The previous data is in ${movedTo}; delete it once all is well.\n`;
  return `Restored: the data of ${timeOf(takenAtMs)}.\n${before}${NEXT}\n`;
}

const NEXT = 'Start Docket. It asks before it repeats anything that may have been done since then.';

const EXTERNAL =
  'REDIS_URL is set: back up and restore that Redis with its own tools. After a restore, before Docket starts: ' +
  'npm run restore -- --mark TIME, with the time of the backup.';

const silent = { info() {}, warn() {}, error() {} };

const timeOf = (ms: number) => new Date(ms).toISOString().replace('.000', '');

function readSettings(env: NodeJS.ProcessEnv) {
  const file = readEnvFile(fileURLToPath(new URL('../../.env', import.meta.url)));
  if (file.is === 'unreadable') throw new BackupError(file.problem);
  const { settings, problems, flawed } = readUsableSettings({
    ...(file.is === 'read' && file.values),
    ...env,
  });
  const wrong = problems.filter(({ variable }) => NEEDED.includes(variable)).map(({ text }) => text);
  if (settings === undefined || NEEDED.some((name) => flawed.has(name)))
    throw new BackupError(wrong.join('\n') || problems.map(({ text }) => text).join('\n'));
  return settings;
}

const NEEDED = ['DATA_DIR', 'REDIS_URL', 'REDIS_CA', 'REDIS_ALLOW'];

/** Returns what is in a file, part by part: it may be larger than the memory. */
async function* read(file: string): AsyncGenerator<Buffer> {
  try {
    yield* file === '-' ? process.stdin : createReadStream(file);
  } catch (error) {
    throw new BackupError(`${file} cannot be read (${codeOf(error)}).`);
  }
}

async function markOutside(takenAtMs: number, address: RedisAddress): Promise<void> {
  setTagName(tagNameOf(address));
  const { problems } = await checkRedis(address);
  const problem = problems.find(({ fatal, kind }) => fatal || kind === 'unreachable');
  if (problem !== undefined) throw new BackupError(problem.text);
  await markExternal(takenAtMs, address);
}

if (import.meta.main) await main(process.env);

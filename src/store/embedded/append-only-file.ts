import { execFile, spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { quoteForShell } from './data-dir.ts';
import { logEnd, logSince, RedisStartFailed, type ServerLog, type ServerPlace } from './redis-server.ts';

/** Redis 7 keeps its data in files of this folder, which a manifest names; Redis 6.2 in one file beside it. */
const APPEND_DIR = 'appendonlydir';
const MANIFEST = 'appendonly.aof.manifest';
const SINGLE_FILE = 'appendonly.aof';

/** Created when Redis has run: from then on, no data means lost data. */
const MARKER = 'has-data';

/** Files that a killed rewrite leaves behind; Redis itself never removes them. */
const LEFT_OVER = /^temp-(?:rewriteaof(?:-bg)?-\d+\.aof|\d+\.rdb|appendonly\.aof\.manifest)$/;

/** A file is checked at some 100 MB a second. */
const CHECK_LIMIT_MS = 120_000;
const VERSION_LIMIT_MS = 5_000;

/**
 * Checks the files before a server starts on them, and removes what killed rewrites left behind. Throws
 * `RedisStartFailed` when files are missing, or the server is too old to read them. Returns a function to call once the
 * server answers, which logs what Redis cut off.
 */
export function prepareData(program: string, place: ServerPlace, log: ServerLog): () => void {
  const { folder } = place;
  const loss = describeLoss(folder) ?? describeVersionProblem(program, folder);
  if (loss !== undefined) throw new RedisStartFailed(loss);
  const leftOvers = removeLeftOvers(folder);
  if (leftOvers.length > 0) log.info({ leftOvers }, 'removed what killed rewrites of Redis left behind');
  const sizes = sizesOf(folder);
  const logFrom = logEnd(place);
  return () => {
    const truncation = findTruncation(logSince(place, logFrom));
    if (truncation !== undefined) {
      const cutBytes = (sizes.get(truncation.file) ?? truncation.offset) - truncation.offset;
      log.warn(
        { file: join(folder, truncation.file), keptBytes: truncation.offset, cutBytes },
        'Redis cut an unfinished end off its file. After a crash that is one write, never confirmed; if much is cut, the disk lost more',
      );
    }
    writeMarker(folder);
  };
}

function writeMarker(folder: string): void {
  const marker = join(folder, MARKER);
  if (existsSync(marker)) return;
  try {
    writeFileSync(
      marker,
      "Docket's Redis has run here. Without its files it is not started, rather than empty.\n",
    );
  } catch {
    // No reason to stop a Redis that runs; the next start retries it.
  }
}

/** Removes what killed rewrites left behind. Returns the names of the files. */
function removeLeftOvers(folder: string): string[] {
  return [folder, join(folder, APPEND_DIR)].flatMap((place) => {
    const names = listNames(place).filter((name) => LEFT_OVER.test(name));
    for (const name of names) rmSync(join(place, name), { force: true });
    return names;
  });
}

/** Returns the problem when files with data are missing: Redis would silently start empty. */
function describeLoss(folder: string): string | undefined {
  const firstFile = firstFileOf(folder);
  const missing =
    firstFile === undefined
      ? hadData(folder) && join(folder, APPEND_DIR, MANIFEST)
      : dataFilesOf(firstFile).find((file) => !existsSync(file));
  if (!missing) return undefined;
  return (
    `Redis kept data in ${folder}, but ${missing} is gone. Nothing was changed or started.\n` +
    `Put the files back from a copy, then start again. Or ${startEmptyAdvice(folder)}`
  );
}

const startEmptyAdvice = (folder: string) =>
  `discard all accepted work, and start empty: mv ${quoteForShell(folder)} ${quoteForShell(`${folder}.lost`)}`;

/** Returns the problem when the server is older than the one that wrote the files: it would not read them. */
function describeVersionProblem(program: string, folder: string): string | undefined {
  if (firstFileOf(folder) !== join(folder, APPEND_DIR, MANIFEST)) return undefined;
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8', timeout: VERSION_LIMIT_MS });
  const [, version, major] = /\bv=((\d+)[\d.]*)/.exec(stdout ?? '') ?? [];
  if (major === undefined || Number(major) >= 7) return undefined;
  return (
    `${program} is version ${version}, but Redis 7 or newer wrote the data in ${folder}, which it cannot see. ` +
    'Nothing was changed or started. Install Redis or Valkey 7 or newer, then start again.'
  );
}

/**
 * Returns the problem, with its repair, when the server's own checking tool finds the files damaged; `undefined` when
 * it does not, or when there is no such tool.
 */
export async function describeDamage(program: string, folder: string): Promise<string | undefined> {
  const firstFile = firstFileOf(folder);
  if (firstFile === undefined) return undefined;
  const checker = checkerOf(program);
  const { status, output } = await runTool(checker, [firstFile]);
  if (status !== 1) return undefined;
  const [damage] = [...output.matchAll(ANALYZED_LINE)]
    .map(([, name = '', size, from, dropped]) => ({
      file: join(dirname(firstFile), basename(name)),
      ...{ size: Number(size), from: Number(from), dropped: Number(dropped) },
    }))
    .filter(({ dropped }) => dropped > 0);
  const copy = `${folder}.damaged`;
  const copying = `Copy the folder:  cp -a ${quoteForShell(folder)} ${quoteForShell(copy)}`;
  // Only the end of the last file can be cut off.
  if (damage === undefined || damage.file !== dataFilesOf(firstFile).at(-1)) {
    return [
      `The data in ${folder} cannot be read: ${damage?.file ?? firstFile} is damaged, or a newer Redis wrote it. Nothing was changed.`,
      `  1. ${copying}`,
      '  2. Start Docket with the Redis that wrote it, or put the folder back from an earlier copy.',
      `     Or ${startEmptyAdvice(folder)}`,
    ].join('\n');
  }
  const { file, size, from, dropped } = damage;
  const copied = join(copy, file.slice(folder.length));
  return [
    `The data in ${folder} is damaged: ${file}, at byte ${from} of ${size}. Nothing was changed.`,
    `  1. ${copying}`,
    `  2. Look at what a repair drops: all ${dropped} bytes from there to the end, including intact ones:`,
    `     tail -c ${dropped} ${quoteForShell(copied)} | more`,
    `  3. Repair, then start again:  ${quoteForShell(checker)} --fix ${quoteForShell(firstFile)}`,
    '     Work accepted after that place is lost. If you have an earlier copy of the folder, compare first.',
  ].join('\n');
}

/** One line of redis-check-aof for each file. */
const ANALYZED_LINE =
  /^AOF analyzed: filename=(.+), size=(\d+), ok_up_to=(\d+), ok_up_to_line=\d+, diff=(\d+)$/gm;

/** Returns what Redis cut off by itself while it loaded, from its log since the start. */
function findTruncation(log: string): { file: string; offset: number } | undefined {
  const [, name, offset] = /Truncating the AOF (?:(\S+) )?at offset (\d+)/.exec(log) ?? [];
  if (offset === undefined) return undefined;
  return {
    file: name === undefined ? SINGLE_FILE : join(APPEND_DIR, basename(name)),
    offset: Number(offset),
  };
}

/** Returns the sizes of the files that a start reads, by path below the folder. */
function sizesOf(folder: string): Map<string, number> {
  const firstFile = firstFileOf(folder);
  const files = firstFile === undefined ? [] : dataFilesOf(firstFile).filter((file) => existsSync(file));
  return new Map(files.map((file) => [file.slice(folder.length + 1), statSync(file).size]));
}

/** Returns the file at which Redis begins to read. */
function firstFileOf(folder: string): string | undefined {
  return [join(folder, APPEND_DIR, MANIFEST), join(folder, SINGLE_FILE)].find((file) => existsSync(file));
}

/** Returns the files with data, the newest last. Redis 8 adds where each of them starts. */
function dataFilesOf(firstFile: string): string[] {
  if (basename(firstFile) === SINGLE_FILE) return [firstFile];
  const lines = readFileSync(firstFile, 'utf8').matchAll(/^file (\S+) seq \d+ type [bi]\b.*$/gm);
  return [...lines].map(([, name = '']) => join(dirname(firstFile), basename(name)));
}

function hadData(folder: string): boolean {
  if (existsSync(join(folder, MARKER))) return true;
  const written = listNames(join(folder, APPEND_DIR)).filter((name) => name.endsWith('.incr.aof'));
  return written.some((name) => statSync(join(folder, APPEND_DIR, name)).size > 0);
}

/** Returns the checking tool of the server: its path when it is in the same folder, else its name. */
function checkerOf(program: string): string {
  const name = basename(program).replace('server', 'check-aof');
  const beside = join(dirname(program), name);
  try {
    accessSync(beside, constants.X_OK);
    return beside;
  } catch {
    return name;
  }
}

function runTool(program: string, args: string[]): Promise<{ status: unknown; output: string }> {
  return new Promise((resolve) => {
    const options = { timeout: CHECK_LIMIT_MS, maxBuffer: 10_000_000, encoding: 'utf8' } as const;
    execFile(program, args, options, (error, stdout) =>
      resolve({ status: error?.code ?? 0, output: stdout }),
    );
  });
}

function listNames(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

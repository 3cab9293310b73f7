import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Starts Node with these arguments in the project's folder, as a process that ends with the tests at the latest. */
export function startNode(args: string[], options: SpawnOptions) {
  const child: ChildProcess = endsWithTests(
    spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], ...options }),
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (output += text));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { child, ended, output: () => output };
}

/** Docket as `npm start` runs it. Slack and the platform are not there. */
export function startDocket(env: NodeJS.ProcessEnv, stdout: 'pipe' | number = 'pipe') {
  return startNode(['src/app.ts'], {
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      SLACK_BOT_TOKEN: 'xoxb-1-2-abc',
      SLACK_SIGNING_SECRET: '0123456789abcdef0123456789abcdef',
      SLACK_API_URL: 'http://127.0.0.1:9/api/',
      DOCS_API_URL: 'http://127.0.0.1:9/',
      DOCS_API_KEY: 'adm_0123456789',
      ...env,
    },
    stdio: ['ignore', stdout, 'pipe'],
  });
}

/**
 * Has the child ended with the tests (`leftovers.ts`), also when the test that started it failed before it
 * could end it.
 */
export function endsWithTests<Child extends ChildProcess>(child: Child): Child {
  const folder = process.env.TEST_CHILDREN;
  if (folder === undefined || child.pid === undefined) return child;
  const note = join(folder, String(child.pid));
  writeFileSync(note, '');
  const { pid } = child;
  child.once('exit', () => {
    rmSync(note, { force: true });
    forgetSharedMemory(pid);
  });
  return child;
}

/** Removes what libfaketime leaves behind when its process is killed. */
export function forgetSharedMemory(pid: number) {
  for (const name of ['faketime_shm', 'sem.faketime_sem']) rmSync(`/dev/shm/${name}_${pid}`, { force: true });
}

/** Living processes that were started with this temporary folder, or work inside it. */
export function processesWith(folder: string) {
  return processes().filter(({ traces }) => traces.includes(folder));
}

/** With the command line, the environment and, where it can be known, the folder of each. */
function processes(): { pid: number; command: string; traces: string }[] {
  if (process.platform !== 'linux') {
    const lines = execFileSync('ps', ['-AEww', '-o', 'pid=,command='], { encoding: 'utf8' }).split('\n');
    return lines.map((line) => ({ pid: Number.parseInt(line, 10), command: line, traces: line }));
  }
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      const rest = [readFileSync(`/proc/${pid}/environ`, 'utf8'), readlinkSync(`/proc/${pid}/cwd`)];
      return [{ pid: Number(pid), command, traces: [command, ...rest].join('\n') }];
    } catch {
      // It ended meanwhile, or belongs to somebody else.
      return [];
    }
  });
}

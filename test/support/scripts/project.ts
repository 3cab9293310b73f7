import { type ChildProcess, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Ended {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

interface Running {
  child: ChildProcess;
  ended: Promise<Ended>;
}

/** A package-lock.json's `packages`, as far as the setup reads them. */
type Packages = Record<string, { version?: string; integrity?: string; optional?: boolean }>;

/** The scripts in a folder of their own, with an npm that only writes down how it was called. */
export interface Project {
  root: string;
  writeLock(packages: Packages): void;
  /** Puts packages into node_modules as an `npm install` by hand does. */
  installByHand(packages: Packages): void;
  /** What npm does when it is called, in shell. */
  npmDoes(script: string): void;
  /** The arguments of each call of npm. */
  npmCalls(): string[];
  /** Puts a command on the PATH, in shell. */
  program(name: string, script: string): void;
  run(...args: string[]): Running;
  operate(...args: string[]): Running;
  start(env?: NodeJS.ProcessEnv): Running;
}

const repository = new URL('../../../', import.meta.url).pathname;
/** What the scripts read of `src`. */
const ENV_FILE = 'src/config/env-file.ts';

export function createProject(): Project {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'docket-scripts-')));
  const bin = join(root, 'bin');
  const calls = join(root, 'npm-calls');
  for (const name of ['scripts', ENV_FILE])
    cpSync(join(repository, name), join(root, name), { recursive: true });
  mkdirSync(bin);
  writeFileSync(
    join(root, 'package.json'),
    JSON.stringify({ type: 'module', dependencies: { needed: '1.0.0' } }),
  );
  program('redis-server', 'echo "Redis server v=7.0.15 sha=0"');

  function program(name: string, script: string): void {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }

  function launch(args: string[], added: NodeJS.ProcessEnv = {}): Running {
    // The folders for temporary files, caches and commands are the project's own, so that runs cannot meet.
    // The start keeps compiled code itself.
    const { NODE_COMPILE_CACHE: _, ...inherited } = process.env;
    const own = { PATH: `${bin}:/usr/bin:/bin`, TMPDIR: root, XDG_CACHE_HOME: join(root, 'cache') };
    const env = { ...inherited, ...own, ...added };
    const child = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      stderr += text;
    });
    const ended = new Promise<Ended>((resolve) => {
      child.once('close', (code, signal) => resolve({ code, signal, stdout, stderr }));
    });
    return { child, ended };
  }

  const project: Project = {
    root,
    writeLock(packages) {
      writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages }));
    },
    installByHand(packages) {
      for (const path of Object.keys(packages)) mkdirSync(join(root, path), { recursive: true });
      mkdirSync(join(root, 'node_modules', '.bin'), { recursive: true });
      writeFileSync(join(root, 'node_modules', '.package-lock.json'), JSON.stringify({ packages }));
      const node = join(root, 'node_modules', '.bin', 'node');
      writeFileSync(node, `#!/bin/sh\nexec "${process.execPath}" "$@"\n`, { mode: 0o755 });
    },
    npmDoes(script) {
      program('npm', `echo "$@" >> "${calls}"\n${script}`);
    },
    npmCalls() {
      return existsSync(calls) ? readFileSync(calls, 'utf8').trimEnd().split('\n') : [];
    },
    program,
    run: (...args) => launch([join('scripts', 'run.mjs'), ...args]),
    operate: (...args) => launch([join('scripts', 'operate.mjs'), ...args]),
    start: (env) => launch([join('scripts', 'start.mjs')], env),
  };
  project.npmDoes(`mkdir -p node_modules/.bin && ln -sf "${process.execPath}" node_modules/.bin/node`);
  return project;
}

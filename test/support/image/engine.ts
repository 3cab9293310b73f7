import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = new URL('../../../', import.meta.url).pathname;

/** Limits that a machine without the right to raise them has as well. */
const LIMITS = ['--ulimit', 'nofile=4096:4096', '--ulimit', 'nproc=4096:4096'];

/** How an operator should run it: nothing may be written but the data folder, and no right is left. */
const HARDENED = [
  ...['--read-only', '--read-only-tmpfs=false'],
  ...['--cap-drop', 'all', '--security-opt', 'no-new-privileges'],
];

/** What builds and runs the image where there is no Docker: from Debian's packages of these names. */
const TOOLS = ['buildah', 'podman', 'crun', 'mmdebstrap'];

/** Returns what is missing to build and run the image here, as a sentence; nothing where it can be done. */
export function missingHere(): string | undefined {
  if (process.platform !== 'linux') return 'The image is built and run on Linux only.';
  if (process.getuid?.() !== 0) return 'Building and running the image without Docker needs root.';
  const missing = TOOLS.filter((tool) => spawnSync(tool, ['--version']).error !== undefined);
  if (missing.length === 0) return undefined;
  return `Missing: ${missing.join(', ')}. On Debian, as root: apt-get install --no-install-recommends ${TOOLS.join(' ')}`;
}

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface ImageFacts {
  Size: number;
  User: string;
  Config: { Labels: Record<string, string>; Entrypoint: string[] };
}

export interface ContainerOptions {
  env?: Record<string, string>;
  /** Further options of `podman run`. */
  options?: string[];
  /** `host` reaches what listens on this machine; `none`, the default, has a loopback of its own. */
  network?: 'host' | 'none';
}

export interface Container {
  /** Returns what it printed so far. */
  output(): Promise<string>;
  /** Runs the image's health check in it. Returns whether it is healthy. */
  isHealthy(): Promise<boolean>;
  signal(name: string): Promise<void>;
  /** Starts it again, on the same data. */
  start(): Promise<void>;
  /** Returns the exit code once it has ended. */
  ended(): Promise<number>;
}

export interface Engine {
  /** Runs a command of the image to its end. */
  run(image: string, command: string[], options?: ContainerOptions): Promise<Ended>;
  start(image: string, options?: ContainerOptions): Promise<Container>;
  inspect(image: string): Promise<ImageFacts>;
  /** Builds the repository's Dockerfile. Returns what the tools printed. */
  build(tag: string, args: Record<string, string>): Promise<string>;
  /** Imports an archive as an image with the environment of Node's own ones. */
  importBase(tar: string, tag: string, nodeVersion: string): Promise<void>;
  /** A folder for what containers are given. */
  folder: string;
  close(): Promise<void>;
}

/**
 * Starts a place for containers: namespaces of processes and mounts of their own, which end with this process, however
 * that ends. Nothing of it stays mounted or running.
 */
export async function startEngine(): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'docket-image-'));
  const config = join(folder, 'containers.conf');
  writeFileSync(
    config,
    [
      '[engine]',
      // There may be no systemd to make groups or to keep events.
      'cgroup_manager="cgroupfs"',
      'events_logger="file"',
      'runtime="crun"',
      '[containers]',
      // Podman refuses groups of both versions side by side, which some machines have; limits are not tested.
      'cgroups="disabled"',
      '',
    ].join('\n'),
  );
  const env = { ...process.env, CONTAINERS_CONF: config, TMPDIR: folder };
  // For the same reason, Podman sees version 2 alone. `cat` ends with our end of its input.
  const inside = 'mount -t cgroup2 none /sys/fs/cgroup && echo ready && exec cat';
  const holder = spawn(
    'unshare',
    ['--mount', '--propagation', 'private', '--pid', '--fork', '--mount-proc', 'sh', '-c', inside],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  if (!(await Promise.race([once(holder.stdout, 'data'), once(holder, 'exit').then(() => false)])))
    throw new Error('unshare made no namespaces.');
  const first = readFileSync(`/proc/${holder.pid}/task/${holder.pid}/children`, 'utf8').trim();

  const storage = [
    ...['--root', join(folder, 'storage'), '--runroot', join(folder, 'run')],
    ...['--storage-driver', 'overlay'],
  ];
  const start = (command: string, args: string[]): ChildProcess =>
    spawn('nsenter', ['--target', first, '--mount', '--pid', '--', command, ...storage, ...args], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  async function run(command: string, args: string[]): Promise<Ended> {
    const child = start(command, args);
    let [stdout, stderr] = ['', ''];
    child.stdout?.setEncoding('utf8').on('data', (text) => (stdout += text));
    child.stderr?.setEncoding('utf8').on('data', (text) => (stderr += text));
    const [code] = await once(child, 'close');
    return { code, stdout, stderr };
  }
  async function must(command: string, args: string[]): Promise<string> {
    const { code, stdout, stderr } = await run(command, args);
    if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${stderr}\n${stdout}`);
    return stdout + stderr;
  }

  let containers = 0;
  const argumentsOf = ({ env = {}, options = [], network = 'none' }: ContainerOptions) => [
    ...[...LIMITS, ...HARDENED, '--network', network],
    ...Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    ...options,
  ];

  return {
    folder,
    run: (image, command, options = {}) =>
      run('podman', ['run', '--rm', '--no-healthcheck', ...argumentsOf(options), image, ...command]),
    async start(image, options = {}) {
      containers += 1;
      const name = `docket-${containers}`;
      // The check itself can be run, only nobody is there who would do it every 30 s.
      const checked = ['--name', name, '--health-interval=disable'];
      await must('podman', ['run', '--detach', ...checked, ...argumentsOf(options), image]);
      return {
        output: () => must('podman', ['logs', name]),
        isHealthy: async () => (await run('podman', ['healthcheck', 'run', name])).code === 0,
        signal: async (signal) => void (await must('podman', ['kill', '--signal', signal, name])),
        start: async () => void (await must('podman', ['start', name])),
        ended: async () => Number((await must('podman', ['wait', name])).trim()),
      };
    },
    inspect: async (image) => JSON.parse(await must('podman', ['image', 'inspect', image]))[0],
    build: (tag, args) =>
      must('buildah', [
        'bud',
        // Without groups and bridges of the kernel, only these work.
        ...['--isolation', 'chroot', '--network', 'host'],
        '--pull-never',
        // Others have no health check.
        ...['--format', 'docker'],
        ...Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`]),
        ...['--tag', tag, root],
      ]),
    async importBase(tar, tag, nodeVersion) {
      const changes = [
        'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        `ENV NODE_VERSION=${nodeVersion}`,
        'CMD ["node"]',
      ];
      await must('podman', ['import', ...changes.flatMap((change) => ['--change', change]), tar, tag]);
    },
    async close() {
      const ended = once(holder, 'exit');
      holder.stdin.end();
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

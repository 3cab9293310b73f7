import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createProject, type Project } from '../support/scripts/project.ts';

let project: Project;
beforeEach(() => {
  project = createProject();
});
afterEach(() => rmSync(project.root, { recursive: true }));

function appDoes(code: string): void {
  writeFileSync(
    join(project.root, 'src', 'app.ts'),
    `export async function main(env: NodeJS.ProcessEnv) { ${code} }\n`,
  );
}

test('it starts the app with the settings of .env, which do not outrank the environment', async () => {
  mkdirSync(join(project.root, 'node_modules', 'needed'), { recursive: true });
  writeFileSync(join(project.root, '.env'), 'LOG_LEVEL=debug\nTMPDIR=/elsewhere\n');
  appDoes('console.log(env.LOG_LEVEL, env.TMPDIR)');
  const { code, stdout } = await project.start().ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: `debug ${project.root}\n` });
});

describe('a .env', () => {
  const outcome = async () => {
    mkdirSync(join(project.root, 'node_modules', 'needed'), { recursive: true });
    appDoes('console.log(env.LOG_LEVEL)');
    const { code, stdout, stderr } = await project.start().ended;
    return { code, stdout, stderr: stderr.replaceAll(project.root, '…') };
  };
  const file = (content: string | Uint8Array, mode = 0o600) => {
    writeFileSync(join(project.root, '.env'), content);
    chmodSync(join(project.root, '.env'), mode);
  };
  const refused = (stderr: string) => ({ code: 1, stdout: '', stderr: `${stderr}\n` });

  test('in UTF-16 ends the start with the fix; a byte order mark of UTF-8 does not matter', async () => {
    file(Buffer.from('\uFEFFLOG_LEVEL=debug', 'utf16le'));
    expect(await outcome()).toEqual(
      refused('…/.env cannot be read (ERR_ENCODING_INVALID_ENCODED_DATA). Save it as UTF-8.'),
    );
    file('\uFEFFLOG_LEVEL=debug');
    expect(await outcome()).toMatchObject({ code: 0, stdout: 'debug\n' });
  });

  test.skipIf(process.getuid?.() !== 0)('of somebody else ends the start with the fix', async () => {
    file('LOG_LEVEL=debug');
    const stranger = 65534;
    const code = `import { readEnvFile } from ${JSON.stringify(join(project.root, 'src', 'config', 'env-file.ts'))};
      process.setuid(${stranger});
      console.log(readEnvFile(${JSON.stringify(join(project.root, '.env'))}).problem);`;
    chmodSync(project.root, 0o755);
    const said = execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' });
    expect(said.replaceAll(project.root, '…')).toBe(
      `…/.env may not be read by Docket, which runs as uid ${stranger}. Run: chown ${stranger} …/.env\n`,
    );
  });

  test.each([0o644, 0o640, 0o604])('with the mode %o is read, with a warning', async (mode) => {
    file('LOG_LEVEL=debug', mode);
    expect(await outcome()).toEqual({
      code: 0,
      stdout: 'debug\n',
      stderr: '…/.env contains secrets, and other users of this machine can read it. Run: chmod 600 …/.env\n',
    });
  });
});

test('the app itself gets the signals', async () => {
  mkdirSync(join(project.root, 'node_modules', 'needed'), { recursive: true });
  appDoes(
    'process.on("SIGTERM", () => process.exit(5)); setInterval(() => {}, 1e6); console.log(process.pid)',
  );
  const { child, ended } = project.start();
  if (child.stdout) await once(child.stdout, 'data');
  child.kill('SIGTERM');
  const { code, stdout } = await ended;
  expect({ code, stdout }).toEqual({ code: 5, stdout: `${child.pid}\n` });
});

describe('what is missing', () => {
  const installed = () => mkdirSync(join(project.root, 'node_modules', 'needed'), { recursive: true });
  const isFetched = () => existsSync(join(project.root, 'apt-get-was-called'));
  beforeEach(() => {
    appDoes('console.log("started")');
    // Too old, also in front of those that this machine has.
    for (const name of ['redis-server', 'valkey-server']) project.program(name, 'echo v=5.0.0');
    project.npmDoes(`mkdir -p node_modules/.bin node_modules/needed
      ln -sf "${process.execPath}" node_modules/.bin/node`);
    project.program('apt-get', `touch "${project.root}/apt-get-was-called"; exit 1`);
  });
  const started = async (env: NodeJS.ProcessEnv = {}) => {
    const { code, stdout, stderr } = await project.start(env).ended;
    return { code, stdout, stderr, npm: project.npmCalls(), isFetched: isFetched() };
  };

  test('is brought before the start: packages, and a Redis, or else the reason why not', async () => {
    expect(await started()).toMatchObject({
      ...{ code: 0, stdout: 'started\n', npm: [expect.stringMatching(/^install /)], isFetched: true },
      stderr: 'No Redis could be fetched. Docket can fetch one by itself only on Debian and Ubuntu.\n',
    });
  });

  test('is brought again when an update changed the packages', async () => {
    for (const version of ['1.0.0', '1.0.0', '1.0.1']) {
      project.writeLock({ 'node_modules/needed': { version } });
      expect(await started()).toMatchObject({ code: 0, stdout: 'started\n' });
    }
    expect(project.npmCalls()).toEqual([expect.stringMatching(/^ci /), expect.stringMatching(/^ci /)]);
  });

  test('is not brought if it is not needed: Docket has its packages, and the settings name a Redis', async () => {
    installed();
    writeFileSync(join(project.root, '.env'), 'REDIS_URL=redis://127.0.0.1:6379\n', { mode: 0o600 });
    expect(await started()).toEqual({ code: 0, stdout: 'started\n', stderr: '', npm: [], isFetched: false });
  });

  test('is not brought to a server', async () => {
    const stderr =
      'Packages are missing: needed.\nRun "npm ci --omit=dev --ignore-scripts", then start again.\n';
    const server = { NODE_ENV: 'production' };
    expect(await started(server)).toEqual({ code: 1, stdout: '', stderr, npm: [], isFetched: false });
    installed();
    expect(await started(server)).toMatchObject({ code: 0, stdout: 'started\n', npm: [], isFetched: false });
  });

  test('is also Node 26, which then runs Docket', async () => {
    appDoes('console.log(process.version)');
    const old = join(project.root, 'old.cjs');
    writeFileSync(
      old,
      "if (!process.env.IS_OLD) Object.defineProperty(process, 'version', { value: 'v22.1.0' }); process.env.IS_OLD = '1';",
    );
    const { code, stdout } = await started({ NODE_OPTIONS: `--require ${old}` });
    expect([code, stdout]).toEqual([0, `${process.version}\n`]);
  });

  test('cannot be brought to a home that cannot be written: the start says so, and Docket what to do', async () => {
    installed();
    writeFileSync(join(project.root, 'cache'), '');
    const { stderr, code } = await started();
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/cache\/docket cannot be written \(ENOTDIR\)\. Set XDG/),
    ]);
  });
});

import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createProject, type Project } from '../support/scripts/project.ts';

let project: Project;
beforeEach(() => {
  project = createProject();
  mkdirSync(join(project.root, 'src'));
  cpSync(
    new URL('../../src/config/env-file.ts', import.meta.url),
    join(project.root, 'src/config/env-file.ts'),
  );
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

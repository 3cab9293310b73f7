import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createProject, type Project } from './project.ts';

let project: Project;
beforeEach(() => {
  project = createProject();
  mkdirSync(join(project.root, 'src'));
});
afterEach(() => rmSync(project.root, { recursive: true }));

function appDoes(code: string): void {
  writeFileSync(
    join(project.root, 'src', 'app.ts'),
    `export async function main(env: NodeJS.ProcessEnv) { ${code} }\n`,
  );
}

test('without its packages it names them and the fix', async () => {
  appDoes('console.log("started")');
  const { code, stdout, stderr } = await project.start().ended;
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/needed.*\n.*npm ci/);
});

test('it starts the app with the settings of .env, which do not outrank the environment', async () => {
  mkdirSync(join(project.root, 'node_modules', 'needed'), { recursive: true });
  writeFileSync(join(project.root, '.env'), 'LOG_LEVEL=debug\nTMPDIR=/elsewhere\n');
  appDoes('console.log(env.LOG_LEVEL, env.TMPDIR)');
  const { code, stdout } = await project.start().ended;
  expect({ code, stdout }).toEqual({ code: 0, stdout: `debug ${project.root}\n` });
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

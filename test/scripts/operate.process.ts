import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createProject, type Project } from '../support/scripts/project.ts';

let project: Project;
beforeEach(() => {
  project = createProject();
  writeFileSync(
    join(project.root, 'src', 'tool.ts'),
    'const said: string[] = process.argv.slice(2); console.log(said.join()); process.exit(3);\n',
  );
});
afterEach(() => rmSync(project.root, { recursive: true }));

test('with the packages of production alone it runs, installs nothing, and ends as the program does', async () => {
  mkdirSync(join(project.root, 'node_modules', 'needed'), { recursive: true });
  const { code, stdout } = await project.operate('src/tool.ts', '--json', 'a b').ended;
  expect({ code, stdout, npm: project.npmCalls() }).toEqual({ code: 3, stdout: '--json,a b\n', npm: [] });
});

test('on a server an old Node is said in a sentence, and nothing is installed', () => {
  const old = join(project.root, 'old.cjs');
  writeFileSync(old, "Object.defineProperty(process, 'version', { value: 'v22.1.0' });");
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--require', old, join(project.root, 'scripts', 'operate.mjs'), 'src/tool.ts'],
    { env: { ...process.env, NODE_ENV: 'production' }, encoding: 'utf8' },
  );
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toMatch(/^Docket needs Node 26 or newer; this is v22\.1\.0\.\n/);
  expect(project.npmCalls()).toEqual([]);
});

import { once } from 'node:events';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createProject, type Project } from '../support/scripts/project.ts';

const lock = {
  '': {},
  'node_modules/a': { version: '1.0.0', integrity: 'sha512-a' },
  'node_modules/b': { version: '2.0.0', integrity: 'sha512-b' },
  'node_modules/b-for-another-machine': { version: '2.0.0', integrity: 'sha512-c', optional: true },
};
const { 'node_modules/b-for-another-machine': _, ...hereOnly } = lock;

const WAIT = { interval: 5, timeout: 30_000 };

let project: Project;
beforeEach(() => {
  project = createProject();
  project.writeLock(lock);
});
afterEach(() => rmSync(project.root, { recursive: true, force: true }));

/** Resolves when a file in the project's folder is there. */
const appears = (name: string) =>
  vi.waitFor(() => expect(existsSync(join(project.root, name))).toBe(true), WAIT);

const locks = () => readdirSync(project.root).filter((name) => name.startsWith('docket-setup-'));

describe('the command', () => {
  beforeEach(() => project.installByHand(hereOnly));

  test('gets its arguments and our streams; its code is ours', async () => {
    const script = 'console.log(process.argv[1]); console.error("oh"); process.exit(7)';
    const { code, stdout, stderr } = await project.run('node', '-e', script, 'two words').ended;
    expect({ code, stdout, stderr }).toEqual({ code: 7, stdout: 'two words\n', stderr: 'oh\n' });
  });

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('gets %s from us', async (signal) => {
    const script = `process.on('${signal}', () => process.exit(9)); setInterval(() => {}, 1e6); console.log('here')`;
    const { child, ended } = project.run('node', '-e', script);
    if (child.stdout) await once(child.stdout, 'data');
    child.kill(signal);
    expect((await ended).code).toBe(9);
  });
});

describe('the packages', () => {
  test('are installed once, and again when the lock file changed', async () => {
    expect((await project.run('true').ended).code).toBe(0);
    expect((await project.run('true').ended).stderr).toBe('');
    expect(project.npmCalls()).toEqual([expect.stringMatching(/^ci --include=dev /)]);

    project.writeLock({ ...lock, 'node_modules/c': { version: '1.0.0' } });
    await project.run('true').ended;
    expect(project.npmCalls()).toHaveLength(2);
  });

  test.each([
    ['lack one', { 'node_modules/a': lock['node_modules/a'] }],
    ['have another version', { ...hereOnly, 'node_modules/a': { version: '1.0.1', integrity: 'sha512-a' } }],
    ['have other content', { ...hereOnly, 'node_modules/a': { version: '1.0.0', integrity: 'sha512-z' } }],
  ])('that were installed by hand and %s are installed again', async (_what, packages) => {
    project.installByHand(packages);
    await project.run('true').ended;
    expect(project.npmCalls()).toHaveLength(1);
  });

  test('without their Node: it is fetched once more, and ours does when it is new enough', async () => {
    project.npmDoes('mkdir -p node_modules/.bin');
    expect((await project.run('true').ended).code).toBe(0);
    expect(project.npmCalls()).toEqual([
      expect.stringMatching(/^ci /),
      expect.stringMatching(/^rebuild node --ignore-scripts=false/),
    ]);
  });

  test('are installed once more after a command that was killed meanwhile, but not before its npm ended', async () => {
    project.npmDoes(`if [ -e begun ]; then [ -e ended ] && touch after; exit 1; fi
      touch begun; while ! [ -e go ]; do sleep 0.01; done; touch ended`);
    const killed = project.run('true');
    await appears('begun');
    const holders = () =>
      locks()
        .flatMap((name) => readdirSync(join(project.root, name)))
        .filter((name) => name.startsWith('pid-'));
    await vi.waitFor(() => expect(holders()).toHaveLength(2), WAIT);
    killed.child.kill('SIGKILL');
    await new Promise((resolve) => killed.child.once('exit', resolve));

    const next = project.run('true');
    // It says that it waits; were it to call npm instead, it would end at once, and "after" would be missing.
    if (next.child.stderr) await Promise.race([once(next.child.stderr, 'data'), next.ended]);
    writeFileSync(join(project.root, 'go'), '');
    await next.ended;
    expect(existsSync(join(project.root, 'after'))).toBe(true);
  });

  test('stop being installed at a signal, together with npm', async () => {
    const npm = `const { writeFileSync } = require('node:fs');
      process.on('SIGTERM', () => { writeFileSync('ended', ''); process.exit(1); });
      setInterval(() => {}, 1e6); writeFileSync('begun', '');`;
    writeFileSync(join(project.root, 'npm.cjs'), npm);
    project.npmDoes(`exec "${process.execPath}" npm.cjs`);
    const { child, ended } = project.run('true');
    await appears('begun');
    child.kill('SIGTERM');
    expect((await ended).signal).toBe('SIGTERM');
    expect(existsSync(join(project.root, 'ended'))).toBe(true);
    expect(locks()).toEqual([]);
  });
});

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';

const root = new URL('../../', import.meta.url).pathname;
const unit = readFileSync(join(root, 'deploy/systemd/docket.service'), 'utf8');

const version = Number(/^systemd (\d+)/.exec(analyze('--version').output)?.[1] ?? 0);
/** The first with `security --offline`. */
const OLDEST = 250;
if (version < OLDEST)
  console.warn(`The systemd unit is not verified: systemd-analyze is not here, or older than ${OLDEST}.`);

function analyze(...args: string[]) {
  const { status, stdout, stderr } = spawnSync('systemd-analyze', args, { encoding: 'utf8' });
  return { status, output: `${stdout ?? ''}${stderr ?? ''}` };
}

/** The unit in a folder of its own, with the places of this machine: systemd looks whether the program is there. */
function writeUnit(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'docket-unit-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'docket.service');
  writeFileSync(
    file,
    text.replaceAll('/opt/docket', root.slice(0, -1)).replace('/usr/bin/node', process.execPath),
  );
  return file;
}

test.skipIf(version < OLDEST)('systemd finds nothing wrong with the unit', () => {
  expect(analyze('verify', '--man=no', writeUnit(unit))).toEqual({ status: 0, output: '' });
});

test('the unit has limits of memory, and its log has a limit on disk', () => {
  expect(unit).toMatch(/^MemoryHigh=\d+M$/m);
  expect(unit).toMatch(/^MemoryMax=\d+G$/m);
  const namespace = /^LogNamespace=(\w+)$/m.exec(unit)?.[1];
  const journal = readFileSync(join(root, `deploy/systemd/journald@${namespace}.conf`), 'utf8');
  expect(journal).toMatch(/^SystemMaxUse=\d+M$/m);
});

describe('what operators run beside it', () => {
  const script = join(root, 'deploy/systemd/docket');

  /** Returns what systemd-run is called with, a stand-in that prints that. */
  function run(line: string) {
    const folder = mkdtempSync(join(tmpdir(), 'docket-unit-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'systemd-run'), '#!/bin/sh\nprintf "%s\\n" "$@"\n', { mode: 0o755 });
    const { status, stdout, stderr } = spawnSync('sh', [script, ...line.split(' ')], {
      env: { PATH: `${folder}:${process.env.PATH}` },
      encoding: 'utf8',
    });
    const args = stdout.trim().split('\n');
    const [properties, others] = [true, false].map((is) =>
      args.filter((arg) => arg.startsWith('--p') === is),
    );
    return { status, stderr, properties, program: others?.filter((arg) => !arg.startsWith('--quiet')) };
  }

  test.each([
    ['doctor', ['src/doctor/main.ts']],
    ['after-restore', ['src/after-restore/main.ts']],
  ])('docket %s has the user, the settings and the data of the unit', (line, program) => {
    const called = run(line);
    expect(called.program?.slice(-program.length - 2)).toEqual([
      ...['/usr/bin/node', 'scripts/operate.mjs'],
      ...program,
    ]);
    const given = called.properties
      ?.filter((arg) => arg !== '--pipe')
      .map((arg) => arg.replace('--property=', ''));
    expect(given?.length).toBeGreaterThan(5);
    expect(given?.filter((setting) => !unit.split('\n').includes(setting))).toEqual([]);
    for (const name of program.filter((part) => part.endsWith('.ts')))
      expect(existsSync(join(root, name))).toBe(true);
  });

  // A file that is named would be one that nobody else sees.
  test.each(['', 'start', 'after-restore now'])('docket %s is answered with how it is used', (line) =>
    expect(run(line)).toMatchObject({ status: 1, stderr: expect.stringMatching(/^Usage: docket doctor/) }),
  );
});

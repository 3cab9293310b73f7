import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { settingNames } from '../support/deploy/settings.ts';

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

test.skipIf(version < OLDEST)('systemd names a setting that it does not know', () => {
  const { output } = analyze('verify', '--man=no', writeUnit(unit.replace('KillMode', 'KilMode')));
  expect(output).toContain('KilMode');
});

test.skipIf(version < OLDEST)('systemd rates its exposure as low', () => {
  // 0 is nothing, 10 is all: of the units that Debian brings, most have more than 9.
  const { status, output } = analyze('security', '--offline=true', '--threshold=20', writeUnit(unit));
  expect({ status, rating: output.trim().split('\n').at(-1) }).toMatchObject({ status: 0 });
});

test('every setting in it exists', () => {
  const named = [...unit.matchAll(/^Environment=(\w+)=/gm)].map(([, name]) => name);
  const ofNode = ['NODE_ENV', 'NODE_COMPILE_CACHE'];
  expect(named.filter((name = '') => ![...settingNames, ...ofNode].includes(name))).toEqual([]);
});

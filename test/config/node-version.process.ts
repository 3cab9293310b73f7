import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

test.each(['v22.23.3', 'v25.9.9'])('started by itself under Node %s it names the fix', (version) => {
  const pretend = `Object.defineProperty(process, 'version', { value: '${version}' })`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`, 'src/app.ts'],
    { encoding: 'utf8', cwd: new URL('../..', import.meta.url).pathname },
  );
  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: '',
    stderr: `Docket needs Node 26 or newer; this is ${version}. Install Node 26 from https://nodejs.org or with your version manager (nvm install 26).\n`,
  });
});

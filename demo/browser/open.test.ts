import { expect, test } from 'vitest';
import { browserCommand } from './open.ts';

const desk = {
  env: { DISPLAY: ':0' } as NodeJS.ProcessEnv,
  platform: 'linux' as NodeJS.Platform,
  isTerminal: true,
};

test.each([
  ['a desk', {}, ['xdg-open']],
  ['macOS', { platform: 'darwin' as const, env: {} }, ['open']],
  ['Windows', { platform: 'win32' as const, env: {} }, ['cmd', '/c', 'start', '']],
  ['CI', { env: { DISPLAY: ':0', CI: '1' } }, undefined],
  ['no terminal', { isTerminal: false }, undefined],
  ['a machine without a screen', { env: {} }, undefined],
  ['a machine far away', { env: { DISPLAY: ':0', SSH_CONNECTION: '1' } }, undefined],
])('opens a browser only where one is: %s', (_, other, command) => {
  expect(browserCommand({ ...desk, ...other })).toEqual(command);
});

import { expect, test } from 'vitest';
import { serverIsUsable, setupProblem, startProblem } from '../../scripts/versions.mjs';

test.each(['v25.9.9', 'v20.20.2', 'v8.0.0', ''])(
  'Docket does not start under Node %s, and says what to do',
  (version) => {
    expect(startProblem(version)).toMatch(/Node 26 or newer.*\n.*nvm install 26.*npm start/);
  },
);

test.each(['v19.9.0', 'v16.20.2'])('the setup does not run under Node %s, and says what to do', (version) => {
  expect(setupProblem(version)).toMatch(/Node 20 or newer.*\n.*Install Node 26/);
});

test.each([
  ['Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64', true],
  ['Valkey server v=8.1.1 sha=00000000:0', true],
  ['Redis server v=6.2.0 sha=0', true],
  ['Redis server v=6.0.16 sha=0', false],
  ['Redis server v=5.0.7 sha=0', false],
  ['Redis server v=10.0.0 sha=0', true],
  ['error while loading shared libraries: libjemalloc.so.2', false],
])('a server that says "%s" is usable: %s', (line, usable) => {
  expect(serverIsUsable(line)).toBe(usable);
});

import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { brokenRules, type Sources } from './support/import-rules.ts';

const root = fileURLToPath(new URL('../', import.meta.url));
const repository: Sources = Object.fromEntries(
  globSync('{src,demo}/**/*.ts', { cwd: root })
    .filter((file) => !/\.(?:test|process)\.ts$|^demo\/test-support\//.test(file))
    .map((file) => [file, readFileSync(`${root}${file}`, 'utf8')]),
);

test('the repository keeps to the walls of the design', () => {
  expect(Object.keys(repository)).toEqual(expect.arrayContaining(['src/app.ts', 'demo/wire.ts']));
  expect(brokenRules(repository)).toEqual([]);
});

/** A repository in small, in which nothing is wrong. */
const sound: Sources = {
  'src/app.ts': "import { x } from './commands/a.ts';\nif (import.meta.main) main(process.env);",
  'src/config/settings.ts': 'export const port = process.env.PORT;',
  'src/web.ts':
    "import { App } from '@slack/bolt';\nimport { port } from './config/settings.ts';\nApp(port);",
  'src/commands/a.ts': "import { b } from '../jobs/b/record.ts';\nexport const a = b;",
  'src/jobs/b/record.ts': "import { z } from 'zod';\nexport const b = z;",
  'src/jobs/b/view.ts':
    "import { message } from '../../slack/blocks.ts';\nimport type { Shown } from '../../slack/outbox.ts';\nimport { b } from './record.ts';\nexport const view = message(b);",
  'src/jobs/b/end-view.ts': "import { shared } from '../shared-view.ts';\nexport const end = shared;",
  'src/jobs/shared-view.ts': "import type { job } from './b/job.ts';\nexport const shared: typeof job = 1;",
  'src/jobs/b/job.ts': "import { get } from '../../docs-api/client.ts';\nexport const job = get;",
  'src/jobs/engine/queue.ts':
    "import { Queue } from 'bullmq';\nimport { key } from '../../store/keys.ts';\nQueue(key);",
  'src/slack/blocks.ts': 'export const message = 1;',
  'src/slack/outbox.ts':
    "import { key } from '../store/keys.ts';\nexport interface Shown { key: typeof key }",
  'src/docs-api/client.ts':
    "import type { Log } from '../runtime/log.ts';\nexport const get = (log: Log) => log;",
  'src/store/keys.ts': "import { keep } from '../runtime/timing.ts';\nexport const key = '{docket}:' + keep;",
  'src/runtime/timing.ts': 'export const keep = 1;',
  'src/runtime/log.ts': 'export interface Log {}',
  'demo/wire.ts': 'export const wire = 1;',
};

test('a sound repository breaks no rule', () => {
  expect(brokenRules(sound)).toEqual([]);
  const bot = { 'demo/bot/b.ts': "import { keep } from '../../src/runtime/timing.ts';\nkeep();" };
  expect(brokenRules({ ...sound, ...bot })).toEqual([]);
});

describe('each rule can be broken', () => {
  test.each<[string, string, string, string]>([
    ['upwards', 'src/store/x.ts', "import { a } from '../commands/a.ts';\na();", 'imports go down only'],
    ['up, types only', 'src/slack/x.ts', "import type { b } from '../jobs/b/record.ts';\nb;", 'go down only'],
    [
      'a feature',
      'src/jobs/x.ts',
      "import type { b } from './export/record.ts';\nb;",
      'what features share knows no feature',
    ],
    ['up, in a call', 'src/jobs/x.ts', "const a = await import('../commands/a.ts');", 'go down only'],
    ['passed on', 'src/jobs/x.ts', "export { a } from '../commands/a.ts';\nx;", 'imports go down only'],
    ['sideways', 'src/slack/x.ts', "import { get } from '../docs-api/client.ts';\nget;", 'go down only'],
    [
      'settings below the app',
      'src/commands/x.ts',
      "import { port } from '../config/settings.ts';\nport;",
      'go down',
    ],
    [
      'docs-api to the log itself',
      'src/docs-api/x.ts',
      "import { l } from '../runtime/log.ts';\nl;",
      'only types',
    ],
    [
      'a new layer',
      'src/utils.ts',
      "import { keep } from './runtime/timing.ts';\nkeep;",
      'belongs to no layer',
    ],
    [
      'the environment in the doctor',
      'src/doctor/x.ts',
      'const home = process.env.HOME;',
      'only config reads',
    ],
    ['src to demo', 'src/jobs/x.ts', "import { wire } from '../../demo/wire.ts';\nwire;", 'not know demo'],
    ['src to test', 'src/jobs/x.ts', "import { y } from '../../test/y.ts';\ny;", 'src does not know test'],
    ['demo to src', 'demo/x.ts', "import type { a } from '../src/commands/a.ts';\na;", 'not know src'],
    [
      'a stand-in to src',
      'demo/slack/x.ts',
      "import { a } from '../../src/commands/a.ts';\na;",
      'not know src',
    ],
    ['a bag', 'src/jobs/x.ts', 'export const x = { ...{ a, b }, c };', 'without bags'],
    ['a stand-in to the demo', 'demo/slack/x.ts', "import { b } from '../bot/b.ts';\nb;", 'a stand-in'],
    ['demo to test', 'demo/x.ts', "import { y } from '../test/y.ts';\ny;", 'demo does not know test'],
    ['Bolt elsewhere', 'src/commands/x.ts', "import type { App } from '@slack/bolt';\nApp;", 'may know @sl'],
    ['BullMQ elsewhere', 'src/worker.ts', "import { Job } from 'bullmq';\nJob;", 'may know bullmq'],
    [
      'a reader of the environment',
      'src/runtime/log.ts',
      'const level = process.env.LOG;',
      'only config reads',
    ],
    [
      'an env by another name',
      'src/runtime/log.ts',
      "import { env } from 'node:process';\nenv;",
      'only config reads',
    ],
    ['a view to a client', 'src/jobs/b/view.ts', "import { s } from '../../slack/outbox.ts';\ns;", 'a view'],
    [
      'a view to another feature',
      'src/jobs/c/view.ts',
      "import { b } from '../b/record.ts';\nb;",
      'a view knows',
    ],
    ['a view to its job', 'src/jobs/b/view.ts', "import { job } from './job.ts';\njob;", 'a view knows'],
    ['a view to a package', 'src/jobs/b/view.ts', "import { z } from 'zod';\nz;", 'a view knows no package'],
    [
      'an import without .ts',
      'src/jobs/x.ts',
      "import { b } from './b/record';\nb;",
      'names the file with .ts',
    ],
    ['an import of nothing', 'src/jobs/x.ts', "import { b } from './gone.ts';\nb;", 'no such file'],
    [
      'a barrel',
      'src/jobs/x.ts',
      "// all\nexport * from './b/record.ts';\nexport { job } from './b/job.ts';\n",
      'only passes',
    ],
    ['a key elsewhere', 'src/jobs/x.ts', 'const key = `{docket}:x`;', 'built in store/keys.ts alone'],
    ['a hidden import', 'src/jobs/x.ts', 'await import(name);', 'takes a literal'],
    ['a require', 'src/jobs/x.ts', "const a = require('../commands/a.ts');", 'never required'],
  ])('%s', (_, file, source, why) => {
    expect(brokenRules({ ...sound, 'test/y.ts': '', [file]: source })).toEqual(
      expect.arrayContaining([expect.stringMatching(new RegExp(`^${file}\\b.*${why}`))]),
    );
  });

  test('a cycle, also of types', () => {
    const circle = {
      'src/jobs/x.ts': "import type { y } from './y.ts';\ny;",
      'src/jobs/y.ts': "import { x } from './x.ts';\nx;",
    };
    expect(brokenRules({ ...sound, ...circle })).toEqual([
      'src/jobs/x.ts → src/jobs/y.ts → src/jobs/x.ts: a cycle',
    ]);
  });

  test('but not in a comment', () => {
    const source = "/** See {docket} and process.env. */\n// import '../commands/a.ts';\nexport const x = 1;";
    expect(brokenRules({ ...sound, 'src/jobs/x.ts': source })).toEqual([]);
  });
});

import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { createStandInPlatform } from '../../demo/docs-platform/platform.ts';
import { readSettings } from '../../src/config/settings.ts';
import { type DocsApiOperation, OPERATIONS } from '../../src/docs-api/operations.ts';
import { probePlatform, renderProbes } from '../../src/doctor/platform.ts';
import { httpServer } from '../support/docs-api/servers.ts';

let platform: ReturnType<typeof createStandInPlatform>;
let url: string;
beforeEach(async () => {
  platform = createStandInPlatform();
  const server = await platform.listen();
  url = server.url;
  onTestFinished(server.close);
});

const names = Object.keys(OPERATIONS) as DocsApiOperation[];
const addressOf = (name: DocsApiOperation) => `${OPERATIONS[name].method} ${OPERATIONS[name].path}`;
const NOT_TRIED = ['previewBranch', 'updateSite'];
const tried = names.filter((name) => !NOT_TRIED.includes(name));

/** Returns what the doctor finds, by operation, and its table. */
async function probe(changes: NodeJS.ProcessEnv = {}) {
  const settings = readSettings({
    ...{ SLACK_BOT_TOKEN: 'xoxb-1', SLACK_APP_TOKEN: 'xapp-1', DOCS_API_URL: url },
    ...{ DOCS_API_KEY: platform.apiKey, DOCS_PROJECT_ID: platform.projectId, ...changes },
  });
  const [project] = settings.projects;
  if (project === undefined) throw new Error('no project');
  const probes = await probePlatform(settings, project);
  const results = Object.fromEntries(probes.map(({ operation, result }) => [operation, result]));
  return { results, table: renderProbes('Project', probes) };
}

const all = (result: string) => Object.fromEntries(tried.map((name) => [name, result]));
const notTried = Object.fromEntries(NOT_TRIED.map((name) => [name, 'not tried']));

test('a platform with everything: nothing is started, sent or changed there', async () => {
  const { results, table } = await probe();
  expect(results).toEqual({ ...all('works'), ...notTried });
  expect(table).toContain('Docket goes without: nothing, as far as was tried.');
  expect(platform.starts).toEqual([]);
  expect(platform.agent.messages).toEqual([]);
  expect(platform.agent.jobs.size).toBe(0);
  expect(platform.site.builds).toEqual([]);
  expect(platform.used.followUps()).toBe(0);
  expect(platform.wire.calls.filter(({ caused }) => caused.length > 0)).toEqual([]);
  // Each operation once; those that were not tried are never called.
  const called = platform.wire.calls.map(({ name }) => name);
  for (const name of tried) expect(called).toContain(addressOf(name));
  for (const name of ['previewBranch', 'updateSite'] as const) expect(called).not.toContain(addressOf(name));
  expect(platform.used.analytics()).toBe(5);
});

describe('a platform that lacks', () => {
  test.each(tried.flatMap((name) => [[name, 404] as const, [name, 405] as const]))(
    '%s, with %i',
    async (name, status) => {
      platform.lacks.set(addressOf(name), status);
      const { results, table } = await probe();
      expect(results).toEqual({ ...all('works'), ...notTried, [name]: 'not there' });
      expect(table).toMatch(/Docket goes without: (?!nothing)/);
    },
  );

  test('the agent and exports altogether', async () => {
    const lacking = tried.filter((name) => /^\/v2\/agent|static-export/.test(OPERATIONS[name].path));
    for (const name of lacking) platform.lacks.set(addressOf(name), 404);
    const { results, table } = await probe();
    const expected = Object.fromEntries(lacking.map((name) => [name, 'not there']));
    expect(results).toEqual({ ...all('works'), ...notTried, ...expected });
    expect(table).toContain(
      'Docket goes without: exports and deployments; download links and deployments; requests to the docs agent; following agent jobs; new agent jobs (those that exist can still be followed).',
    );
  });
});

describe('a refusal has its reason:', () => {
  test('the plan', async () => {
    platform.enterprise = false;
    const { results, table } = await probe();
    expect(results).toEqual({ ...all('works'), ...notTried, startExport: 'refused' });
    expect(table).toMatch(/refused +startExport .*\(403: Static export requires the Enterprise plan\)/);
  });

  test('the key, which is not repeated', async () => {
    platform.wire.order(
      () => true,
      { kind: 'answer', status: 401, body: { error: `No access with ${platform.apiKey}` } },
      Number.POSITIVE_INFINITY,
    );
    const { results, table } = await probe();
    expect(results).toEqual({ ...all('refused'), ...notTried });
    expect(table).toContain('(401: No access with …)');
    expect(table).not.toContain(platform.apiKey);
  });

  test('an unknown project is one for its reads', async () => {
    const { results, table } = await probe({ DOCS_PROJECT_ID: 'prj_other' });
    expect(results).toMatchObject({
      getPageViews: 'refused',
      createAgentJob: 'refused',
      startExport: 'works',
    });
    expect(table).toMatch(/getPageViews .*\(404: Project not found\)/);
  });

  test('an answer that is not the one of the contract', async () => {
    platform.wire.order(addressOf('getVisitors'), { kind: 'answer', status: 200, body: { hello: 1 } });
    const { results, table } = await probe();
    expect(results).toEqual({ ...all('works'), ...notTried, getVisitors: 'refused' });
    expect(table).toMatch(/getVisitors .*\(200, but its answer isn't what the API promises\)/);
  });

  test('nobody is there', async () => {
    const { results, table } = await probe({ DOCS_API_URL: 'http://127.0.0.1:9' });
    expect(results).toEqual({ ...all('refused'), ...notTried });
    expect(table).toContain('(no answer: ECONNREFUSED)');
  });
});

test('without an id of the project, only what needs none is tried', async () => {
  const { results } = await probe({ DOCS_PROJECT_ID: '' });
  const needsNone = tried.filter((name) => !OPERATIONS[name].path.includes('{projectId}'));
  const works = Object.fromEntries(needsNone.map((name) => [name, 'works']));
  expect(results).toEqual({ ...all('not tried'), ...notTried, ...works });
});

test('a start that is taken, though the contract refuses it, is pointed out', async () => {
  platform.wire.order(addressOf('startExport'), { kind: 'answer', status: 202, body: { jobId: 'se_1' } });
  const { table } = await probe();
  expect(table).toMatch(/works +startExport .*\(202: it took what the contract refuses/);
});

/** What servers answer to every address with 404, though they are no platform. */
const NOWHERE: [what: string, body: (path: string, n: number) => unknown][] = [
  ['repeats the address', (path) => ({ message: `Cannot find ${path}`, statusCode: 404 })],
  [
    'has another id each time',
    (_, n) => ({ error: 'Not found', requestId: `req-${n}a8`, at: `12:00:0${n % 10}` }),
  ],
];

test.each(NOWHERE)('a 404 that %s is not there', async (_, body) => {
  const server = await httpServer((request, response, n) => {
    const [path = ''] = (request.url ?? '').split('?');
    response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify(body(path, n)));
  });
  const { results } = await probe({ DOCS_API_URL: server.url });
  expect(results).toEqual({ ...all('not there'), ...notTried });
});

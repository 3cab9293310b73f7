import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Caller } from '../../src/commands/command.ts';
import {
  joinedRun,
  newRun,
  refusal,
  resolve,
  running,
  startExport,
  threadOf,
} from '../../src/commands/export-start.ts';
import { exportRun } from '../../src/jobs/export/run.ts';
import { startTestRedis, type TestRedis } from '../flows/redis.ts';
import { aRun, NOW_MS } from '../jobs/export/any-run.ts';
import { aCaller, acme, aProject, ben, beta, createCommandWorld } from './command-world.ts';

let redis: TestRedis;
beforeAll(async () => {
  redis = await startTestRedis();
});
beforeEach(() => redis.client.flushall());
afterAll(() => redis.close());

type Wanted = Parameters<typeof newRun>[0];
const docs: Wanted = {
  domain: 'docs.acme.com',
  project: 'acme',
  version: undefined,
  paths: undefined,
  privately: false,
};
const everybody = { links: 'thread' as const, now: () => NOW_MS };

describe('what is meant', () => {
  const meant = (domain: string | undefined, project?: string, channel = 'C0DOCS', docsDomain?: string) =>
    resolve({ domain, project }, channel, { projects: [acme, beta], docsDomain });

  test.each([
    ['its domain', meant('docs.beta.io'), 'docs.beta.io', beta],
    ['its domain, however it is typed', meant('<http://Docs.Acme.com|docs.acme.com>'), 'docs.acme.com', acme],
    ['its project, which has one domain', meant(undefined, 'BETA'), 'docs.beta.io', beta],
    [
      'its channel, whose project has one domain',
      meant(undefined, undefined, 'C0BETA'),
      'docs.beta.io',
      beta,
    ],
    [
      'nothing, and a domain is set for that',
      meant(undefined, undefined, 'C0', 'api.acme.com'),
      'api.acme.com',
      acme,
    ],
  ])('is known by %s', (_, found, domain, project) => {
    expect(found).toEqual({ kind: 'ok', domain, project });
  });

  test.each([
    ['nothing to go by', meant(undefined), { kind: 'noDomain' }],
    ['an empty word', meant('“”'), { kind: 'noDomain' }],
    [
      'no host name',
      meant('docs.acme.com/v2'),
      { kind: 'badDomain', typed: 'docs.acme.com/v2', suggested: 'docs.acme.com' },
    ],
    [
      'no such project',
      meant('docs.acme.com', 'gamma'),
      { kind: 'unknownProject', named: 'gamma', known: ['acme', 'beta'] },
    ],
    [
      'no such project, nor a domain',
      meant(undefined, 'gamma'),
      { kind: 'unknownProject', named: 'gamma', known: ['acme', 'beta'] },
    ],
    [
      'a domain of nobody',
      meant('docs.foo.com'),
      {
        kind: 'domainRefused',
        domain: 'docs.foo.com',
        known: ['docs.acme.com', 'api.acme.com', 'docs.beta.io'],
      },
    ],
    [
      'a domain of another project',
      meant('docs.beta.io', 'acme'),
      { kind: 'domainRefused', domain: 'docs.beta.io', known: ['docs.acme.com', 'api.acme.com'] },
    ],
  ])('is not known by %s', (_, found, expected) => {
    expect(found).toEqual(expected);
  });

  test('is asked where two projects have the domain', () => {
    const twin = { ...beta, domains: ['docs.acme.com'], channels: [] };
    const found = resolve({ domain: 'docs.acme.com', project: undefined }, 'C0', {
      projects: [acme, twin],
      docsDomain: undefined,
    });
    expect(found).toEqual({ kind: 'ask', domain: 'docs.acme.com', among: [acme, twin] });
  });
});

describe('a refusal', () => {
  test('says what there is instead', () => {
    expect(refusal({ kind: 'unknownProject', named: 'gam\nma', known: ['acme', 'beta'] })).toBe(
      'There is no project gam ma here. There is: acme, beta.',
    );
    expect(refusal({ kind: 'domainRefused', domain: 'docs.foo.com', known: ['docs.acme.com'] })).toBe(
      "docs.foo.com isn't set up for exports. Set up here: docs.acme.com.",
    );
    expect(refusal({ kind: 'domainRefused', domain: 'docs.foo.com', known: [] })).toBe(
      "docs.foo.com isn't set up for exports. No domain is set up for it.",
    );
  });
});

describe('the claim of an export', () => {
  const claimOf = (what: Partial<Wanted> = {}, caller = aCaller()) =>
    newRun({ ...docs, ...what }, caller, everybody).claim;
  const paths = ['/api', '/guides'];

  test('is the same for the same project, domain, label and pages, whoever asks wherever', () => {
    const elsewhere = aCaller({ requestId: '9.9.z', user: ben, channel: { id: 'C0OTHER', name: 'other' } });
    expect(claimOf({}, elsewhere)).toBe(claimOf());
    expect(claimOf({ privately: true })).toBe(claimOf());
    expect(claimOf({ version: '1.2', paths })).toBe(claimOf({ version: '1.2', paths: [...paths].reverse() }));
  });

  test.each<[string, Partial<Wanted>]>([
    ['another project', { project: 'beta' }],
    ['another domain', { domain: 'api.acme.com' }],
    ['a label', { version: '1.2' }],
    ['some pages', { paths }],
    ['other pages', { paths: ['/api'] }],
  ])('is another one for %s', (_, what) => {
    const others = [claimOf(), claimOf({ version: '1.3' }), claimOf({ paths: ['/api', '/guides/x'] })];
    expect(others).not.toContain(claimOf(what));
  });

  test('is another one in another workspace', () => {
    expect(claimOf({}, aCaller({ teamId: 'T0OTHER' }))).not.toBe(claimOf());
  });

  test('of a job that is watched is for that job, whatever it exports', () => {
    const watch = (jobId: string, domain = '', project = 'acme') =>
      joinedRun({ project, domain, version: undefined, privately: false, jobId }, aCaller(), everybody).claim;
    expect(watch('se_1', 'docs.acme.com')).toBe(watch('se_1'));
    expect(new Set([watch('se_1'), watch('se_2'), watch('se_1', '', 'beta'), claimOf()]).size).toBe(4);
  });
});

describe('a new run', () => {
  test('is one that the schema takes, and holds what was asked for', () => {
    const run = newRun({ ...docs, version: '1.2', paths: ['/api'] }, aCaller(), everybody);
    expect(exportRun.parse(run)).toEqual(run);
    expect(run).toMatchObject({
      rev: 1,
      state: 'accepted',
      people: ['U0ANA'],
      project: 'acme',
      domain: 'docs.acme.com',
      version: '1.2',
      paths: ['/api'],
      joined: false,
    });
  });

  test('of a job that exists is one that the schema takes, and starts none', () => {
    const what = { project: 'acme', domain: '', version: undefined, privately: false, jobId: 'se_1' };
    const run = joinedRun(what, aCaller(), everybody);
    expect(exportRun.parse(JSON.parse(JSON.stringify(run)))).toMatchObject({ joined: true, jobId: 'se_1' });
  });

  test('has the same id for the same request, and another one for another', () => {
    const idOf = (changes: Partial<Caller> = {}) => newRun(docs, aCaller(changes), everybody).id;
    expect(idOf({ receivedAtMs: 99, user: ben })).toBe(idOf());
    expect(new Set([idOf(), idOf({ requestId: '1.2.b' }), idOf({ teamId: 'T0OTHER' })]).size).toBe(3);
  });

  test.each([
    ['everybody', {}, 'thread', true, false],
    ['the requester, as asked', { privately: true }, 'thread', true, true],
    ['the requester, as the settings say', {}, 'requester', true, true],
    ['the requester, who is a guest', {}, 'thread', false, true],
  ] as const)('has its link for %s', (_, what, links, fullMember, privately) => {
    const caller = aCaller({ user: { id: 'U0ANA', name: 'ana', fullMember } });
    const tools = { ...everybody, links };
    expect(newRun({ ...docs, ...what }, caller, tools).privately).toBe(privately);
    const joined = {
      project: 'acme',
      domain: '',
      version: undefined,
      privately: false,
      ...what,
      jobId: 'se_1',
    };
    expect(joinedRun(joined, caller, tools).privately).toBe(privately);
  });

  test.each([
    ['docs', { joinable: true, isPublic: true }],
    ['privategroup', { joinable: true, isPublic: false }],
    ['directmessage', { joinable: false, isPublic: false }],
    ['mpdm-ana--ben-1', { joinable: false, isPublic: false }],
  ])('knows what kind of place it was asked for in: %s', (name, place) => {
    const caller = aCaller({ channel: { id: 'C0DOCS', name } });
    expect(newRun(docs, caller, everybody).asked).toMatchObject(place);
  });
});

describe('starting', () => {
  test('keeps the run and has it looked at', async () => {
    const world = createCommandWorld(redis);
    expect(await startExport(docs, aCaller(), world.tools)).toBeUndefined();
    const [run] = await world.exports();
    expect(run).toMatchObject({ domain: 'docs.acme.com', project: 'acme', state: 'accepted' });
    expect(world.woken).toEqual([run?.id]);
    expect(await world.runs.responseUrl(run?.id ?? '')).toBe('https://hooks.example/1');
  });

  test('of the same request again is the same run', async () => {
    const world = createCommandWorld(redis);
    await startExport(docs, aCaller(), world.tools);
    expect(await startExport(docs, aCaller(), world.tools)).toBeUndefined();
    expect(await world.exports()).toHaveLength(1);
  });

  test('what runs already says so, with the way to it, and leaves an audit line', async () => {
    const world = createCommandWorld(redis);
    await startExport({ ...docs, paths: ['/b', '/a'] }, aCaller(), world.tools);
    const told = await startExport(
      { ...docs, paths: ['/a', '/b'] },
      aCaller({ requestId: '1.2.b', user: ben }),
      world.tools,
    );
    expect(told?.text).toMatch(/^An export of docs\.acme\.com is under way \(started by @ana /);
    expect(JSON.stringify(told)).toContain('https://acme.example/archives/C0DOCS/p1789914659000100');
    expect(world.notes).toEqual([{ subject: 'docs.acme.com', result: 'running already' }]);
    expect(await world.exports()).toHaveLength(1);
  });

  test('other pages of the same site goes side by side with it', async () => {
    const world = createCommandWorld(redis);
    await startExport(docs, aCaller(), world.tools);
    const what = { ...docs, paths: ['/a'] };
    expect(await startExport(what, aCaller({ requestId: '1.2.b' }), world.tools)).toBeUndefined();
    expect(await world.exports()).toHaveLength(2);
  });
});

describe('what is said of an export that is busy', () => {
  test.each([
    [
      'that has just ended',
      'docs.acme.com',
      'An export of docs.acme.com is just ending. Try again in a moment.',
    ],
    ['that is known by its job alone', '', 'This export is just ending. Try again in a moment.'],
  ])('%s', async (_, domain, text) => {
    const world = createCommandWorld(redis);
    const run = await world.given(aRun({ rev: 1, state: 'ended', ending: { kind: 'lost' } }));
    expect((await running(run.id, domain, aCaller(), world.tools)).text).toBe(text);
    expect((await running('gone', domain, aCaller(), world.tools)).text).toBe(text);
  });
});

describe('the way to the thread', () => {
  const thread = 'https://acme.example/archives/C0DOCS/p1789914659000100';
  const from = (user: Caller['user'], channel = 'C0OTHER') =>
    aCaller({ user, channel: { id: channel, name: 'x' } });
  const privateRun = aRun({ asked: { channel: 'G0', joinable: true, isPublic: false, atMs: NOW_MS } });

  test.each([
    ['anybody, in a public channel', aRun(), from(ben), thread],
    ['nobody else, in a private channel', privateRun, from(ben), undefined],
    ['those who are in that private channel', privateRun, from(ben, 'G0'), thread],
    ['the requester, everywhere', privateRun, from(aCaller().user), thread],
    ['nobody else, in direct messages', aRun({ inDirectMessage: true }), from(ben), undefined],
  ])('is shown to %s', async (_, run, caller, expected) => {
    expect(await threadOf(run, caller, createCommandWorld(redis).tools)).toBe(expected);
  });

  test('is not there while the card is not, or nobody can tell', async () => {
    const waiting = createCommandWorld(redis, { delivery: async () => ({ kind: 'waiting' }) });
    const away = createCommandWorld(redis, { delivery: () => Promise.reject(new Error('away')) });
    expect(await threadOf(aRun(), aCaller(), waiting.tools)).toBeUndefined();
    expect(await threadOf(aRun(), aCaller(), away.tools)).toBeUndefined();
  });
});

test('a project without domains takes any, and the platform decides', () => {
  const any = aProject();
  const found = resolve({ domain: 'docs.foo.com', project: undefined }, 'C0', {
    projects: [any],
    docsDomain: undefined,
  });
  expect(found).toEqual({ kind: 'ok', domain: 'docs.foo.com', project: any });
});

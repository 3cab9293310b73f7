import { describe, expect, test } from 'vitest';
import { defaultDomain, type Project, resolveProject } from '../src/projects.ts';

function project(name: string, rest: Partial<Project> = {}): Project {
  const key = { apiKey: `key_${name}`, apiKeyVariable: 'DOCS_API_KEY' };
  return { name, projectId: `prj_${name}`, domains: [], ...key, channels: [], ...rest };
}

const acme = project('acme', { domains: ['docs.acme.com', 'api.acme.com'], channels: ['C0ACME'] });
const beta = project('Beta', { domains: ['docs.beta.io', 'shared.io'], channels: ['C0BETA', 'C0BETA2'] });
const gamma = project('gamma', { domains: ['shared.io'] });
const all = [acme, beta, gamma];
/** The project of the environment: it lists no domains, and takes any. */
const open = project('default', { domains: undefined });

const elsewhere = 'C0OTHER';
const is = (meant: Project) => ({ kind: 'project', project: meant });
const ask = (...among: Project[]) => ({ kind: 'ambiguous', among });
const refused = (...known: string[]) => ({ kind: 'domainRefused', known });

describe('the project that a request means', () => {
  test.each([
    ['is the one it names', { named: 'gamma' }, is(gamma)],
    ['is found whatever the case of its name', { named: 'bETA' }, is(beta)],
    [
      'is the named one, if it lists the domain',
      { named: 'gamma', channel: 'C0BETA', domain: 'shared.io' },
      is(gamma),
    ],
    [
      'is no other than the named one, even if another lists the domain',
      { named: 'acme', channel: 'C0BETA', domain: 'docs.beta.io' },
      refused('docs.acme.com', 'api.acme.com'),
    ],
    [
      'is none that nobody set up',
      { named: 'delta' },
      { kind: 'unknownProject', known: ['acme', 'Beta', 'gamma'] },
    ],
    ["is the channel's", { channel: 'C0BETA2' }, is(beta)],
    ["is the channel's, if it lists the domain", { channel: 'C0BETA', domain: 'shared.io' }, is(beta)],
    ["is the domain's rather than the channel's", { channel: 'C0BETA', domain: 'docs.acme.com' }, is(acme)],
    ["is the domain's", { domain: 'api.acme.com' }, is(acme)],
    ['is asked for where several list the domain', { domain: 'shared.io' }, ask(beta, gamma)],
    ['is asked for where nothing tells', {}, ask(acme, beta, gamma)],
    [
      'is none where nobody lists the domain, each of those set up told once',
      { channel: 'C0ACME', domain: 'docs.foo.com' },
      refused('docs.acme.com', 'api.acme.com', 'docs.beta.io', 'shared.io'),
    ],
  ])('%s', (_, asked, meant) => {
    expect(resolveProject(all, { channel: elsewhere, ...asked })).toEqual(meant);
  });

  test('is the only one there is', () => {
    expect(resolveProject([acme], { channel: elsewhere })).toEqual(is(acme));
    expect(resolveProject([acme], { channel: elsewhere, domain: 'docs.foo.com' })).toEqual(
      refused('docs.acme.com', 'api.acme.com'),
    );
  });

  test('takes every domain when it lists none, as that of the environment does', () => {
    expect(resolveProject([open], { channel: elsewhere, domain: 'docs.foo.com' })).toEqual(is(open));
    expect(resolveProject([open], { named: 'default', channel: elsewhere, domain: 'a.io' })).toEqual(
      is(open),
    );
  });
});

describe('the domain that a request without one means', () => {
  test.each<
    [string, Project[], { named?: string; channel?: string }, string | undefined, string | undefined]
  >([
    ['is the only one of the named project', all, { named: 'GAMMA' }, 'docs.acme.com', 'shared.io'],
    [
      "is of the named project rather than of the channel's",
      all,
      { named: 'gamma', channel: 'C0ACME' },
      'docs.acme.com',
      'shared.io',
    ],
    ['is DOCS_DOMAIN if the named project takes it', all, { named: 'acme' }, 'api.acme.com', 'api.acme.com'],
    [
      "is DOCS_DOMAIN if the channel's project takes it",
      all,
      { channel: 'C0ACME' },
      'api.acme.com',
      'api.acme.com',
    ],
    ['is not DOCS_DOMAIN if the named project refuses it', all, { named: 'acme' }, 'shared.io', undefined],
    ['is DOCS_DOMAIN if any project takes it', all, {}, 'docs.beta.io', 'docs.beta.io'],
    ['is none for a project that nobody set up', all, { named: 'delta' }, 'docs.beta.io', undefined],
    ['is none where several could be meant', all, {}, undefined, undefined],
    ['is the only one of the only project', [gamma], {}, undefined, 'shared.io'],
    ['is DOCS_DOMAIN where any is taken', [open], {}, 'docs.foo.com', 'docs.foo.com'],
    ['is none where any is taken and none is set', [open], {}, undefined, undefined],
  ])('%s', (_, projects, asked, docsDomain, domain) => {
    expect(defaultDomain(projects, { channel: elsewhere, ...asked }, docsDomain)).toBe(domain);
  });
});

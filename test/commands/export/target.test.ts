import { describe, expect, test } from 'vitest';
import { refusalText, resolveTarget } from '../../../src/commands/export/target.ts';
import { acme, aProject, beta } from '../../support/commands/builders.ts';

describe('what is meant', () => {
  const meant = (domain: string | undefined, project?: string, channel = 'C0DOCS', docsDomain?: string) =>
    resolveTarget({ domain, project, paths: undefined }, channel, { projects: [acme, beta], docsDomain });

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
        named: undefined,
        known: ['docs.acme.com', 'api.acme.com', 'docs.beta.io'],
      },
    ],
    [
      'a domain of another project',
      meant('docs.beta.io', 'acme'),
      {
        kind: 'domainRefused',
        domain: 'docs.beta.io',
        named: 'acme',
        known: ['docs.acme.com', 'api.acme.com'],
      },
    ],
  ])('is not known by %s', (_, found, expected) => {
    expect(found).toEqual(expected);
  });

  test('is asked where two projects have the domain', () => {
    const twin = { ...beta, domains: ['docs.acme.com'], channels: [] };
    const found = resolveTarget({ domain: 'docs.acme.com', project: undefined, paths: undefined }, 'C0', {
      projects: [acme, twin],
      docsDomain: undefined,
    });
    expect(found).toEqual({ kind: 'ask', domain: 'docs.acme.com', among: [acme, twin] });
  });

  test('is any domain in a project without domains: the platform decides', () => {
    const any = aProject();
    const found = resolveTarget({ domain: 'docs.foo.com', project: undefined, paths: undefined }, 'C0', {
      projects: [any],
      docsDomain: undefined,
    });
    expect(found).toEqual({ kind: 'ok', domain: 'docs.foo.com', project: any });
  });
});

describe('a refusal', () => {
  const domain = 'docs.foo.com';

  test.each<[string, Parameters<typeof refusalText>[0], string]>([
    [
      'of a project says which there are',
      { kind: 'unknownProject', named: 'gam\nma', known: ['acme', 'beta'] },
      'No project "gam ma". Available: acme, beta.',
    ],
    [
      'of a domain says which are set up',
      { kind: 'domainRefused', domain, named: undefined, known: ['docs.acme.com'] },
      "docs.foo.com isn't set up for exports. Set up here: docs.acme.com.",
    ],
    [
      'of a domain that is not in the project that was named says which are',
      { kind: 'domainRefused', domain, named: 'ac\nme', known: ['docs.acme.com', 'api.acme.com'] },
      "docs.foo.com isn't in project ac me. Its domains: docs.acme.com, api.acme.com.",
    ],
    [
      'of a domain where none is set up says that',
      { kind: 'domainRefused', domain, named: undefined, known: [] },
      "docs.foo.com isn't set up for exports, and no other domain is.",
    ],
    [
      'names ten at most, and counts the others',
      { kind: 'unknownProject', named: 'x', known: Array.from({ length: 12 }, (_, index) => `p${index}`) },
      'No project "x". Available: p0, p1, p2, p3, p4, p5, p6, p7, p8, p9 and 2 more.',
    ],
  ])('%s', (_, found, text) => {
    expect(refusalText(found)).toBe(text);
  });
});

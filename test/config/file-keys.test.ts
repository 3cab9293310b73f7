import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readConfigFile } from '../../src/config/file.ts';
import { env, inProject, problemsIn } from '../support/config/file.ts';

const holdsKey =
  'holds a key itself. Put the key into an environment variable, and write { env: NAME } with its name here.';
const namesNoVariable = 'must name an environment variable. Write it like { env: ACME_DOCS_API_KEY }.';
const notInCapitals =
  'must name an environment variable in capitals, not hold a key. Write it like { env: ACME_DOCS_API_KEY }.';

describe("a project's key", () => {
  test.each([
    ['adm_0123456789', holdsKey],
    ['$ACME_DOCS_API_KEY', holdsKey],
    ['12345', namesNoVariable],
    ['[ACME_DOCS_API_KEY]', namesNoVariable],
    ['{ env: 12345 }', namesNoVariable],
    ['{ env: }', namesNoVariable],
    ['{ env: A, file: b }', namesNoVariable],
    ['{ adm_0123456789 }', namesNoVariable],
    ['{ env: adm_0123456789 }', notInCapitals],
    ['{ env: $ACME_DOCS_API_KEY }', notInCapitals],
    ['!env ACME_DOCS_API_KEY', 'has a tag, and Docket reads none. Remove the word with the !.'],
  ])('written as %s is refused', (written, problem) => {
    expect(problemsIn(inProject(`apiKey: ${written}`))).toEqual([
      `docket.yml:3 projects.acme.apiKey ${problem}`,
    ]);
  });

  test.each([
    [undefined, 'names an environment variable that is not set. Set it to an admin API key.'],
    ['adm_0123 456', 'names a key that holds a quote, a space or a line break. Copy it again without.'],
    [
      'live_0123',
      'names a key that does not begin with DOCS_API_KEY_PREFIX. Take an admin key of the right platform.',
    ],
  ])('that is %s in the environment is refused', (key, problem) => {
    const variables = { ...env, OTHER_KEY: key };
    const { problems } = readConfigFile(inProject('apiKey: { env: OTHER_KEY }'), 'docket.yml', variables);
    expect(problems).toEqual([`docket.yml:3 projects.acme.apiKey.env ${problem}`]);
  });

  test('is needed where DOCS_API_KEY is not set', () => {
    const text = 'projects:\n  a: { apiKey: { env: ACME_DOCS_API_KEY } }\n  b: {}\n';
    expect(problemsIn(text, { ACME_DOCS_API_KEY: 'adm_acme' })).toEqual([
      'docket.yml:3 projects.b has no apiKey, and DOCS_API_KEY is not set either. Write apiKey: { env: NAME } here, or set DOCS_API_KEY.',
    ]);
  });

  test('is never repeated, however it was written into the file', () => {
    const secret = 'zq_0123456789abcdef';
    const written = fc.constantFrom(
      `apiKey: ${secret}`,
      `apiKey: "${secret}`,
      `apiKey: [${secret}]`,
      `apiKey: { env: ${secret} }`,
      `apiKey: { ${secret} }`,
      `apiKey: { ${secret}: *x }`,
      `apiKey: { ${secret}: 1, ${secret}: 1 }`,
      `apiKey: { env: { ${secret}: 1 } }`,
      `apiKey: { env: ${secret}: x }`,
      `apiKey: *${secret}`,
      `apiKey: !${secret} x`,
      `apiKey: @${secret}`,
      `projectId: [${secret}]`,
      `domains: [${secret}, "https://${secret}@x/${secret}"]`,
      `channels: [${secret}]`,
    );
    const lines = fc.array(written, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(lines, fc.constantFrom('\n    ', '\n  ', ' '), (all, between) => {
        const problems = problemsIn(inProject(all.join(between)));
        expect(problems).not.toEqual([]);
        for (const problem of problems) {
          expect(problem).not.toContain('zq_');
          expect(problem).toMatch(/^docket\.yml:\d+(:\d+)? [^\n]+[.?]$/);
        }
      }),
      { numRuns: 300 },
    );
  });
});

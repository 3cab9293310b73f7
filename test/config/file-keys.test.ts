import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readConfigFile } from '../../src/config/file.ts';
import { readSettings } from '../../src/config/settings.ts';
import { configFolder, problemsOf, sound } from '../support/config/builders.ts';
import { env, inProject, problemsIn, read } from '../support/config/file.ts';

const { fileWith } = configFolder();

const namesNoKey =
  'must name an environment variable in capitals, or a file, and not hold an admin API key itself. Write it like { env: ACME_DOCS_API_KEY, expires: 2026-12-31 } or { file: /run/secrets/acme }; expires may be left out.';

describe("a project's key", () => {
  test.each([
    'adm_0123456789',
    '12345',
    '{ env: A, file: b }',
    '{ env: ACME_DOCS_API_KEY, expires: 2026-02-30 }',
  ])('written as %s is refused', (written) => {
    expect(problemsIn(inProject(`apiKey: ${written}`))).toEqual([
      `docket.yml projects.acme.apiKey ${namesNoKey}`,
    ]);
  });

  test.each([
    [undefined, 'names an environment variable that is not set. Set it to an admin API key.'],
    [
      'adm_0123 456',
      'names a key that contains a quote, a space or a line break. Copy it again without them.',
    ],
    [
      'live_0123',
      'names a key that does not begin with DOCS_API_KEY_PREFIX. Use an admin key of the right platform.',
    ],
  ])('that is %s in the environment is refused', (key, problem) => {
    const variables = { ...env, OTHER_KEY: key };
    const { problems } = readConfigFile(inProject('apiKey: { env: OTHER_KEY }'), 'docket.yml', variables);
    expect(problems).toEqual([`docket.yml projects.acme.apiKey ${problem}`]);
  });

  test.each([
    [
      undefined,
      "names a file that cannot be read (ENOENT). Mend its path, or give Docket's user the right to read it.",
    ],
    [' \n', 'names a file that is empty. Put an admin API key into it.'],
    [
      'adm_0123 456',
      'names a key that contains a quote, a space or a line break. Copy it again without them.',
    ],
    [
      'live_0123',
      'names a key that does not begin with DOCS_API_KEY_PREFIX. Use an admin key of the right platform.',
    ],
  ])('that is %j in a file is refused', (key, problem) => {
    const path = key === undefined ? '/nowhere' : fileWith(key, 'key');
    expect(problemsIn(inProject(`apiKey: { file: ${path} }`))).toEqual([
      `docket.yml projects.acme.apiKey ${problem}`,
    ]);
    expect(
      problemsOf({ ...sound, DOCS_API_KEY: '', DOCS_API_KEY_PREFIX: 'adm_', DOCS_API_KEY_FILE: path }),
    ).toEqual([`DOCS_API_KEY_FILE ${problem}`]);
  });

  test('in a file is read without the white space around it, and wins over DOCS_API_KEY', () => {
    const apiKeyFile = fileWith('\uFEFFadm_0123\r\n', 'key');
    const { file } = read(inProject(`apiKey: { file: ${apiKeyFile} }`));
    const key = { apiKey: 'adm_0123', apiKeyFile };
    expect(file?.projects).toMatchObject([{ ...key, apiKeyVariable: apiKeyFile }]);
    const { projects } = readSettings({ ...sound, DOCS_API_KEY_FILE: apiKeyFile });
    expect(projects).toMatchObject([{ ...key, apiKeyVariable: 'DOCS_API_KEY_FILE' }]);
  });

  test('is never repeated, however it was written into the file', () => {
    const secret = 'zq_0123456789abcdef';
    const written = fc.constantFrom(
      `apiKey: ${secret}`,
      `apiKey: "${secret}`,
      `apiKey: [${secret}]`,
      `apiKey: { env: ${secret} }`,
      `apiKey: { file: ${secret} }`,
      `apiKey: { file: { ${secret}: 1 } }`,
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
          expect(problem).toMatch(/^docket\.yml(:\d+:\d+)? [^\n]+[.?]$/);
        }
      }),
      { numRuns: 300 },
    );
  });
});

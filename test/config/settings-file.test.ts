import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { configFolder, problemsOf, sound } from '../support/config/builders.ts';

const { folder, fileWith } = configFolder();

const twoProjects = `projects:
  acme: { domains: [docs.acme.com], apiKey: { env: ACME_DOCS_API_KEY } }
  beta: { domains: [docs.beta.io], channels: [C0BETA] }
replies: all
`;

describe('the file of DOCKET_CONFIG', () => {
  const withFile = (content: string | Uint8Array, env: NodeJS.ProcessEnv = {}) => ({
    ...sound,
    ACME_DOCS_API_KEY: 'adm_acme',
    ...env,
    DOCKET_CONFIG: fileWith(content),
  });

  test('must list DOCS_DOMAIN in a project', () => {
    expect(problemsOf(withFile(twoProjects, { DOCS_DOMAIN: 'docs.foo.com' }))).toEqual([
      'DOCS_DOMAIN is not in any project of DOCKET_CONFIG. Add it to the domains of one, or set it to one of those.',
    ]);
  });

  test('has the ids of its projects, and DOCS_PROJECT_ID would be nobody’s', () => {
    expect(problemsOf(withFile(twoProjects, { DOCS_PROJECT_ID: 'prj_1' }))).toEqual([
      'DOCS_PROJECT_ID has no effect when DOCKET_CONFIG has projects. Set projectId there, and unset it here.',
    ]);
  });

  const unreadable = (code: string) =>
    `cannot be read (${code}). Set it to a YAML file in UTF-8 that Docket's user may read; a relative path begins where Docket starts.`;
  mkdirSync(join(folder, 'folder'));
  test.each([
    [join(folder, 'gone.yml'), unreadable('ENOENT')],
    [join(folder, 'folder'), unreadable('EISDIR')],
    [
      fileWith(Buffer.from('links: thread', 'utf16le').fill(0xff, 0, 1), 'utf16.yml'),
      unreadable('ERR_ENCODING_INVALID_ENCODED_DATA'),
    ],
  ])('cannot be %s', (path, problem) => {
    expect(problemsOf({ ...sound, DOCKET_CONFIG: path })).toEqual([`DOCKET_CONFIG ${problem}`]);
  });
});

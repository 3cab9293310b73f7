import { expect, test } from 'vitest';
import { readSettings, secretsOf } from '../../src/config/settings.ts';
import { configFolder, sound } from '../support/config/builders.ts';
import { env, inProject, problemsIn, read } from '../support/config/file.ts';

const { fileWith } = configFolder();
const variables = { ...env, TOKEN: 'github_pat_1' };
const token = { secret: 'github_pat_1', name: 'TOKEN' };
const inPullRequests = (text: string) => inProject(`pullRequests: { ${text} }`);
const of = (text: string) => read(inPullRequests(text), variables).file?.projects?.[0]?.pullRequests;

test('the Git host of a project is read with its defaults', () => {
  expect(of('github: { token: { env: TOKEN } }')).toEqual({
    host: 'github',
    apiUrl: 'https://api.github.com',
    token,
    remindAfterDays: 3,
  });
  const own = 'token: { env: TOKEN }, apiUrl: "https://gitlab.acme.com/api/v4"';
  expect(of(`gitlab: { ${own} }, remindAfterDays: 0, remind: S0DOCS`)).toEqual({
    host: 'gitlab',
    apiUrl: 'https://gitlab.acme.com/api/v4',
    token,
    remindAfterDays: 0,
    remind: 'S0DOCS',
  });
  expect(of('gitlab: { token: { env: TOKEN } }')?.apiUrl).toBe('https://gitlab.com/api/v4');
});

test('the log hides its token', () => {
  const path = fileWith(inPullRequests('github: { token: { env: TOKEN } }'));
  const settings = readSettings({ ...sound, ...variables, DOCS_API_KEY: 'adm_1', DOCKET_CONFIG: path });
  expect(secretsOf(settings)).toContain('github_pat_1');
});

const either = 'must have either github or gitlab.';
test.each([
  ['remindAfterDays: 3', either],
  ['github: { token: { env: TOKEN } }, gitlab: { token: { env: TOKEN } }', either],
  ['github: { token: github_pat_1 }', 'github.token must name an environment variable'],
  [
    'github: { token: { env: TOKEN }, apiUrl: "http://git.acme.com" }',
    'github.apiUrl must be an https address',
  ],
  ['github: { token: { env: TOKEN } }, remind: "#docs"', 'remind must be the id of a person'],
  [
    'github: { token: { env: TOKEN } }, remindAfterDays: 1.5',
    'remindAfterDays must be a number of working days',
  ],
])('%s is a problem', (text, problem) => {
  const all = problemsIn(inPullRequests(text), variables).join('\n');
  expect(all).toContain(problem);
  expect(all).not.toContain('github_pat_1');
});

import { expect, test } from 'vitest';
import {
  readPartialSettings,
  readSettings,
  secretsOf,
  workspaceVariables,
} from '../../src/config/settings.ts';
import { workspaceIndex } from '../../src/workspaces.ts';
import { configFolder, problemsOf } from '../support/config/builders.ts';

const { fileWith } = configFolder();

const variables = {
  DOCS_API_URL: 'https://api.docs.example/v1',
  DOCS_API_KEY: 'adm_0123456789',
  ACME_BOT_TOKEN: 'xoxb-acme-0123456789',
  ACME_SIGNING_SECRET: '0123456789abcdef0123456789abcdef',
  GLOBEX_BOT_TOKEN: 'xoxb-globex-0123456789',
  GLOBEX_APP_TOKEN: 'xapp-globex-0123456789',
};
const acme = '{ botToken: { env: ACME_BOT_TOKEN }, signingSecret: { env: ACME_SIGNING_SECRET } }';
const globex =
  '{ botToken: { env: GLOBEX_BOT_TOKEN }, appToken: { env: GLOBEX_APP_TOKEN }, allow: { admin: [U0ANA] } }';
const projects = `projects:
  docs: { domains: [docs.acme.com], workspaces: [acme], channels: [C0123] }
  shop: { domains: [docs.globex.com], workspaces: [globex], channels: [C0123] }
  both: { workspaces: [acme, globex] }
`;
const both = `workspaces: { acme: ${acme}, globex: ${globex} }\n`;

const withFile = (text: string, more: NodeJS.ProcessEnv = {}) => ({
  ...variables,
  DOCKET_CONFIG: fileWith(text),
  ...more,
});
const problemsIn = (text: string, more: NodeJS.ProcessEnv = {}) =>
  problemsOf(withFile(text, more)).map((problem) => problem.replace(/^\/\S+ /, ''));

test('each workspace has its secrets, people and projects', () => {
  const settings = readSettings(withFile(both + projects, { DOCS_DOMAIN: 'docs.acme.com' }));
  const [first, second] = settings.workspaces;
  expect(first).toMatchObject({
    name: 'acme',
    botToken: { name: 'ACME_BOT_TOKEN', secret: 'xoxb-acme-0123456789' },
    allow: { admin: [] },
    docsDomain: 'docs.acme.com',
  });
  expect(first?.projects.map(({ name }) => name)).toEqual(['docs', 'both']);
  expect(second).toMatchObject({ name: 'globex', allow: { admin: ['U0ANA'] }, docsDomain: undefined });
  expect(second?.projects.map(({ name }) => name)).toEqual(['shop', 'both']);
  for (const [name, value] of Object.entries(variables))
    if (/TOKEN|SECRET/.test(name)) expect(secretsOf(settings)).toContain(value);
});

test('a workspace that names only some permissions keeps the others of the file', () => {
  const one = `workspaces: { globex: ${globex} }\nallow: { agent: [S0DOCS], admin: [U0BEN] }\n`;
  const [only] = readSettings(withFile(one)).workspaces;
  expect(only?.allow).toMatchObject({ agent: ['S0DOCS'], admin: ['U0ANA'], export: ['everyone'] });
});

test.each<[string, string, NodeJS.ProcessEnv?]>([
  [
    'workspaces has no workspace. Add one, or remove it to use the tokens of the environment.',
    'workspaces: {}\n',
  ],
  [
    'projects.docs names no workspace. Write workspaces: [acme], so that nobody else sees it.',
    `${both}projects: { docs: {}, shop: { workspaces: [acme, globex] } }\n`,
  ],
  [
    'projects.docs.workspaces names a workspace that the file does not have. Add it, or remove it here.',
    'projects: { docs: { workspaces: [acme] } }\n',
    { SLACK_BOT_TOKEN: 'xoxb-1-2-abc', SLACK_SIGNING_SECRET: '0123456789abcdef' },
  ],
  [
    'workspaces.globex has no project. Name it in the workspaces of one.',
    `${both}projects: { docs: { workspaces: [acme] } }\n`,
  ],
  [
    'workspaces.other.botToken is that of another workspace. Each has an app of its own.',
    `workspaces: { acme: ${acme}, other: ${acme} }\nprojects: { docs: { workspaces: [acme, other] } }\n`,
  ],
  [
    'workspaces.globex.appToken is that of another workspace. Each has an app of its own.',
    `${both}${projects}`,
    { ACME_SIGNING_SECRET: variables.GLOBEX_APP_TOKEN },
  ],
  [
    'workspaces."a b" cannot be a part of an address. Use 1 to 40 letters from a to z, digits, - or _.',
    `workspaces: { a b: ${acme} }\n`,
  ],
  [
    'allow has ids, which belong to one workspace. Write allow below each workspace.',
    `${both}${projects}allow: { export: [everyone, U0ANA] }\n`,
  ],
  [
    'contact is an id, which belongs to one workspace. Write contact below each workspace.',
    `${both}${projects}contact: U0ANA\n`,
  ],
  [
    'workspaces.acme has neither a signingSecret nor an appToken. Write the first for requests over HTTP, or the second for Socket Mode.',
    'workspaces: { acme: { botToken: { env: ACME_BOT_TOKEN } } }\n',
  ],
  [
    'workspaces.acme.botToken names a secret that does not begin with xoxb-. Copy it again from the Slack app.',
    'workspaces: { acme: { botToken: { env: GLOBEX_APP_TOKEN }, signingSecret: { env: ACME_SIGNING_SECRET } } }\n',
  ],
  [
    'projects.shop.channels[0] is already a channel of the project docs. A channel has one default project: keep one.',
    `${both}projects: { docs: { workspaces: [acme, globex], channels: [C0123] }, shop: { workspaces: [globex], channels: [C0123] } }\n`,
  ],
  ['workspaces.acme has no project. Name it in the workspaces of one.', both],
  [
    'SLACK_BOT_TOKEN has no effect when DOCKET_CONFIG has workspaces. Name it there, or unset it.',
    both + projects,
    { SLACK_BOT_TOKEN: 'xoxb-1-2-abc' },
  ],
])('%s', (problem, text, more) => {
  expect(problemsIn(text, more)).toContain(problem);
});

test('setup reads the names of the variables, and other settings without them', () => {
  const { DOCS_API_URL, DOCKET_CONFIG } = withFile(both + projects);
  const env = { DOCS_API_URL, DOCKET_CONFIG };
  expect(workspaceVariables(env)?.globex).toEqual({
    botToken: 'GLOBEX_BOT_TOKEN',
    appToken: 'GLOBEX_APP_TOKEN',
  });
  expect(readPartialSettings(env).workspaces).toHaveLength(2);
});

const teams = (ids: string[], name?: string) => ids.map((id) => ({ name, teamId: () => id }));

test.each<[string[], string, number]>([
  [['T1', 'T2'], 'T2', 1],
  [['T1', 'T2'], 'T3', -1],
  [['T1', ''], 'T2', -1],
  [['T1'], 'T2', -1],
  [[''], 'T2', -1],
  [['T1', 'T2'], '', 0],
])('of the workspaces %s, work of the team "%s" is for the one at %i', (known, team, index) =>
  expect(workspaceIndex(teams(known, 'acme'), team)).toBe(index),
);

test('the workspace of the environment takes all work until it knows its team', () => {
  expect(workspaceIndex(teams(['']), 'T2')).toBe(0);
  expect(workspaceIndex(teams(['T1']), 'T2')).toBe(-1);
});

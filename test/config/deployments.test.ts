import { describe, expect, test } from 'vitest';
import { readSettings, secretsOf } from '../../src/config/settings.ts';
import { configFolder, sound } from '../support/config/builders.ts';
import { env, inProject, problemsIn, read } from '../support/config/file.ts';

const { fileWith } = configFolder();
const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const variables = { ...env, HOOK: secret, TOKEN: 'github_pat_1' };
const hook = 'webhook: { url: https://deploy.acme.com/x?k=1, secret: { env: HOOK } }';
const flow = 'github: { repository: acme/infra, workflow: a.yml, token: { env: TOKEN } }';
const inDeployment = (text: string, name = 'production') =>
  inProject(`deployments: { ${name}: { ${text} } }`);

test('deployments are read with their defaults', () => {
  const file = fileWith(`${secret}\n`, 'secret');
  const text = inProject(`deployments:
      production: { ${hook}, url: https://docs.acme.com/en }
      local: { webhook: { url: "http://127.0.0.1:1/", secret: [{ file: ${file} }, { env: HOOK }], includeLink: true } }
      staging: { ${flow} }
      filed: { github: { repository: acme/infra, workflow: a.yml, token: { file: ${file} } } }
      own: { github: { repository: a/.github, event: docs-export, token: { env: TOKEN }, apiUrl: "https://git.acme.com/api/v3" } }`);
  const url = 'https://deploy.acme.com/x?k=1';
  const github = {
    repository: 'acme/infra',
    workflow: 'a.yml',
    ref: 'main',
    token: { secret: 'github_pat_1', name: 'TOKEN' },
  };
  expect(read(text, variables).file?.projects?.[0]?.deployments).toEqual([
    {
      name: 'production',
      webhook: { url, secrets: [{ secret, name: 'HOOK' }], includeLink: false },
      url: 'https://docs.acme.com/en',
    },
    {
      name: 'local',
      webhook: {
        url: 'http://127.0.0.1:1/',
        secrets: [
          { secret, name: file, file },
          { secret, name: 'HOOK' },
        ],
        includeLink: true,
      },
    },
    { name: 'staging', github: { ...github, apiUrl: 'https://api.github.com' } },
    {
      name: 'filed',
      github: {
        ...github,
        ...{ apiUrl: 'https://api.github.com', token: { secret, name: file, file } },
      },
    },
    {
      name: 'own',
      github: {
        ...{
          repository: 'a/.github',
          event: 'docs-export',
          ref: 'main',
          token: github.token,
        },
        apiUrl: 'https://git.acme.com/api/v3',
      },
    },
  ]);
});

test('the log hides their secrets and tokens', () => {
  const path = fileWith(inProject(`deployments: { a: { ${hook} }, b: { ${flow} } }`));
  const settings = readSettings({ ...sound, ...variables, DOCS_API_KEY: 'adm_1', DOCKET_CONFIG: path });
  const all = [secret, secret.slice(6), 'k=1', 'github_pat_1'];
  expect(secretsOf(settings)).toEqual(expect.arrayContaining(all));
});

describe('a problem names the place and the fix:', () => {
  const where = 'docket.yml projects.acme.deployments.production';
  const named = (what: string) =>
    `must name an environment variable in capitals, or a file, and not hold ${what} itself. Write it like { env: ACME_DEPLOY_SECRET } or { file: /run/secrets/acme }.`;
  const noSecret =
    'names a secret that is not whsec_ and 24 to 64 bytes in base64. Make one: echo "whsec_$(openssl rand -base64 32)".';
  const several = 'must have one to five secrets. Remove those that were replaced.';
  const either =
    'must have either a webhook or github. Write it like webhook: { url: https://deploy.example.com/docket, secret: { env: ACME_DEPLOY_SECRET } }.';
  const https =
    'must be an https address (http only for this machine). Write the address that takes the message.';
  const site = '.url must be the address of the site, such as https://docs.acme.com.';
  test.each([
    [`${hook}, url: https://docs.acme.com/?token=1`, site],
    [`${hook}, url: https://docs.acme.com/#top`, site],
    [`${hook}, url: https://bob@docs.acme.com`, site],
    [`${flow}, url: ftp://docs.acme.com`, site],
    [`${flow}, url: "javascript:alert(1)"`, site],
    [`${flow}, url: docs.acme.com`, site],
    [`${flow}, url: [https://docs.acme.com]`, site],
    ['', ` ${either}`],
    [`${hook}, ${flow}`, ` ${either}`],
    [hook.replace('https', 'http'), `.webhook.url ${https}`],
    [
      hook.replace('https://', 'https://bob@'),
      '.webhook.url has a user or a fragment. Remove it: the secret proves who sends.',
    ],
    [hook.replace('{ env: HOOK }', secret), `.webhook.secret ${named('a secret')}`],
    [hook.replace('{ env: HOOK }', `{ env: HOOK, ${secret}: 1 }`), `.webhook.secret ${named('a secret')}`],
    [
      hook.replace('HOOK', 'GONE'),
      '.webhook.secret names an environment variable that is not set. Set it to a secret.',
    ],
    [hook.replace('HOOK', 'TOKEN'), `.webhook.secret ${noSecret}`],
    [hook.replace('{ env: HOOK }', '[{ env: HOOK }, { env: TOKEN }]'), `.webhook.secret[1] ${noSecret}`],
    [hook.replace('{ env: HOOK }', '[]'), `.webhook.secret ${several}`],
    [hook.replace('{ env: HOOK }', `[${'{ env: HOOK }, '.repeat(6)}]`), `.webhook.secret ${several}`],
    [hook.replace('HOOK', 'SHORT'), `.webhook.secret ${noSecret}`],
    [hook.replace('HOOK', 'LONG'), `.webhook.secret ${noSecret}`],
    [
      hook.replace('env: HOOK', 'file: /nowhere'),
      ".webhook.secret names a file that cannot be read (ENOENT). Mend its path, or give Docket's user the right to read it.",
    ],
    [flow.replace('acme/infra', 'acme/..'), '.github.repository must be owner and name, as in acme/infra.'],
    [
      flow.replace('a.yml', 'a/b.yml'),
      '.github.workflow must be a file in .github/workflows, such as a.yml.',
    ],
    [
      flow.replace('workflow: a.yml', 'workflow: a.yml, ref: a..b'),
      '.github.ref must be a branch or a tag, such as main.',
    ],
    [
      flow.replace('workflow: a.yml,', ''),
      '.github must have either a workflow or an event. Write one of them.',
    ],
    [
      flow.replace('workflow: a.yml', 'workflow: a.yml, event: x'),
      '.github must have either a workflow or an event. Write one of them.',
    ],
    [flow.replace('{ env: TOKEN }', 'github_pat_1'), `.github.token ${named('a token')}`],
    [
      flow.replace('TOKEN', 'BROKEN'),
      '.github.token names a token that contains a quote, a space or a line break. Copy it again without them.',
    ],
  ])('%s', (text, problem) => {
    const broken = {
      ...variables,
      SHORT: 'whsec_MTIz',
      LONG: `whsec_${Buffer.alloc(65).toString('base64')}`,
      BROKEN: 'a b',
    };
    expect(problemsIn(inDeployment(text), broken)).toEqual([`${where}${problem}`]);
  });

  test('a name that no button can have', () => {
    expect(problemsIn(inDeployment(hook, '"a b"'), variables)).toEqual([
      'docket.yml projects.acme.deployments."a b" cannot be the name of a deployment. Use 1 to 40 letters from a to z, digits, - or _.',
    ]);
  });
});

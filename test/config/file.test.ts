import { describe, expect, test } from 'vitest';
import { read } from '../support/config/file.ts';

const fileOf = (text: string) => {
  const { file, problems } = read(text);
  expect(problems).toEqual([]);
  return file;
};

describe('the file', () => {
  test('says everything', () => {
    const text = `
projects:
  acme:
    projectId: prj_1
    domains: [docs.acme.com]
    apiKey: { env: ACME_DOCS_API_KEY }    # a secret is named, never written here
    channels: [C0123]
  Beta_2:
    domains:
      - docs.beta.io
allow:
  export: [everyone]
  agent: [S0DOCS]
  digest: []
  admin: [U0ANA, W0BEN]
links: requester
replies: mention
whileWorking: send
context: never
limits:
  exportStatusPerSecond: 0.5
  followUpsPerHour: 20
  analyticsPerHour: 30
  watchHours: 1.5
  exportsPerPerson: 1
  exportsPerChannel: 2
  instructionCharacters: 3
  instructionsWaiting: 4
`;
    expect(fileOf(text)).toEqual({
      projects: [
        {
          name: 'acme',
          projectId: 'prj_1',
          domains: ['docs.acme.com'],
          apiKey: 'adm_acme',
          apiKeyVariable: 'ACME_DOCS_API_KEY',
          channels: ['C0123'],
          deployments: [],
        },
        {
          name: 'Beta_2',
          projectId: undefined,
          domains: ['docs.beta.io'],
          apiKey: 'adm_default',
          apiKeyVariable: 'DOCS_API_KEY',
          channels: [],
          deployments: [],
        },
      ],
      allow: {
        export: ['everyone'],
        agent: ['S0DOCS'],
        digest: [],
        site: [],
        deploy: [],
        admin: ['U0ANA', 'W0BEN'],
      },
      links: 'requester',
      replies: 'mention',
      whileWorking: 'send',
      context: 'never',
      limits: {
        exportStatusPerSecond: 0.5,
        followUpsPerHour: 20,
        analyticsPerHour: 30,
        watchHours: 1.5,
        exportsPerPerson: 1,
        exportsPerChannel: 2,
        exportSchedulesPerPerson: 50,
        threadsPerPerson: 100,
        instructionCharacters: 3,
        instructionsWaiting: 4,
      },
    });
  });

  test.each([
    ['S0DOCS', { id: 'S0DOCS' }],
    ['"@docs-admins"', { text: '@docs-admins' }],
    ['"a\\u202Eb\\n"', { text: 'ab' }],
    ['"you <!here> *you*"', { text: 'you <!here> *you*' }],
    [`"${'é'.repeat(80)}"`, { text: 'é'.repeat(80) }],
  ])('may say to ask %s', (written, contact) => {
    expect(fileOf(`contact: ${written}`)?.contact).toEqual(contact);
  });
});

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { doctorForTests } from '../support/doctor.ts';

const { platform, file, rightEnv, doctor } = doctorForTests();

test('--platform needs no settings of Slack, and prints the table of each project', async () => {
  platform.lacks.set('POST /v2/agent/{projectId}/job', 404);
  onTestFinished(() => platform.lacks.clear());
  const { SLACK_BOT_TOKEN: _, SLACK_APP_TOKEN: _other, ...env } = rightEnv();
  const { code, stdout } = await doctor(env, { args: ['--platform'] });
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^The docs platform, project default\n {2}works +startExport +POST \/v1\/static-export\/jobs$/m,
  );
  expect(stdout).toMatch(/^ {2}not there +createAgentJob .*\(404, as for an address that can't exist\)$/m);
  expect(stdout).toMatch(/^ {2}not tried +previewBranch .*\(it would start something\)$/m);
  expect(stdout).toMatch(/^ {2}Docket goes without: new agent jobs/m);
  expect(platform.starts).toEqual([]);
  const refused = await doctor({ ...env, DOCS_API_KEY: 'adm_another1' }, { args: ['--platform'] });
  expect([refused.code, refused.stdout]).toEqual([1, expect.stringMatching(/refused +startExport .*\(401/)]);
  const nothing = await doctor({}, { args: ['--platform'] });
  expect([nothing.code, nothing.lines.map((line) => line.slice(10))]).toEqual([
    1,
    [
      expect.stringMatching(/^Settings: DOCS_API_URL is missing/),
      expect.stringMatching(/^Settings: DOCS_API_KEY is missing/),
    ],
  ]);
});

test('--platform has a table for each project, with its own key', async () => {
  const projects = `projects:\n  acme: { projectId: ${platform.projectId} }\n  beta: { projectId: prj_beta, apiKey: { env: BETA_KEY } }\n`;
  writeFileSync(file('docket.yml'), projects);
  const more = { DOCKET_CONFIG: file('docket.yml'), DOCS_PROJECT_ID: '', BETA_KEY: 'adm_another1' };
  const { code, stdout } = await doctor({ ...rightEnv(), ...more }, { args: ['--platform'] });
  expect(code).toBe(1);
  expect(stdout).toMatch(
    /project acme\n {2}works +startExport[\s\S]*goes without: nothing[\s\S]*project beta\n {2}refused +startExport/,
  );
});

test('--messages asks about the samples beside package.json, and prints what Slack refuses', async () => {
  const block = (type: string) => `{ text: x, blocks: [{ type: ${type} }] }`;
  mkdirSync(file('test/outside/golden'), { recursive: true });
  onTestFinished(() => rmSync(file('test'), { recursive: true }));
  writeFileSync(
    file('test/outside/golden/a.yaml'),
    `a/good: ${block('divider')}\na/bad: ${block('wizard')}\n`,
  );
  const { SLACK_BOT_TOKEN, SLACK_API_URL } = rightEnv();
  const { code, lines } = await doctor({ SLACK_BOT_TOKEN, SLACK_API_URL }, { args: ['--messages'] });
  expect([code, lines]).toEqual([
    1,
    [
      '2 samples, one a second: about 1 min.',
      expect.stringContaining('a/bad: invalid_message'),
      expect.stringContaining('unsupported type: wizard [json-pointer:/blocks/0/type]'),
      'Slack takes 1 of 2 samples.',
    ],
  ]);
});

test('--messages says that it needs a checkout where there are no samples', async () => {
  const { SLACK_BOT_TOKEN, SLACK_API_URL } = rightEnv();
  const { code, stdout } = await doctor({ SLACK_BOT_TOKEN, SLACK_API_URL }, { args: ['--messages'] });
  expect([code, stdout]).toEqual([1, expect.stringContaining('of a checkout of Docket')]);
});

import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { temporaryFolder } from '../../test/support/flows/world.ts';
import { createStandInPlatform } from '../docs-platform/platform.ts';
import { createStandInGitHub } from '../github/github.ts';

const page = readFileSync(new URL('../../docs/deployments.md', import.meta.url), 'utf8');
const blocks = (language: string) =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, text = '']) => text);

interface Workflow {
  on: { workflow_dispatch: { inputs: Record<string, { required?: boolean }> } };
  jobs: { update: { steps: { name?: string; run?: string }[] } };
}
const workflow: Workflow = parse(blocks('yaml').find((text) => text.includes('runs-on')) ?? '');

/** A finished export, and a folder to run the scripts of the page in. */
async function started() {
  const folder = temporaryFolder();
  const platform = createStandInPlatform();
  const { url, close } = await platform.listen();
  onTestFinished(async () => {
    await close();
    folder.remove();
  });
  const headers = { authorization: `Bearer ${platform.apiKey}` };
  const post = async (path: string, body?: object) => {
    const json = { 'content-type': 'application/json', ...headers };
    const init = body ? { body: JSON.stringify(body), headers: json } : { headers };
    const answer = await fetch(`${url}/v1/static-export/jobs${path}`, { method: 'POST', ...init });
    return (await answer.json()) as { jobId: string; bundleUrl: string };
  };
  const { jobId } = await post('', { domain: 'docs.acme.com', version: 'v1' });
  platform.finish(jobId);
  const link = async () => (await post(`/${jobId}/bundle`)).bundleUrl;
  const run = (script: string, env: Record<string, string>) =>
    promisify(execFile)('bash', ['-eo', 'pipefail', '-c', script], {
      cwd: folder.path,
      env: { PATH: process.env.PATH, HOME: folder.path, ...env },
    });
  return { path: folder.path, platform, url, jobId, link, run };
}

test('the workflow mirrors the bundle, and sets staticExport in the Helm values', async () => {
  const { path, platform, url, jobId, run } = await started();
  const bin = join(path, 'bin');
  mkdirSync(bin);
  mkdirSync(join(path, 'bucket'));
  writeFileSync(join(bin, 'aws'), `#!/bin/sh\ncp "$3" "$HOME/bucket/$(basename "$4")"\n`);
  writeFileSync(join(bin, 'git'), '#!/bin/sh\necho "$@" >> "$HOME/git.log"\n[ "$1" != diff ]\n');
  for (const name of ['aws', 'git']) chmodSync(join(bin, name), 0o755);
  const env = {
    PATH: `${bin}:${process.env.PATH}`,
    RUNNER_TEMP: path,
    DOCS_API_URL: url,
    DOCS_API_KEY: platform.apiKey,
    BUCKET: 'acme-docs',
    MIRROR: 'https://acme-docs.s3.eu-central-1.amazonaws.com',
    JOB_ID: jobId,
    VERSION: 'v1 "quoted": $(id)',
  };
  const scripts = workflow.jobs.update.steps.flatMap((step) => step.run ?? []);
  expect(scripts).toHaveLength(2);
  for (const script of scripts) await run(script, env);
  expect(readdirSync(join(path, 'bucket'))).toEqual([`${jobId}.tar.gz`]);
  const values = readFileSync(join(path, 'docs-values.json'), 'utf8');
  expect(JSON.parse(values)).toEqual({
    staticExport: { enabled: true, bundleUrl: `${env.MIRROR}/${jobId}.tar.gz`, version: env.VERSION },
  });
  expect(readFileSync(join(path, 'git.log'), 'utf8').trim().split('\n').at(-1)).toBe('push');

  platform.forget(jobId);
  await expect(run(scripts[0] ?? '', env)).rejects.toMatchObject({ stderr: expect.stringContaining('404') });
});

test('the workflow takes what Docket sends, and GitHub accepts it', async () => {
  const { inputs } = workflow.on.workflow_dispatch;
  expect(Object.keys(inputs)).toEqual(['job_id', 'version', 'domain']);
  const github = createStandInGitHub({
    repositories: { 'acme/infra': { 'update-docs.yml': { inputs } } },
  });
  const path = '/repos/acme/infra/actions/workflows/update-docs.yml/dispatches';
  const answer = await github.fetch(`https://api.github.com${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${github.token}`, 'user-agent': 'docket' },
    body: JSON.stringify({ ref: 'main', inputs: { job_id: 'se_1', version: '', domain: 'docs.acme.com' } }),
  });
  expect(answer.status).toBe(204);
});

test('a bundle can be downloaded, carried and unpacked, and a broken one changes nothing', async () => {
  const { path, link, run } = await started();
  const [download = '', unpack = ''] = blocks('sh').filter((text) => text.includes('docs.tar.gz'));
  await run(download, { LINK: await link() });
  await run(unpack, {});
  const home = join(path, 'current', 'index.html');
  expect(readFileSync(home, 'utf8')).toContain('docs.acme.com');
  writeFileSync(join(path, 'docs.tar.gz'), 'changed on the way');
  await expect(run(unpack, {})).rejects.toThrow();
  await run(
    'mkdir bad && ln -s /etc/hostname bad/index.html && tar -czf docs.tar.gz -C bad . && sha256sum docs.tar.gz > docs.tar.gz.sha256',
    {},
  );
  await expect(run(unpack, {})).rejects.toMatchObject({ stdout: expect.stringMatching(/^l.* -> \/etc/m) });
  expect(existsSync(home)).toBe(true);
  expect(readdirSync(join(path, 'releases'))).toHaveLength(1);
});

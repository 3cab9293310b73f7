import { writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { createDeployments, type DeploymentCall } from '../../src/deployments/deployment.ts';
import { createSender } from '../../src/deployments/sender.ts';
import type { Deployment } from '../../src/projects.ts';
import { configFolder } from '../support/config/builders.ts';
import { answering, httpServer, tcpServer } from '../support/docs-api/servers.ts';

const { fileWith } = configFolder();
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const message = { id: 'msg_1_1_0', body: '{}' };
/** The clock of this machine, which need not be that of Redis. */
const MACHINE_MS = 1_700_000_000_000;
const update = { jobId: 'se_1', domain: 'docs.acme.com' };

/** The calls to one deployment, and what was reported of them. */
function connected(deployment: Deployment, timeoutMs = 5000) {
  const calls: DeploymentCall[] = [];
  const sender = createSender(undefined, timeoutMs, new AbortController().signal);
  onTestFinished(() => void sender.close());
  const projects = [{ name: 'acme', deployments: [deployment] }, { name: 'other' }];
  return {
    calls,
    find: createDeployments(
      projects,
      sender.send,
      () => MACHINE_MS,
      (call) => calls.push(call),
    ),
  };
}

const webhook = (url: string): Deployment => ({
  name: 'production',
  webhook: { url, secrets: [{ secret, name: 'HOOK' }], includeLink: true },
});

test('a deployment is found by its project and name only', () => {
  const { find } = connected(webhook('https://x.test/'));
  expect(find('acme', 'production')).toMatchObject({ kind: 'webhook', includeLink: true });
  for (const [project, name] of [
    ['acme', 'staging'],
    ['other', 'production'],
    ['gone', 'production'],
  ] as const)
    expect(find(project, name)).toBeUndefined();
});

test.each([
  [204, 'ok', 'delivered'],
  [302, 'refused', 'refused'],
  [404, 'refused', 'retry'],
  [410, 'refused', 'refused'],
  [500, 'failed', 'retry'],
] as const)('a webhook answered with %i is reported as %s', async (status, outcome, kind) => {
  const { find, calls } = connected(webhook((await answering(status, `${secret} no`)).url));
  const api = find('acme', 'production');
  expect(api?.kind === 'webhook' && (await api.send(message))).toMatchObject({ kind });
  const call = { project: 'acme', deployment: 'production', kind: 'webhook', status, outcome };
  expect(calls).toEqual([{ ...call, reason: `status ${status}`, durationMs: expect.any(Number) }]);
});

test.each([
  ['first message', false, 3_600_000, 600_000],
  ['fresh link', true, Infinity, Infinity],
])('a %s is repeated with a secret that was read again after a 401', async (_, isRenewal, newMs, oldMs) => {
  const file = fileWith(secret, 'hook');
  const { url } = await answering(401, '');
  const { find } = connected({
    name: 'production',
    webhook: { url, secrets: [{ secret, file, name: 'HOOK' }], includeLink: true },
  });
  writeFileSync(file, `whsec_${Buffer.alloc(32, 8).toString('base64')}`);
  const api = find('acme', 'production');
  const send = async () => api?.kind === 'webhook' && (await api.send(message, { isRenewal }));
  expect(await send()).toMatchObject({ kind: 'retry', forMs: newMs });
  expect(await send()).toMatchObject({ kind: 'retry', forMs: oldMs });
});

test('a webhook is signed with the time of this machine, by which callbacks are checked', async () => {
  const sent = Promise.withResolvers<unknown>();
  const { url } = await httpServer((request, response) => {
    sent.resolve(request.headers['webhook-timestamp']);
    response.end();
  });
  const api = connected(webhook(url)).find('acme', 'production');
  if (api?.kind === 'webhook') await api.send(message);
  expect(await sent.promise).toBe(String(MACHINE_MS / 1000));
});

test('calls to GitHub are reported, also without an answer', async () => {
  const github = {
    repository: 'acme/infra',
    workflow: 'a.yml',
    ref: 'main',
    token: { secret: 'github_pat_1', name: 'T' },
  };
  const started = connected({
    name: 'staging',
    github: { ...github, apiUrl: (await answering(204, '')).url },
  });
  const api = started.find('acme', 'staging');
  if (api?.kind !== 'github') throw new Error('it is a workflow');
  expect(await api.dispatch(update, () => false)).toEqual({ run: undefined });
  expect(started.calls).toMatchObject([
    { deployment: 'staging', kind: 'github', outcome: 'ok', status: 204 },
  ]);

  const silent = connected(
    {
      name: 'staging',
      github: { ...github, apiUrl: (await tcpServer(() => {})).url },
    },
    300,
  );
  const lost = silent.find('acme', 'staging');
  await expect(lost?.kind === 'github' && lost.getRun(7)).rejects.toMatchObject({ happened: 'unknown' });
  const reason = 'no answer in time';
  expect(silent.calls).toMatchObject([{ kind: 'github', outcome: 'failed', status: undefined, reason }]);
});

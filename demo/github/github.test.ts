import { describe, expect, test } from 'vitest';
import { createStandInGitHub, type StandInGitHubOptions } from './github.ts';

const START_MS = Date.UTC(2026, 8, 21, 12);
const WORKFLOW = '/repos/acme/infra/actions/workflows/update-docs.yml';
const INPUTS = { job_id: 'se_1', version: 'v1', domain: 'docs.acme.com' };

function standIn(options: StandInGitHubOptions = {}) {
  const clock = { ms: START_MS };
  const github = createStandInGitHub({ nowMs: () => clock.ms, ...options });
  async function call(path: string, init: { body?: unknown; headers?: Record<string, string> } = {}) {
    const { body, headers } = init;
    const answer = await github.fetch(`http://api.github.test${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${github.token}`, 'user-agent': 'docket', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : text };
  }
  const dispatch = (body: object = {}, headers?: Record<string, string>) =>
    call(`${WORKFLOW}/dispatches`, {
      body: { ref: 'main', inputs: INPUTS, ...body },
      ...(headers && { headers }),
    });
  return { github, clock, call, dispatch };
}

describe('a dispatch of a workflow', () => {
  test('answers 204, or tells the run to those who ask for it', async () => {
    const { github, dispatch, call } = standIn();
    expect(await dispatch()).toEqual({ status: 204, body: '' });
    const told = await dispatch({ return_run_details: true });
    const id = github.runs[1]?.id;
    expect(told).toEqual({
      status: 200,
      body: {
        workflow_run_id: id,
        run_url: `http://api.github.test/repos/acme/infra/actions/runs/${id}`,
        html_url: `https://github.com/acme/infra/actions/runs/${id}`,
      },
    });
    expect((await dispatch({}, { 'x-github-api-version': '2026-03-10' })).status).toBe(200);
    expect(github.runs[0]?.given).toEqual(INPUTS);
    expect((await call(new URL(told.body.run_url).pathname)).body.id).toBe(id);
    expect(github.wire.calls[0]).toMatchObject({
      name: 'POST /repos/{owner}/{repo}/actions/workflows/{workflow}/dispatches',
      detail: { repository: 'acme/infra', workflow: 'update-docs.yml', body: { inputs: INPUTS } },
    });
    expect(JSON.stringify(github.wire.calls)).not.toContain(github.token);
  });

  test.each([
    [
      'an input that the workflow lacks',
      { inputs: { ...INPUTS, link: 'x' } },
      'Unexpected inputs provided: ["link"]',
    ],
    ['no required input', { inputs: { job_id: 'se_1' } }, "Required input 'domain' not provided"],
    ['an input that is no text', { inputs: { ...INPUTS, version: 1 } }, "Invalid value for input 'version'"],
    ['an unknown branch', { ref: 'next' }, 'No ref found for: next'],
    ['no branch', { ref: undefined }, `"ref" wasn't supplied.`],
    ['an unknown key', { client_payload: {} }, '"client_payload" is not a permitted key.'],
  ])('with %s: 422', async (_, body, message) => {
    const { github, dispatch } = standIn();
    expect(await dispatch(body)).toMatchObject({ status: 422, body: { message, status: '422' } });
    expect(github.runs).toEqual([]);
  });

  test('an older Enterprise Server does not know the details of a run', async () => {
    const { dispatch } = standIn({ runDetails: false });
    const message = '"return_run_details" is not a permitted key.';
    expect(await dispatch({ return_run_details: true })).toMatchObject({ status: 422, body: { message } });
    expect((await dispatch()).status).toBe(204);
  });

  test('a workflow without the trigger refuses it', async () => {
    const { dispatch } = standIn({
      repositories: { 'acme/infra': { workflows: { 'update-docs.yml': {} } } },
    });
    expect(await dispatch()).toMatchObject({
      status: 422,
      body: { message: "Workflow does not have 'workflow_dispatch' trigger" },
    });
  });
});

test('a dispatch of a repository starts the workflows that listen to its type', async () => {
  const { github, call } = standIn();
  const send = (body: object) => call('/repos/acme/infra/dispatches', { body });
  expect((await send({ event_type: 'docs-export', client_payload: INPUTS })).status).toBe(204);
  expect((await send({ event_type: 'other' })).status).toBe(204);
  expect(github.runs).toMatchObject([{ event: 'repository_dispatch', branch: 'main', given: INPUTS }]);
  const many = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`k${index}`, 'x']));
  const wrong = [
    {},
    { event_type: 'x'.repeat(101) },
    { event_type: 'x', inputs: {} },
    { event_type: 'x', client_payload: many },
  ];
  for (const body of wrong) expect((await send(body)).status).toBe(422);
});

test('a run is a function of its plan and the clock, and can be found by its time', async () => {
  const { github, clock, call, dispatch } = standIn();
  github.plan({ listedAfterMs: 2000, queuedMs: 5000, durationMs: 60_000, conclusion: 'failure' });
  await dispatch();
  const since = new Date(START_MS).toISOString();
  const query = `event=workflow_dispatch&created=${encodeURIComponent(`>=${since}`)}`;
  const list = async (more = query) => (await call(`${WORKFLOW}/runs?${more}`)).body;
  expect(await list()).toEqual({ total_count: 0, workflow_runs: [] });
  const seen: unknown[] = [];
  for (const ms of [2000, 5000, 64_999, 65_000]) {
    clock.ms = START_MS + ms;
    const [run] = (await list()).workflow_runs;
    seen.push([run.status, run.conclusion]);
  }
  expect(seen).toEqual([
    ['queued', null],
    ['in_progress', null],
    ['in_progress', null],
    ['completed', 'failure'],
  ]);
  expect((await list()).workflow_runs[0]).toMatchObject({
    created_at: '2026-09-21T12:00:00Z',
    html_url: `https://github.com/acme/infra/actions/runs/${github.runs[0]?.id}`,
  });
  expect((await list('created=%3E2026-09-21T12:00:00Z')).total_count).toBe(0);
  expect((await list('event=push')).total_count).toBe(0);
  expect((await call(`${WORKFLOW}/runs?created=yesterday`)).status).toBe(422);
  github.plan({ durationMs: Number.POSITIVE_INFINITY });
  await dispatch();
  github.finish('cancelled');
  expect((await list('status=cancelled')).workflow_runs[0].id).toBe(github.runs[1]?.id);
});

test('refuses a wrong token and what is not there, and takes faults', async () => {
  const { github, call, dispatch } = standIn();
  const old = { authorization: `Bearer ${github.token}` };
  github.renewToken();
  expect(await dispatch({}, old)).toMatchObject({ status: 401, body: { message: 'Bad credentials' } });
  expect((await dispatch({}, { 'user-agent': '' })).status).toBe(403);
  expect((await dispatch({}, { 'x-github-api-version': '2020-01-01' })).status).toBe(400);
  for (const path of [
    '/repos/acme/other/actions/runs',
    '/repos/acme/infra/actions/runs/1',
    '/repos/acme/infra/actions/workflows/other.yml/runs',
    '/user',
  ])
    expect([path, (await call(path)).status]).toEqual([path, 404]);
  github.wire.order(({ name }) => name.endsWith('/dispatches'), { kind: 'reset', when: 'after' });
  await expect(dispatch()).rejects.toThrow('fetch failed');
  expect(github.runs).toHaveLength(1);
});

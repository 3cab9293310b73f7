import { expect, test } from 'vitest';
import { createStandInGitHub } from './github.ts';

const START_MS = Date.UTC(2026, 8, 21, 12);
const WORKFLOW = '/repos/acme/infra/actions/workflows/update-docs.yml';
const INPUTS = { job_id: 'se_1', version: 'v1', domain: 'docs.acme.com' };

function standIn(options: Parameters<typeof createStandInGitHub>[0] = {}) {
  const clock = { ms: START_MS };
  const github = createStandInGitHub({ nowMs: () => clock.ms, ...options });
  async function call(path: string, body?: object, headers: Record<string, string> = {}) {
    const answer = await github.fetch(`http://api.github.test${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${github.token}`, 'user-agent': 'docket', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : text };
  }
  const dispatch = (body: object = {}, headers?: Record<string, string>) =>
    call(`${WORKFLOW}/dispatches`, { ref: 'main', inputs: INPUTS, ...body }, headers);
  return { github, clock, call, dispatch };
}

test('a dispatch of a workflow answers 204, or names the run if the request asks for it', async () => {
  const { github, dispatch, call } = standIn();
  expect(await dispatch()).toEqual({ status: 204, body: '' });
  const detailed = await dispatch({ return_run_details: true });
  const { id, given } = github.runs[1] ?? {};
  expect(given).toEqual(INPUTS);
  expect(detailed).toMatchObject({
    status: 200,
    body: { workflow_run_id: id, html_url: `https://github.com/acme/infra/actions/runs/${id}` },
  });
  expect((await call(new URL(detailed.body.run_url).pathname)).body.id).toBe(id);
  expect(JSON.stringify(github.wire.calls)).not.toContain(github.token);
});

const link = { ...INPUTS, link: 'x' };
test.each([
  [{ inputs: link }, 'Unexpected inputs provided: ["link"]'],
  [{ inputs: { job_id: 'se_1' } }, "Required input 'domain' not provided"],
  [{ inputs: { ...INPUTS, version: 1 } }, "Invalid value for input 'version'"],
  [{ ref: 'next' }, 'No ref found for: next'],
  [{ ref: undefined }, `"ref" wasn't supplied.`],
  [{ client_payload: {} }, '"client_payload" is not a permitted key.'],
  [{ return_run_details: true }, '"return_run_details" is not a permitted key.'],
])('a dispatch of a workflow with %j is refused', async (body, message) => {
  const { github, dispatch } = standIn({ runDetails: false });
  expect(await dispatch(body)).toMatchObject({ status: 422, body: { message } });
  expect(github.runs).toEqual([]);
});

test('a dispatch of a repository starts the workflows that run on its type', async () => {
  const { github, call } = standIn();
  const send = async (body: object) => (await call('/repos/acme/infra/dispatches', body)).status;
  expect(await send({ event_type: 'docs-export', client_payload: INPUTS })).toBe(204);
  expect(await send({ event_type: 'other' })).toBe(204);
  expect(github.runs).toMatchObject([{ event: 'repository_dispatch', title: 'docs-export', given: INPUTS }]);
  const many = Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`k${index}`, 'x']));
  for (const more of [{ event_type: 'x'.repeat(101) }, { inputs: {} }, { client_payload: many }])
    expect(await send({ event_type: 'x', ...more })).toBe(422);
});

test('a run is a function of its plan and the clock', async () => {
  const { github, clock, call, dispatch } = standIn();
  github.plan({ queuedMs: 5000, durationMs: 60_000, conclusion: 'failure' });
  await dispatch();
  const seen: unknown[] = [];
  for (const ms of [2000, 5000, 64_999, 65_000]) {
    clock.ms = START_MS + ms;
    const { status, conclusion } = (await call(`/repos/acme/infra/actions/runs/${github.runs[0]?.id}`)).body;
    seen.push(conclusion ?? status);
  }
  expect(seen).toEqual(['queued', 'in_progress', 'in_progress', 'failure']);
});

test('it refuses a wrong token and what is not there, and takes faults', async () => {
  const { github, call, dispatch } = standIn();
  expect((await dispatch({}, { authorization: 'Bearer x' })).status).toBe(401);
  expect((await dispatch({}, { 'user-agent': '' })).status).toBe(403);
  expect((await dispatch({}, { 'x-github-api-version': '2020-01-01' })).status).toBe(400);
  const runs = ['other/actions/runs/1', 'infra/actions/runs/1', 'infra/actions/workflows/other.yml/runs'];
  for (const path of [...runs.map((one) => `/repos/acme/${one}`), '/user'])
    expect([path, (await call(path)).status]).toEqual([path, 404]);
  expect(github.runs).toEqual([]);
  github.wire.order(({ name }) => name.endsWith('/dispatches'), { kind: 'reset', when: 'after' });
  await expect(dispatch()).rejects.toThrow('fetch failed');
  expect(github.runs).toHaveLength(1);
});

test('over a limit, it refuses every call until the end; only the hourly one shows in the headers', async () => {
  const { github, clock, dispatch } = standIn();
  for (const [kind, remaining] of [
    ['secondary', '4990'],
    ['hourly', '0'],
  ] as const) {
    github.limit(kind, 60_000);
    const url = `http://api.github.test${WORKFLOW}/dispatches`;
    const { status, headers } = await github.fetch(url, { method: 'POST' });
    expect([status, headers.get('x-ratelimit-remaining')]).toEqual([403, remaining]);
    expect(headers.get('retry-after')).toBeNull();
    clock.ms += 60_000;
  }
  expect((await dispatch()).status).toBe(204);
});

test('a renamed repository is at its number, and its old address redirects there', async () => {
  const { github, call, dispatch } = standIn();
  await dispatch();
  const [{ id = 0 } = {}] = github.runs;
  github.rename('acme/infra', 'acme/platform');
  const redirect = {
    redirect: 'manual',
    headers: { authorization: `Bearer ${github.token}`, 'user-agent': 'x' },
  } as const;
  const path = `http://api.github.test/repos/acme/infra/actions/runs/${id}`;
  const moved = await github.fetch(path, redirect);
  const location = moved.headers.get('location') ?? '';
  expect([moved.status, new URL(location).pathname]).toEqual([
    301,
    `/repositories/123000/actions/runs/${id}`,
  ]);
  expect((await call(new URL(location).pathname)).body.id).toBe(id);
  const posted = await github.fetch(`http://api.github.test${WORKFLOW}/dispatches`, {
    ...redirect,
    method: 'POST',
  });
  expect(posted.status).toBe(307);
  expect(
    (await call(`${WORKFLOW.replace('infra', 'platform')}/dispatches`, { ref: 'main', inputs: INPUTS }))
      .status,
  ).toBe(204);
});

test('a second attempt takes the place of the first', async () => {
  const { github, clock, call, dispatch } = standIn();
  github.plan({ conclusion: 'skipped' });
  await dispatch();
  clock.ms += 5000;
  const read = async () => (await call(`/repos/acme/infra/actions/runs/${github.runs[0]?.id}`)).body;
  expect(await read()).toMatchObject({ conclusion: 'skipped', run_attempt: 1 });
  github.rerun({});
  expect(await read()).toMatchObject({ status: 'in_progress', conclusion: null, run_attempt: 2 });
  clock.ms += 5000;
  expect(await read()).toMatchObject({ conclusion: 'success', created_at: '2026-09-21T12:00:00Z' });
});

test('a run waits for an approval between its queue and its work', async () => {
  const { github, clock, dispatch, call } = standIn();
  github.plan({ queuedMs: 1000, waitsMs: 2000, durationMs: 3000 });
  const { body } = await dispatch({ return_run_details: true });
  const seen: unknown[] = [];
  for (const ms of [0, 1000, 2000, 3000]) {
    clock.ms += ms;
    seen.push((await call(new URL(body.run_url).pathname)).body.status);
  }
  expect(seen).toEqual(['queued', 'waiting', 'in_progress', 'completed']);
});

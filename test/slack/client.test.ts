import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { createStandInSlack, type StandInSlackOptions } from '../../demo/slack/slack.ts';
import { widerManifest } from '../../demo/test-support/bot.ts';
import { listenLocally } from '../../demo/wire.ts';
import { createLog, type Log } from '../../src/runtime/log.ts';
import { defaultTiming } from '../../src/runtime/timing.ts';
import { createSlackApi } from '../../src/slack/client.ts';
import { lacksScope, SlackApiError } from '../../src/slack/errors.ts';
import { createChannelIds, uploadBytes } from '../../src/slack/web-calls.ts';

/** A clock that nobody sets. */
const up = { ms: 0 };

async function setting(options: StandInSlackOptions = {}, log: Log = pino({ level: 'silent' })) {
  const slack = createStandInSlack({ manifest: widerManifest({ homeTab: true }), ...options });
  onTestFinished((await slack.listen()).close);
  const heard: boolean[] = [];
  const api = createSlackApi({
    token: slack.tokens.bot,
    apiUrl: slack.apiUrl,
    timing: { ...defaultTiming, slackCallMs: 5000 },
    log,
    monotonicMs: () => up.ms,
    onCall: ({ answered }) => heard.push(answered),
  });
  return { slack, api, heard };
}

const errorOf = (call: Promise<unknown>) =>
  call.then(
    () => 'none',
    (error: unknown) => error,
  );
const failure = async (call: Promise<unknown>) => {
  const error = await errorOf(call);
  return error instanceof SlackApiError ? `${error.kind} ${error.code}` : error;
};

test('a colleague of our Enterprise Grid is known by their own id of it', async () => {
  const { slack, api } = await setting();
  const answers = (method: string, body: object) =>
    slack.wire.order(method, { kind: 'answer', status: 200, body: { ok: true, ...body } });
  const isOne = async (change: object) => {
    const user = { id: 'U0SIS', name: 'sis', team_id: 'T0SISTER', ...change };
    answers('users.info', { user });
    return api.person('U0SIS');
  };
  const ofGrid = (enterprise_id: string) => ({ enterprise_user: { enterprise_id, teams: ['T0SISTER'] } });
  const outside = { id: 'U0SIS', name: 'sis', fullMember: false, active: true };
  await api.identity();
  expect(await isOne(ofGrid('E0ACME'))).toEqual(outside);
  const own = { team_id: 'T0ACME', user_id: 'U0BOT', bot_id: 'B0BOT', url: 'https://acme.example/' };
  answers('auth.test', { ...own, enterprise_id: 'E0ACME' });
  expect(await api.identity()).toMatchObject({ teamId: 'T0ACME', enterpriseId: 'E0ACME' });
  expect(await isOne(ofGrid('E0ACME'))).toEqual({ ...outside, gridMember: true });
  expect(await isOne(ofGrid('E0OTHER'))).toEqual(outside);
  expect(await isOne({ enterprise_id: 'E0ACME', is_stranger: false })).toEqual(outside);
  expect(await isOne({ ...ofGrid('E0ACME'), is_restricted: true })).toEqual(outside);
  expect(await isOne({ ...ofGrid('E0ACME'), is_stranger: true })).toEqual(outside);
  answers('auth.test', { ...own, enterprise_id: null });
  expect(await api.identity()).not.toHaveProperty('enterpriseId');
  expect(await isOne({ enterprise_user: { enterprise_id: null } })).toEqual(outside);
});

test('a scope that the app lacks is named in the error, and before a call needs it', async () => {
  const manifest = widerManifest({});
  const scopes = manifest.scopes.filter((scope) => scope !== 'users:read');
  const { slack, api, heard } = await setting({ manifest: { ...manifest, scopes } });
  await api.identity();
  expect([api.missingScopes(), api.refusedMethods()]).toEqual([['users:read'], []]);
  for (let times = 0; times < 2; times += 1) {
    const error = await api.person('U0ANA').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: 'token', needed: 'users:read' });
    expect(String(error)).toBe('SlackApiError: users.info: missing_scope (needs users:read)');
    expect(lacksScope(error)).toBe(true);
  }
  // Slack is there all the same.
  expect(heard).toEqual([true, true, true]);
  expect([api.missingScopes(), api.refusedMethods()]).toEqual([['users:read'], ['users.info']]);
  slack.wire.order('users.info', {
    kind: 'answer',
    status: 200,
    body: { ok: true, user: { id: 'U0ANA', name: 'ana', team_id: slack.workspace.team.id } },
  });
  await api.person('U0ANA');
  expect(api.refusedMethods()).toEqual([]);
  scopes.push('users:read');
  await api.identity();
  expect(api.missingScopes()).toEqual([]);
});

test('nobody is known before Slack named our own workspace: everybody would count as a stranger', async () => {
  const { slack, api, heard } = await setting();
  expect(await failure(api.person('U0ANA'))).toBe('unreachable no_identity');
  expect([slack.wire.calls, heard]).toEqual([[], []]);
  await api.identity();
  expect(await api.person('U0ANA')).toMatchObject({ fullMember: true });
});

test('public channels by their name; direct messages have none, and Slack is not asked', async () => {
  const { slack, api } = await setting();
  expect(await api.channelName(slack.channel('#docs').id)).toBe('docs');
  expect(await failure(api.channelName(slack.channel('#secret').id))).toBe('place channel_not_found');
  // Their names are known to their members alone.
  expect(await failure(api.channelName(slack.channel('#private').id))).toBe('place no_public_name');
  expect(await failure(api.channelName(slack.channel('ana+ben+docket').id))).toBe('place no_public_name');
  const asked = slack.wire.calls.length;
  expect(await failure(api.channelName(slack.channel('@ana').id))).toBe('place no_public_name');
  expect(slack.wire.calls).toHaveLength(asked);
});

const csv = Buffer.from('path,people\n/a,3\n');

test('a file is uploaded in steps, each made once, and is known once Slack has shared it', async () => {
  const logged: string[] = [];
  const { slack, api } = await setting({}, createLog('trace', [], { write: (line) => logged.push(line) }));
  const { id: channel } = slack.channel('#docs');
  const root = await slack.person('ana').says('#docs', 'root');
  const { fileId, uploadUrl } = await api.getUploadAddress({ filename: 'pages.csv', bytes: csv.byteLength });
  expect(await api.fileInfo(fileId)).toEqual({ sharedIn: [] });
  await api.uploadBytes(uploadUrl, csv, 5000);
  await api.completeUpload({ fileId, title: 'All pages', channel, threadTs: root.ts }, () => false);
  expect(await api.fileInfo(fileId)).toEqual({ sharedIn: [] });
  const [file] = slack.files;
  await slack.until(() => file?.mimetype);
  expect(await api.fileInfo(fileId)).toEqual({ sharedIn: [channel] });
  expect(file?.sharedIn).toMatchObject([{ threadTs: root.ts }]);
  expect(file).toMatchObject({ name: 'pages.csv', title: 'All pages' });
  expect(Buffer.from(file?.bytes ?? [])).toEqual(csv);
  expect(slack.wire.calls.map(({ name }) => name)).toEqual([
    'files.getUploadURLExternal',
    'files.info',
    'files.upload',
    'files.completeUploadExternal',
    'files.info',
    'files.info',
  ]);
  expect(logged.join('')).not.toContain(new URL(uploadUrl).pathname);
});

test('an error says whether bytes may have arrived, and never has the address', async () => {
  const { slack, api } = await setting();
  const { uploadUrl } = await api.getUploadAddress({ filename: 'a.png', bytes: 3 });
  const send = (timeoutMs = 5000) => api.uploadBytes(uploadUrl, Buffer.from('abc'), timeoutMs);
  const errors: unknown[] = [];
  const expectFailure = async (expected: string, timeoutMs?: number) => {
    const error = await errorOf(send(timeoutMs));
    errors.push(error);
    expect(error instanceof SlackApiError && `${error.kind} ${error.code}`).toBe(expected);
  };
  slack.wire.order('files.upload', { kind: 'answer', status: 503 });
  await expectFailure('unclear http_503');
  slack.wire.order('files.upload', { kind: 'answer', status: 429 });
  await expectFailure('limited http_429');
  slack.wire.order('files.upload', {
    kind: 'answer',
    status: 302,
    headers: { location: 'http://127.0.0.1:9/' },
  });
  await expectFailure('unclear TypeError');
  slack.wire.order('files.upload', { kind: 'hang', when: 'before' });
  await expectFailure('unclear TimeoutError', 50);
  slack.wire.order('files.upload', { kind: 'reset', when: 'before' });
  await expectFailure('unclear ECONNRESET');
  await send();
  await expectFailure('refused http_400');
  for (const error of errors) {
    const told = `${String(error)} ${JSON.stringify(error)} ${(error as Error).stack} ${(error as Error).cause}`;
    expect(told).not.toContain(new URL(uploadUrl).pathname);
  }
});

test('bytes for a server that does not answer were not sent', async () => {
  const gone = await createStandInSlack().listen();
  await gone.close();
  expect(await failure(uploadBytes(`${gone.url}/upload`, csv, 5000))).toBe('unreachable ECONNREFUSED');
});

test('a thread that is endless once it is unpacked is not read to its end, and counts as one that is not returned', async () => {
  const text = 'x'.repeat(40_000);
  const messages = Array.from({ length: 999 }, (_, n) => ({ ts: `1.${n}`, user: 'U0BEN', text }));
  let few = false;
  const server = createServer((_, response) => {
    const body = gzipSync(JSON.stringify({ ok: true, messages: few ? messages.slice(0, 2) : messages }));
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(body);
  });
  const { url, close } = await listenLocally(server);
  onTestFinished(close);
  const api = createSlackApi({
    ...{ token: 'xoxb-1', apiUrl: `${url}/`, timing: defaultTiming, log: pino({ level: 'silent' }) },
    ...{ monotonicMs: () => up.ms, onCall: () => {}, channelIds: createChannelIds() },
  });
  const root = { channel: 'C0DOCS', ts: '1.0' };
  expect(await api.replies(root, '2.0')).toBeUndefined();
  few = true;
  expect(await api.replies(root, '2.0')).toHaveLength(2);
});

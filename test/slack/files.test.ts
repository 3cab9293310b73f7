import { afterEach, expect, test } from 'vitest';
import { createStandInSlack, type StandInSlackOptions } from '../../demo/slack/slack.ts';
import { createLog } from '../../src/runtime/log.ts';
import { defaultTiming } from '../../src/runtime/timing.ts';
import { createSlackApi } from '../../src/slack/client.ts';
import { lacksScope, SlackApiError } from '../../src/slack/errors.ts';
import { uploadBytes } from '../../src/slack/web-calls.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((item) => item.close()));
});

async function setting(options: StandInSlackOptions = {}) {
  const slack = createStandInSlack(options);
  open.push(await slack.listen());
  const logged: string[] = [];
  const api = createSlackApi({
    token: slack.tokens.bot,
    apiUrl: slack.apiUrl,
    timing: { ...defaultTiming, slackCallMs: 5000 },
    log: createLog('trace', [], { write: (line: string) => void logged.push(line) }),
    monotonicMs: () => performance.now(),
    onCall: () => {},
  });
  return { slack, api, logged };
}

const csv = Buffer.from('path,people\n/a,3\n');

const failureOf = (call: Promise<unknown>) =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );
const failure = async (call: Promise<unknown>) => {
  const error = await failureOf(call);
  return error instanceof SlackApiError ? `${error.kind} ${error.code}` : error;
};

test('a file is uploaded in steps, each made once, and is known once Slack has shared it', async () => {
  const { slack, api, logged } = await setting();
  const { id: channel } = slack.channel('#docs');
  const root = await slack.person('ana').says('#docs', 'root');
  const { fileId, uploadUrl } = await api.getUploadAddress({ filename: 'pages.csv', bytes: csv.byteLength });
  expect(await failure(api.fileInfo(fileId))).toBe('missing file_not_found');
  await api.uploadBytes(uploadUrl, csv, 5000);
  await api.completeUpload({ fileId, title: 'All pages', channel, threadTs: root.ts });
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

test('files that are switched off are told from a missing scope, which counts as a working token', async () => {
  const { slack, api } = await setting({ refuses: { files: 'disabled' } });
  const begin = () => api.getUploadAddress({ filename: 'a.png', bytes: 3 });
  expect(await failure(begin())).toBe('refused file_uploads_disabled');
  const channel = slack.channel('#docs').id;
  slack.refuses.files = 'scope';
  for (const call of [
    begin,
    () => api.completeUpload({ fileId: 'F0A', title: 'A', channel, threadTs: '1700000000.000100' }),
    () => api.fileInfo('F0A'),
  ]) {
    const error = await failureOf(call());
    expect(lacksScope(error)).toBe(true);
    expect(error).toMatchObject({ needed: expect.stringMatching(/^files:(read|write)$/) });
  }
  expect(api.refusedForMs()).toBe(0);
  const full = { ok: false, error: 'storage_limit_reached' };
  slack.wire.order('files.getUploadURLExternal', { kind: 'answer', status: 200, body: full });
  expect(await failure(begin())).toBe('refused storage_limit_reached');
});

test('bytes that may have arrived are told from those that did not, never with the address', async () => {
  const { slack, api } = await setting();
  const { uploadUrl } = await api.getUploadAddress({ filename: 'a.png', bytes: 3 });
  const send = (timeoutMs = 5000) => api.uploadBytes(uploadUrl, Buffer.from('abc'), timeoutMs);
  const errors: unknown[] = [];
  const expectFailure = async (expected: string, timeoutMs?: number) => {
    const error = await failureOf(send(timeoutMs));
    errors.push(error);
    expect(error).toBeInstanceOf(SlackApiError);
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

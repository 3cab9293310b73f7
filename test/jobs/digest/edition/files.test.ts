import { expect, test } from 'vitest';
import type { JobContext } from '../../../../src/jobs/context.ts';
import { lackOfFiles, stepFile, type Upload, wantedFile } from '../../../../src/jobs/digest/edition/files.ts';
import type { DigestFile, EditionRun } from '../../../../src/jobs/digest/edition/record.ts';
import { SlackApiError, type SlackErrorKind } from '../../../../src/slack/errors.ts';
import { fileRateLimit } from '../../../../src/slack/rate-limits.ts';
import { createRateLimitStore } from '../../../../src/store/rate-limit.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anEdition } from '../../../support/jobs/digest/builders.ts';
import { jobContext } from '../../../support/jobs/world.ts';
import { redisForTests } from '../../../support/redis.ts';

const MINUTE_MS = 60_000;
const redis = redisForTests();

const csv: Upload = {
  name: 'csv',
  filename: 'views.csv',
  title: 'views.csv',
  place: { channel: 'C0DOCS', threadTs: '1.1' },
  load: async () => () => Buffer.from('a'),
};

type Call = 'getUploadAddress' | 'uploadBytes' | 'completeUpload' | 'fileInfo';

/** A Slack that shares what is completed; each call fails as `fails` says. */
function setUp(fails: (call: Call) => SlackApiError | undefined) {
  const calls: string[] = [];
  const shared: string[] = [];
  const world = { nowMs: NOW_MS };
  const take = (call: Call, about = '') => {
    calls.push(`${call} ${about}`.trim());
    const error = fails(call);
    if (error !== undefined) throw error;
  };
  let begun = 0;
  const held: string[] = [];
  const context: JobContext = jobContext(redis.client, {
    now: () => world.nowMs,
    // The store's go by the clock of Redis.
    rateLimiter: {
      ...createRateLimitStore(redis.client),
      takeSlot: async () => 0,
      hold: async ({ name }, waitMs) => void held.push(`${name} ${waitMs}`),
    },
    slack: {
      async getUploadAddress() {
        take('getUploadAddress');
        begun += 1;
        return { fileId: `F${begun}`, uploadUrl: `https://files.example/F${begun}` };
      },
      uploadBytes: async () => take('uploadBytes'),
      async completeUpload({ fileId }) {
        take('completeUpload', fileId);
        shared.push(fileId);
      },
      async fileInfo(fileId) {
        take('fileInfo', fileId);
        return { ready: true, sharedIn: shared.includes(fileId) ? [{ channel: 'C0DOCS', ts: '2.2' }] : [] };
      },
    },
  });
  /** Steps until the file is there or has failed, or until so much time has passed. */
  async function drive(upload = csv, maxMs = 10 * 3_600_000): Promise<DigestFile | undefined> {
    let run: EditionRun = anEdition({ state: 'completing', [upload.name]: wantedFile });
    const endMs = world.nowMs + maxMs;
    while (world.nowMs < endMs) {
      const result = await stepFile(run, upload, context);
      if (result === undefined) break;
      if (result === 'next' || result.kind === 'done') throw new Error('no such result');
      if (result.kind === 'save') run = result.run;
      world.nowMs += result.inMs;
    }
    return run[upload.name];
  }
  return { context, calls, shared, held, world, drive };
}

const errorOf = (kind: SlackErrorKind, code: string) => new SlackApiError(kind, 'files.info', code);

test.each<[SlackErrorKind, string]>([
  ['unreachable', 'ECONNREFUSED'],
  ['unclear', 'http_503'],
  ['limited', 'ratelimited'],
  ['token', 'token_revoked'],
])('a file outlives half an hour in which every call fails: %s', async (kind, code) => {
  const { world, drive, shared } = setUp(() =>
    world.nowMs - NOW_MS < 30 * MINUTE_MS ? errorOf(kind, code) : undefined,
  );
  expect(await drive()).toMatchObject({ state: 'done', trouble: undefined });
  expect(shared).toHaveLength(1);
});

test('a file that Slack cannot be asked for in an hour is left out', async () => {
  const { world, drive } = setUp(() => errorOf('unreachable', 'ECONNREFUSED'));
  expect(await drive()).toMatchObject({ state: 'failed' });
  const tookMs = world.nowMs - NOW_MS;
  expect(tookMs).toBeGreaterThanOrEqual(60 * MINUTE_MS);
  expect(tookMs).toBeLessThan(62 * MINUTE_MS);
});

test.each<[Call, 'begin' | 'complete' | 'info']>([
  ['getUploadAddress', 'begin'],
  ['completeUpload', 'complete'],
  ['fileInfo', 'info'],
])('a limit that %s reaches holds up the files of the whole workspace', async (at, method) => {
  let limited = 1;
  const { held, context, drive } = setUp((call) =>
    call === at && limited-- > 0
      ? new SlackApiError('limited', 'files.info', 'ratelimited', { retryAfterMs: 20_000 })
      : undefined,
  );
  expect(await drive()).toMatchObject({ state: 'done' });
  expect(held).toEqual([`${fileRateLimit(method, 'T0ACME', context.timing).name} 20000`]);
});

test('an address that refuses the bytes is asked for anew, a few times', async () => {
  const { calls, drive } = setUp((call) =>
    call === 'uploadBytes' ? new SlackApiError('refused', 'files.upload', 'http_403') : undefined,
  );
  expect(await drive()).toMatchObject({ state: 'failed' });
  expect(calls.filter((call) => call === 'getUploadAddress')).toHaveLength(6);
});

test('a defect in making a file costs the digest that file alone', async () => {
  const { calls, drive } = setUp(() => undefined);
  const broken = {
    ...csv,
    load: async () => () => {
      throw new Error('the font cannot be loaded');
    },
  };
  expect(await drive(broken)).toMatchObject({ state: 'failed' });
  expect(calls).toEqual([]);
});

test('a store that cannot be read is no reason to do without a file', async () => {
  const { drive } = setUp(() => undefined);
  const load = async () => {
    throw new Error('the store does not answer');
  };
  await expect(drive({ ...csv, load })).rejects.toThrow('the store does not answer');
});

test('an upload that Slack has dropped is made anew', async () => {
  let dropped = 1;
  const { shared, drive } = setUp((call) =>
    call === 'completeUpload' && dropped-- > 0
      ? new SlackApiError('missing', 'files.completeUploadExternal', 'file_not_found')
      : undefined,
  );
  expect(await drive()).toMatchObject({ state: 'done', fileId: 'F2' });
  expect(shared).toEqual(['F2']);
});

test('uploads that Slack drops each time come to an end', async () => {
  const { calls, drive } = setUp((call) =>
    call === 'completeUpload'
      ? new SlackApiError('missing', 'files.completeUploadExternal', 'file_not_found')
      : undefined,
  );
  expect(await drive()).toMatchObject({ state: 'failed' });
  expect(calls.filter((call) => call.startsWith('completeUpload'))).toHaveLength(6);
});

test.each<[Call, string, SlackErrorKind, string, boolean]>([
  ['getUploadAddress', 'files.getUploadURLExternal', 'refused', 'file_uploads_disabled', true],
  ['completeUpload', 'files.completeUploadExternal', 'token', 'missing_scope', true],
  ['completeUpload', 'files.completeUploadExternal', 'refused', 'posting_to_channel_denied', false],
  ['completeUpload', 'files.completeUploadExternal', 'place', 'not_in_channel', false],
  ['fileInfo', 'files.info', 'refused', 'unheard_of', false],
])('%s (%s) that is %s as %s: the workspace takes no files: %s', async (at, method, kind, code, lacks) => {
  const { context, drive } = setUp((call) =>
    call === at ? new SlackApiError(kind, method, code) : undefined,
  );
  expect(await drive()).toMatchObject({ state: 'failed' });
  expect(await context.figures.lacks(lackOfFiles('T0ACME'))).toBe(lacks);
});

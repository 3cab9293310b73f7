import { afterEach, expect, test } from 'vitest';
import { clientOf, refusal } from '../test-support/bot.ts';
import { createStandInSlack, type StandInSlackOptions } from './slack.ts';

const codeOf = async (call: Promise<unknown>) => (await refusal(call)).error;

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((item) => item.close()));
});

async function setting(options: StandInSlackOptions = {}) {
  const slack = createStandInSlack(options);
  open.push(await slack.listen());
  const web = clientOf(slack);
  const channel = slack.channel('#docs').id;

  async function begin(filename = 'views.png', length = 3) {
    const { file_id: id = '', upload_url: url = '' } = await web.files.getUploadURLExternal({
      filename,
      length,
    });
    return { id, url };
  }
  const send = async (url: string, bytes = 'abc') =>
    (
      await fetch(url, {
        method: 'POST',
        body: bytes,
        headers: { 'content-type': 'application/octet-stream' },
      })
    ).status;
  /** A file that is nowhere yet. */
  async function upload(filename?: string) {
    const { id, url } = await begin(filename);
    await send(url);
    await web.files.completeUploadExternal({ files: [{ id, title: 'Views' }] });
    return id;
  }
  const shows = (id: string) =>
    web.chat.postMessage({
      channel,
      text: 'x',
      blocks: [{ type: 'image', alt_text: 'Views', slack_file: { id } }],
    });
  return { slack, web, channel, begin, send, upload, shows };
}

test('a file is uploaded in three steps, and is ready and shared a little later', async () => {
  const { slack, web, channel, begin, send } = await setting();
  const root = await slack.person('ana').says('#docs', 'root');
  const { id, url } = await begin('pages.csv');
  expect(await send(url)).toBe(200);
  await web.files.completeUploadExternal({
    files: [{ id, title: 'All pages' }],
    channel_id: channel,
    thread_ts: root.ts,
  });
  expect((await web.files.info({ file: id })).file).toMatchObject({ id, mimetype: '', shares: {} });
  const shared = await slack.until(() => slack.messages.find(({ files }) => files !== undefined));
  expect(shared).toMatchObject({ from: 'docket', threadTs: root.ts });
  expect(slack.read(shared)).toBe('[file: pages.csv]');
  expect((await web.files.info({ file: id })).file).toMatchObject({
    mimetype: 'text/csv',
    size: 3,
    shares: { public: { [channel]: [{ ts: shared.ts, thread_ts: root.ts }] } },
  });
  expect(slack.files).toMatchObject([
    { id, name: 'pages.csv', title: 'All pages', sharedIn: [{ channel, ts: shared.ts, threadTs: root.ts }] },
  ]);
  expect(Buffer.from(slack.files[0]?.bytes ?? []).toString()).toBe('abc');
  expect(slack.violations).toEqual([]);
  expect(JSON.stringify(slack.wire.calls)).not.toContain(new URL(url).pathname);
});

test('shares in conversations that are not public are told apart', async () => {
  const { slack, web, begin, send } = await setting();
  const { id: channel } = slack.channel('#private');
  const { id, url } = await begin();
  await send(url);
  await web.files.completeUploadExternal({ files: [{ id, title: 'x' }], channel_id: channel });
  const [file] = slack.files;
  await slack.until(() => file?.sharedIn.length === 1);
  const { file: told } = await web.files.info({ file: id });
  expect(told?.shares).toEqual({ private: { [channel]: [{ ts: file?.sharedIn[0]?.ts }] } });
});

test('an address takes bytes once, and only as many as were announced', async () => {
  const { slack, begin, send } = await setting();
  const { url } = await begin();
  expect(await send(url, 'abcd')).toBe(400);
  expect(await send(url)).toBe(200);
  expect(await send(url)).toBe(400);
  expect(await send(`${url}x`)).toBe(400);
  expect(slack.files).toEqual([]);
});

test('an upload is finished once, with its bytes, in a conversation of the bot', async () => {
  const { slack, web, begin, send, upload } = await setting();
  const { id, url } = await begin();
  const complete = (more: { channel_id: string } | object = {}) =>
    codeOf(web.files.completeUploadExternal({ files: [{ id, title: 'x' }], ...more }));
  expect(await complete()).toBe('file_not_found');
  expect(await codeOf(web.files.info({ file: id }))).toBe('file_not_found');
  await send(url);
  expect(await complete({ channel_id: slack.channel('#elsewhere').id })).toBe('not_in_channel');
  expect(await complete({ channel_id: slack.channel('#secret').id })).toBe('channel_not_found');
  expect(await complete({ channel_id: slack.channel('#archive').id })).toBe('is_archived');
  const file = await upload();
  expect(await codeOf(web.files.completeUploadExternal({ files: [{ id: file, title: 'x' }] }))).toBe(
    'file_not_found',
  );
});

test('an image is taken in blocks once it is ready', async () => {
  const { slack, upload, shows } = await setting();
  const id = await upload();
  expect(await codeOf(shows(id))).toBe('invalid_blocks');
  expect(slack.violations).toEqual([]);
  await slack.until(() => slack.files[0]?.mimetype);
  await shows(id);
  expect(slack.messages.map(slack.read)).toEqual(['[image: Views]']);
});

test('a file that nobody knows, or that is no image, is a mistake in blocks', async () => {
  const { slack, upload, shows } = await setting();
  const id = await upload('pages.csv');
  await slack.until(() => slack.files[0]?.mimetype);
  expect(await codeOf(shows(id))).toBe('invalid_blocks');
  expect(await codeOf(shows('F0NONE'))).toBe('invalid_blocks');
  expect(slack.violations).toEqual([
    expect.stringContaining('invalid slack file [json-pointer:/blocks/0/slack_file]'),
    expect.stringContaining('invalid slack file'),
  ]);
});

test('files are switched off, or their scopes are missing, as long as a test wants it', async () => {
  const { slack, begin, web, upload } = await setting({ refuses: { files: 'disabled' } });
  expect(await codeOf(begin())).toBe('file_uploads_disabled');
  slack.refuses.files = 'scope';
  expect(await codeOf(begin())).toBe('missing_scope');
  expect(await codeOf(web.files.info({ file: 'F0NONE' }))).toBe('missing_scope');
  delete slack.refuses.files;
  await upload();
  expect(slack.files).toHaveLength(1);
  expect(slack.violations).toEqual([]);
});

test('charts and tables are refused as long as a test wants it', async () => {
  const { slack, web, channel } = await setting({ refuses: { charts: true, tables: true } });
  const point = [{ label: 'Mon', value: 1 }];
  const blocks = [
    {
      type: 'data_visualization',
      title: 'Views',
      chart: { type: 'bar', series: [{ name: 'AI', data: point }], axis_config: { categories: ['Mon'] } },
    },
    { type: 'table', rows: [[{ type: 'raw_text', text: '/a' }]] },
  ];
  const posts = (some: typeof blocks) => codeOf(web.chat.postMessage({ channel, text: 'x', blocks: some }));
  expect(await posts(blocks.slice(0, 1))).toBe('invalid_blocks');
  expect(await posts(blocks.slice(1))).toBe('invalid_blocks');
  delete slack.refuses.charts;
  delete slack.refuses.tables;
  await web.chat.postMessage({ channel, text: 'x', blocks });
  expect(slack.messages.map(slack.read)).toEqual(['Views\nAI: Mon 1\n/a']);
  expect(slack.violations).toEqual([]);
});

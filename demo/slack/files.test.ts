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

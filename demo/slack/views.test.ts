import { expect, test } from 'vitest';
import { clientOf, refusal, widerManifest } from '../test-support/bot.ts';
import { modal, plain, startViews } from '../test-support/views.ts';
import { createStandInSlack } from './slack.ts';

test('a trigger id works once, within 3 s', async () => {
  const { clock, slack, web, trigger } = await startViews();
  const opensWith = (id: string) => refusal(web.apiCall('views.open', { trigger_id: id, view: modal() }));
  const id = await trigger();
  expect(await opensWith(id)).toEqual({ error: 'none' });
  expect((await opensWith(id)).error).toBe('exchanged_trigger_id');
  const late = await trigger();
  clock.ms += 3001;
  expect((await opensWith(late)).error).toBe('expired_trigger_id');
  expect((await opensWith('nonsense')).error).toBe('invalid_trigger_id');
  expect(slack.violations).toHaveLength(2);
});

const x = (length: number) => 'x'.repeat(length);

test.each<[string, object, string]>([
  [
    'long title',
    modal({ title: plain(x(25)) }),
    'must be less than 25 characters [json-pointer:/view/title/text]',
  ],
  ['long submit', modal({ submit: plain(x(25)) }), '/view/submit/text'],
  ['long private_metadata', modal({ private_metadata: x(3001) }), '/view/private_metadata'],
  ['long callback_id', modal({ callback_id: x(256) }), '/view/callback_id'],
  ['no title', modal({ title: undefined }), 'missing required field: title'],
  ['inputs without submit', modal({ submit: undefined }), 'missing required field: submit'],
  ['home as a modal', { type: 'home', blocks: [] }, '/view/type'],
  [
    '101 blocks',
    modal({ blocks: Array.from({ length: 101 }, () => ({ type: 'divider' })) }),
    'no more than 100',
  ],
  ['markdown', modal({ blocks: [{ type: 'markdown', text: 'x' }] }), 'unsupported type: markdown'],
  [
    'a table',
    modal({ blocks: [{ type: 'table', rows: [[{ type: 'raw_text', text: 'x' }]] }] }),
    'unsupported type: table',
  ],
])('refused: %s', async (_, view, why) => {
  const { opens } = await startViews();
  expect(await refusal(opens(JSON.parse(JSON.stringify(view))))).toMatchObject({
    error: 'invalid_arguments',
    response_metadata: { messages: expect.arrayContaining([expect.stringContaining(why)]) },
  });
});

test('a view holds 250 kB', async () => {
  const { opens } = await startViews();
  const section = { type: 'section', text: { type: 'mrkdwn', text: x(2900) } };
  const blocks = Array.from({ length: 90 }, () => section);
  expect((await refusal(opens(modal({ blocks })))).error).toBe('view_too_large');
});

test('an open view can be updated, unless it changed meanwhile', async () => {
  const { web, ana, opens } = await startViews();
  await opens(modal());
  const { id = '', hash = '' } = ana.modal() ?? {};
  const update = (args: object) => web.apiCall('views.update', { view: modal({ blocks: [] }), ...args });
  await update({ view_id: id, hash });
  expect(ana.modal()?.blocks).toEqual([]);
  expect((await refusal(update({ view_id: id, hash }))).error).toBe('hash_conflict');
  expect((await refusal(update({ view_id: 'V0' }))).error).toBe('not_found');
});

test('without a Home tab nothing can be published', async () => {
  const slack = createStandInSlack({ manifest: widerManifest({ homeTab: false }) });
  const view = { type: 'home', blocks: [] };
  const call = clientOf(slack).apiCall('views.publish', { user_id: 'U0ANA', view });
  expect((await refusal(call)).error).toBe('not_enabled');
});

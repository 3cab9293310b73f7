import { expect, test } from 'vitest';
import { refusal } from '../test-support/bot.ts';
import { modal, plain, startViews } from '../test-support/views.ts';

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

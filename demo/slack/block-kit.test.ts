import { expect, test } from 'vitest';
import { clientOf, refusal } from '../test-support/bot.ts';
import { createStandInSlack } from './slack.ts';

type Part = Record<string, unknown>;

const x = (length: number) => 'x'.repeat(length);
const many = <T>(count: number, make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n));
const plain = (text: string) => ({ type: 'plain_text', text });
const mrkdwn = (text: string) => ({ type: 'mrkdwn', text });
const section = (text: string, rest: Part = {}) => ({ type: 'section', text: mrkdwn(text), ...rest });
const actions = (...elements: Part[]) => ({ type: 'actions', elements });
const button = (rest: Part = {}) => ({ type: 'button', text: plain('Go'), ...rest });
const option = (text: string, value = text) => ({ text: plain(text), value });
const select = (rest: Part) => ({ type: 'static_select', ...rest });
const rich = (...elements: Part[]) => ({
  type: 'rich_text',
  elements: [{ type: 'rich_text_section', elements }],
});
const raw = (text: string) => ({ type: 'raw_text', text });
const table = (rows: Part[][], rest: Part = {}) => ({ type: 'table', rows, ...rest });
const dataTable = (rows: Part[][], rest: Part = {}) => ({
  type: 'data_table',
  caption: 'Pages',
  rows,
  ...rest,
});
const chart = (inside: Part, title = 'Views') => ({ type: 'data_visualization', title, chart: inside });
const point = (label: string, value = 1) => ({ label, value });
const pie = (...segments: Part[]) => chart({ type: 'pie', segments });
const bar = (series: Part[], categories: string[], axis: Part = {}) =>
  chart({ type: 'bar', series, axis_config: { categories, ...axis } });
const task = (rest: Part = {}) => ({
  type: 'task_card',
  task_id: 't',
  title: 'Build',
  status: 'complete',
  ...rest,
});
const card = (rest: Part = {}) => ({ type: 'card', title: mrkdwn('A page'), ...rest });
const divider = { type: 'divider' };
const date = (format: string) => rich({ type: 'date', timestamp: 1, format, fallback: 'then' });

async function post(blocks: unknown) {
  const slack = createStandInSlack();
  const call = clientOf(slack).apiCall('chat.postMessage', {
    channel: slack.channel('#docs').id,
    text: 'fallback',
    blocks,
  });
  return { slack, refused: await refusal(call) };
}

const TOO_LONG = (max: number) => `must be less than ${max + 1} characters`;
const TOO_MANY = (max: number) => `no more than ${max} items allowed`;
const EMPTY = 'must be more than 0 characters';

test.each<[string, unknown, string]>([
  ['no block', ['text'], 'must be a object [json-pointer:/blocks/0]'],
  ['unknown block', [{ type: 'wizard' }], 'unsupported type: wizard [json-pointer:/blocks/0/type]'],
  ['51 blocks', many(51, () => divider), `${TOO_MANY(50)} [json-pointer:/blocks]`],
  [
    'unknown field',
    [{ ...divider, color: 'red' }],
    'invalid additional property: color [json-pointer:/blocks/0]',
  ],
  [
    'block_id twice',
    [
      { ...divider, block_id: 'a' },
      { ...divider, block_id: 'a' },
    ],
    '"block_id": "a" already exists',
  ],
  ['long block_id', [{ ...divider, block_id: x(256) }], TOO_LONG(255)],
  ['empty section', [{ type: 'section' }], 'must have text or fields'],
  ['empty text', [section('')], `${EMPTY} [json-pointer:/blocks/0/text/text]`],
  ['long section', [section(x(3001))], `${TOO_LONG(3000)} [json-pointer:/blocks/0/text/text]`],
  ['bare text', [{ type: 'section', text: 'hi' }], '[json-pointer:/blocks/0/text]'],
  ['11 fields', [{ type: 'section', fields: many(11, () => mrkdwn('x')) }], TOO_MANY(10)],
  ['long field', [{ type: 'section', fields: [mrkdwn(x(2001))] }], TOO_LONG(2000)],
  ['long header', [{ type: 'header', text: plain(x(151)) }], TOO_LONG(150)],
  ['mrkdwn header', [{ type: 'header', text: mrkdwn('x') }], '[json-pointer:/blocks/0/text/type]'],
  ['header level 5', [{ type: 'header', text: plain('x'), level: 5 }], 'must be at most 4'],
  ['11 context elements', [{ type: 'context', elements: many(11, () => mrkdwn('x')) }], TOO_MANY(10)],
  ['no context elements', [{ type: 'context', elements: [] }], 'no fewer than 1 items allowed'],
  ['button in a context', [{ type: 'context', elements: [button()] }], 'unsupported type: button'],
  ['26 actions', [actions(...many(26, () => button()))], TOO_MANY(25)],
  ['text in actions', [actions(mrkdwn('x'))], 'unsupported type: mrkdwn'],
  [
    'action_id twice',
    [actions(button({ action_id: 'a' }), button({ action_id: 'a' }))],
    '"action_id": "a" already exists',
  ],
  ['long button', [actions(button({ text: plain(x(76)) }))], TOO_LONG(75)],
  [
    'mrkdwn button',
    [actions(button({ text: mrkdwn('x') }))],
    '[json-pointer:/blocks/0/elements/0/text/type]',
  ],
  ['long value', [actions(button({ value: x(2001) }))], TOO_LONG(2000)],
  ['long url', [actions(button({ url: `https://a.b/${x(3000)}` }))], TOO_LONG(3000)],
  ['odd url', [actions(button({ url: 'javascript:alert(1)' }))], 'must be a valid URL'],
  ['odd style', [actions(button({ style: 'loud' }))], '[json-pointer:/blocks/0/elements/0/style]'],
  ['long action_id', [actions(button({ action_id: x(256) }))], TOO_LONG(255)],
  ['half a confirm', [actions(button({ confirm: { title: plain('x') } }))], 'missing required field: text'],
  [
    'long confirm',
    [
      actions(
        button({
          confirm: { title: plain(x(101)), text: plain('x'), confirm: plain('y'), deny: plain('n') },
        }),
      ),
    ],
    TOO_LONG(100),
  ],
  ['101 options', [actions(select({ options: many(101, (n) => option(`${n}`)) }))], TOO_MANY(100)],
  ['no options', [actions(select({}))], 'must have either options or option_groups'],
  ['long option', [actions(select({ options: [option(x(76))] }))], TOO_LONG(75)],
  [
    '11 checkboxes',
    [actions({ type: 'checkboxes', options: many(11, (n) => option(`${n}`)) })],
    TOO_MANY(10),
  ],
  ['6 in an overflow', [actions({ type: 'overflow', options: many(6, (n) => option(`${n}`)) })], TOO_MANY(5)],
  ['odd date', [actions({ type: 'datepicker', initial_date: '1 May' })], 'initial_date'],
  [
    'image without alt',
    [{ type: 'image', image_url: 'https://a.b/c.png' }],
    'missing required field: alt_text',
  ],
  ['image without source', [{ type: 'image', alt_text: 'x' }], 'must have either image_url or slack_file'],
  ['long alt', [{ type: 'image', alt_text: x(2001), image_url: 'https://a.b/c.png' }], TOO_LONG(2000)],
  [
    'long input label',
    [{ type: 'input', label: plain(x(2001)), element: { type: 'plain_text_input' } }],
    TOO_LONG(2000),
  ],
  ['unknown rich text', [rich({ type: 'bold', text: 'x' })], 'unsupported type: bold'],
  ['empty rich text', [rich({ type: 'text', text: '' })], EMPTY],
  [
    'odd rich text style',
    [rich({ type: 'text', text: 'x', style: { bolt: true } })],
    'invalid additional property: bolt',
  ],
  [
    'text right in rich_text',
    [{ type: 'rich_text', elements: [{ type: 'text', text: 'x' }] }],
    'unsupported type: text',
  ],
  ['emoji with colons only', [rich({ type: 'emoji' })], 'missing required field: name'],
  ['user without id', [rich({ type: 'user', name: 'ana' })], 'user_id'],
  ['date without tokens', [date('yesterday')], 'must hold date tokens that Slack knows'],
  ['odd date token', [date('{date_long_ago}')], 'must hold date tokens that Slack knows'],
  [
    'mention in preformatted',
    [
      {
        type: 'rich_text',
        elements: [{ type: 'rich_text_preformatted', elements: [{ type: 'user', user_id: 'U1' }] }],
      },
    ],
    'unsupported type: user',
  ],
  [
    'odd list style',
    [
      {
        type: 'rich_text',
        elements: [
          {
            type: 'rich_text_list',
            style: 'dotted',
            elements: [{ type: 'rich_text_section', elements: [] }],
          },
        ],
      },
    ],
    'style',
  ],
  ['long markdown', [{ type: 'markdown', text: x(12_001) }], TOO_LONG(12_000)],
  [
    'long markdown together',
    many(2, () => ({ type: 'markdown', text: x(6001) })),
    'markdown must be less than 12001',
  ],
  ['101 rows', [table(many(101, () => [raw('x')]))], TOO_MANY(100)],
  ['21 columns', [table([many(21, () => raw('x'))])], TOO_MANY(20)],
  ['empty cell', [table([[raw('')]])], EMPTY],
  ['mrkdwn cell', [table([[mrkdwn('x')]])], 'unsupported type: mrkdwn'],
  ['long tables', many(2, () => table([[raw(x(5001))]])), 'tables must be less than 10001'],
  ['data table of one row', [dataTable([[raw('x')]])], 'no fewer than 2 items'],
  ['data table of 202 rows', [dataTable(many(202, () => [raw('x')]))], TOO_MANY(201)],
  ['ragged data table', [dataTable([[raw('a'), raw('b')], [raw('c')]])], 'same number of cells'],
  ['rich header', [dataTable([[rich({ type: 'text', text: 'x' })], [raw('c')]])], 'must not be rich_text'],
  ['no caption', [{ ...dataTable([[raw('a')], [raw('b')]]), caption: undefined }], 'caption'],
  [
    'long data table',
    [dataTable([[raw(x(10_001))], [raw(x(10_000))]])],
    'data_table must be less than 20001',
  ],
  ['page_size 0', [dataTable([[raw('a')], [raw('b')]], { page_size: 0 })], 'must be at least 1'],
  ['3 charts', many(3, () => pie(point('a'))), 'no more than 2 data_visualization blocks'],
  ['13 segments', [pie(...many(13, (n) => point(`${n}`)))], TOO_MANY(12)],
  ['zero in a pie', [pie(point('a', 0))], 'must be more than 0'],
  ['long label', [pie(point(x(21)))], TOO_LONG(20)],
  ['long chart title', [chart({ type: 'pie', segments: [point('a')] }, x(51))], TOO_LONG(50)],
  ['unknown chart', [chart({ type: 'radar' })], 'unsupported type: radar'],
  [
    'series twice',
    [
      bar(
        many(2, () => ({ name: 'a', data: [point('Mon')] })),
        ['Mon'],
      ),
    ],
    'must be unique',
  ],
  [
    'point missing',
    [bar([{ name: 'a', data: [point('Mon')] }], ['Mon', 'Tue'])],
    'must match axis_config.categories',
  ],
  [
    '21 points',
    [
      bar(
        [{ name: 'a', data: many(21, (n) => point(`${n}`)) }],
        many(21, (n) => `${n}`),
      ),
    ],
    TOO_MANY(20),
  ],
  [
    'long axis title',
    [bar([{ name: 'a', data: [point('Mon')] }], ['Mon'], { x_label: x(51) })],
    TOO_LONG(50),
  ],
  ['pending task', [task({ status: 'pending' })], 'status'],
  ['task title as an object', [task({ title: plain('x') })], 'must be a string'],
  ['plan title as an object', [{ type: 'plan', title: plain('x') }], 'must be a string'],
  ['plan status', [{ type: 'plan', title: 'x', status: 'complete' }], 'invalid additional property: status'],
  ['alert in a message', [{ type: 'alert', text: plain('x') }], 'unsupported type: alert'],
  ['empty card', [{ type: 'card' }], 'must have one of hero_image, title, body, actions'],
  ['long card title', [card({ title: mrkdwn(x(151)) })], TOO_LONG(150)],
  ['long card body', [card({ body: mrkdwn(x(201)) })], TOO_LONG(200)],
  ['4 buttons on a card', [card({ actions: many(4, () => button()) })], TOO_MANY(3)],
  ['11 cards', [{ type: 'carousel', elements: many(11, () => card()) }], TOO_MANY(10)],
  ['11 children', [{ type: 'container', child_blocks: many(11, () => divider) }], TOO_MANY(10)],
  [
    'markdown child',
    [{ type: 'container', child_blocks: [{ type: 'markdown', text: 'x' }] }],
    'unsupported type: markdown',
  ],
  [
    'button in context_actions',
    [{ type: 'context_actions', elements: [button()] }],
    'unsupported type: button',
  ],
])('refused: %s', async (_, blocks, why) => {
  const { slack, refused } = await post(blocks);
  expect(refused.error).toBe('invalid_blocks');
  expect(refused.errors).toEqual(expect.arrayContaining([expect.stringContaining(why)]));
  expect(refused.response_metadata).toMatchObject({
    messages: expect.arrayContaining([expect.stringMatching(/^\[ERROR\] .*\[json-pointer:\/blocks/)]),
  });
  expect(slack.messages).toEqual([]);
  expect(slack.violations).toHaveLength(1);
});

test.each<[string, unknown]>([
  ['50 blocks', many(50, () => divider)],
  ['the longest section', [section(x(3000))]],
  [
    'section with all',
    [section('x', { fields: many(10, () => mrkdwn('y')), accessory: button(), block_id: 'b' })],
  ],
  ['header', [{ type: 'header', text: plain(x(150)), level: 2 }]],
  [
    'context',
    [
      {
        type: 'context',
        elements: [mrkdwn('x'), { type: 'image', image_url: 'https://a.b/c', alt_text: 'c' }],
      },
    ],
  ],
  [
    'buttons',
    [actions(button({ action_id: 'a', value: x(2000), style: 'primary' }), button({ url: 'https://a.b' }))],
  ],
  ['the same action_id in two blocks', many(2, () => actions(button({ action_id: 'a' })))],
  [
    'selects',
    [
      actions(
        select({ options: [option('a')] }),
        { type: 'users_select' },
        { type: 'datepicker', initial_date: '2026-05-01' },
      ),
    ],
  ],
  ['image', [{ type: 'image', image_url: 'https://a.b/c.png', alt_text: 'x', title: plain('y') }]],
  [
    'rich text',
    [
      rich(
        { type: 'text', text: 'x', style: { bold: true } },
        { type: 'link', url: 'https://a.b' },
        { type: 'emoji', name: 'eyes' },
      ),
    ],
  ],
  ['dates', [date('{date_short_pretty} {time}'), date('{ago}')]],
  ['markdown', [{ type: 'markdown', text: '# Title\n- [ ] task' }]],
  [
    'table',
    [
      table([[raw('x'), { type: 'raw_number', value: 3, text: '3' }], [rich({ type: 'text', text: 'y' })]], {
        column_settings: [{ align: 'right' }],
      }),
    ],
  ],
  ['data table', [dataTable([[raw('a')], [raw('b')]], { page_size: 100 })]],
  [
    'charts',
    [pie(point('a')), bar([{ name: 'People', data: [point('Mon'), point('Tue', 0)] }], ['Mon', 'Tue'])],
  ],
  [
    'plan',
    [{ type: 'plan', title: 'Export', tasks: many(12, (n) => task({ task_id: `${n}`, status: 'pending' })) }],
  ],
  ['task card', [task({ status: 'in_progress', details: rich({ type: 'text', text: 'x' }) })]],
  ['cards', [card({ actions: [button()] }), { type: 'carousel', elements: [card()] }]],
  [
    'container',
    [{ type: 'container', title: plain('x'), child_blocks: [section('y'), divider], is_collapsible: true }],
  ],
  [
    'context actions',
    [{ type: 'context_actions', elements: [{ type: 'icon_button', icon: 'trash', text: plain('x') }] }],
  ],
  ['blocks as text', JSON.stringify([divider])],
])('accepted: %s', async (_, blocks) => {
  const { slack, refused } = await post(blocks);
  expect(refused).toEqual({ error: 'none' });
  expect(slack.violations).toEqual([]);
});

test('a whole message holds 13,200 characters, with & < > as they are escaped', async () => {
  const sections = (length: number) => [
    section(x(3000)),
    section(x(3000)),
    section(x(3000)),
    section(x(3000)),
    section(x(length)),
  ];
  expect((await post(sections(1200))).refused.error).toBe('none');
  expect((await post(sections(1201))).refused.error).toBe('msg_blocks_too_long');
  expect((await post([...sections(1196), section('&')])).refused.error).toBe('msg_blocks_too_long');
  expect((await post([...sections(1195), section('&')])).refused.error).toBe('none');
});

test('ids that are left out are filled in', async () => {
  const { slack } = await post([actions(button()), divider]);
  const [first, second] = slack.messages[0]?.blocks ?? [];
  expect(first?.block_id).toEqual(expect.any(String));
  expect(first?.elements).toMatchObject([{ action_id: expect.any(String) }]);
  expect(second?.block_id).not.toBe(first?.block_id);
});

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
const chart = (inside: Part, title = 'Views') => ({ type: 'data_visualization', title, chart: inside });
const point = (label: string, value = 1) => ({ label, value });
const pie = (...segments: Part[]) => chart({ type: 'pie', segments });
const bar = (series: Part[], categories: string[], axis: Part = {}) =>
  chart({ type: 'bar', series, axis_config: { categories, ...axis } });
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
  ['unknown block', [{ type: 'wizard' }], 'unsupported type: wizard [json-pointer:/blocks/0/type]'],
  ['51 blocks', many(51, () => divider), `${TOO_MANY(50)} [json-pointer:/blocks]`],
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
  ['long header', [{ type: 'header', text: plain(x(151)) }], TOO_LONG(150)],
  ['11 context elements', [{ type: 'context', elements: many(11, () => mrkdwn('x')) }], TOO_MANY(10)],
  ['button in a context', [{ type: 'context', elements: [button()] }], 'unsupported type: button'],
  ['26 actions', [actions(...many(26, () => button()))], TOO_MANY(25)],
  [
    'action_id twice',
    [actions(button({ action_id: 'a' }), button({ action_id: 'a' }))],
    '"action_id": "a" already exists',
  ],
  ['long button', [actions(button({ text: plain(x(76)) }))], TOO_LONG(75)],
  ['long value', [actions(button({ value: x(2001) }))], TOO_LONG(2000)],
  ['long url', [actions(button({ url: `https://a.b/${x(3000)}` }))], TOO_LONG(3000)],
  ['odd url', [actions(button({ url: 'javascript:alert(1)' }))], 'must be a valid URL'],
  ['long action_id', [actions(button({ action_id: x(256) }))], TOO_LONG(255)],
  ['101 options', [actions(select({ options: many(101, (n) => option(`${n}`)) }))], TOO_MANY(100)],
  ['long option', [actions(select({ options: [option(x(76))] }))], TOO_LONG(75)],
  ['6 in an overflow', [actions({ type: 'overflow', options: many(6, (n) => option(`${n}`)) })], TOO_MANY(5)],
  ['empty rich text', [rich({ type: 'text', text: '' })], EMPTY],
  ['odd date token', [date('{date_long_ago}')], 'must hold date tokens that Slack knows'],
  ['long markdown', [{ type: 'markdown', text: x(12_001) }], TOO_LONG(12_000)],
  [
    'long markdown together',
    many(2, () => ({ type: 'markdown', text: x(6001) })),
    'markdown must be less than 12001',
  ],
  ['101 rows', [table(many(101, () => [raw('x')]))], TOO_MANY(100)],
  ['long tables', many(2, () => table([[raw(x(5001))]])), 'tables must be less than 10001'],
  ['3 charts', many(3, () => pie(point('a'))), 'no more than 2 data_visualization blocks'],
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
  ['the same action_id in two blocks', many(2, () => actions(button({ action_id: 'a' })))],
  ['dates', [date('{date_short_pretty} {time}'), date('{ago}')]],
  ['markdown', [{ type: 'markdown', text: '# Title\n- [ ] task' }]],
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

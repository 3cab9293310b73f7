import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { createStandInSlack } from '../../demo/slack/slack.ts';
import { readSettings } from '../../src/config/settings.ts';
import { checkMessages, type Samples } from '../../src/doctor/slack.ts';
import { states } from '../gallery/states.ts';

let slack: ReturnType<typeof createStandInSlack>;
let url: string;
beforeEach(async () => {
  slack = createStandInSlack({ rateLimits: false });
  const server = await slack.listen();
  url = server.url;
  onTestFinished(() => {
    slack.stop();
    return server.close();
  });
});

/** Asks the stand-in about samples; without any, about all. Time passes in `slept` alone. */
async function check(samples?: unknown, changes: NodeJS.ProcessEnv = {}) {
  const settings = readSettings({
    ...{ SLACK_BOT_TOKEN: slack.tokens.bot, SLACK_APP_TOKEN: slack.tokens.app },
    ...{
      SLACK_API_URL: `${url}/api/`,
      DOCS_API_URL: 'http://127.0.0.1:9',
      DOCS_API_KEY: 'adm_1',
      ...changes,
    },
  });
  const slept: number[] = [];
  let printed = '';
  const isGood = await checkMessages({
    settings,
    ...(samples !== undefined && { samples: samples as Samples }),
    sleep: async (ms) => void slept.push(ms),
    print: (text) => {
      printed += text;
    },
  });
  const calls = slack.wire.calls.filter(({ name }) => name === 'blocks.validate').length;
  return { isGood, printed, slept, calls };
}

test('Slack is asked about every state of the gallery, one a second, and posts nothing', async () => {
  const { isGood, printed, slept, calls } = await check();
  expect(printed).toContain(`Slack takes ${states.length} of ${states.length} samples.`);
  expect([isGood, calls]).toEqual([true, states.length]);
  expect(slept).toEqual(states.map(() => 1000));
  expect(slack.messages).toEqual([]);
  expect(slack.violations).toEqual([]);
});

const x = (length: number) => 'x'.repeat(length);
const many = (count: number, make: (n: number) => object) => Array.from({ length: count }, (_, n) => make(n));
const plain = (text: string) => ({ type: 'plain_text', text });
const mrkdwn = (text: string) => ({ type: 'mrkdwn', text });
const section = (length: number) => ({ type: 'section', text: mrkdwn(x(length)) });
const divider = { type: 'divider' };
const button = (rest: object) => ({
  type: 'actions',
  elements: [{ type: 'button', text: plain('Go'), ...rest }],
});
const select = (options: object[]) => ({ type: 'actions', elements: [{ type: 'static_select', options }] });
const option = (text: string, value = 'v') => ({ text: plain(text), value });
const confirm = (rest: object) => ({
  confirm: { title: plain('x'), text: plain('x'), confirm: plain('x'), deny: plain('x'), ...rest },
});
const table = (rows: number, cells: number, length = 1) => ({
  type: 'table',
  rows: Array.from({ length: rows }, () => many(cells, () => ({ type: 'raw_text', text: x(length) }))),
});
const bar = (points: number, rest: object = {}, series: object = {}) => {
  const labels = many(points, (n) => ({ label: `${n}`, value: 1 })) as { label: string; value: number }[];
  const chart = {
    type: 'bar',
    series: [{ name: 'a', data: labels, ...series }],
    axis_config: { categories: labels.map(({ label }) => label) },
  };
  return { type: 'data_visualization', title: 'Views', chart, ...rest };
};
const rich = (element: object) => ({
  type: 'rich_text',
  elements: [{ type: 'rich_text_section', elements: [element] }],
});
const input = (rest: object) => ({
  type: 'input',
  label: plain('x'),
  element: { type: 'plain_text_input' },
  ...rest,
});
const message = (...blocks: object[]) => ({ text: 'x', blocks });
const modal = (rest: object) => ({
  ...{ type: 'modal', title: plain('x'), submit: plain('x'), blocks: [divider] },
  ...rest,
});

/** Each limit, broken by one, and where. */
const BROKEN: [limit: string, sample: object, pointer: string][] = [
  ['50 blocks', message(...many(51, () => divider)), '/blocks'],
  ['a block of another name', message({ type: 'wizard' }), '/blocks/0/type'],
  ['block_id twice', message(...many(2, () => ({ ...divider, block_id: 'a' }))), '/blocks/1/block_id'],
  ['block_id of 255', message({ ...divider, block_id: x(256) }), '/blocks/0/block_id'],
  ['section of 3000', message(section(3001)), '/blocks/0/text/text'],
  ['empty section', message(section(0)), '/blocks/0/text/text'],
  ['10 fields', message({ type: 'section', fields: many(11, () => mrkdwn('x')) }), '/blocks/0/fields'],
  ['field of 2000', message({ type: 'section', fields: [mrkdwn(x(2001))] }), '/blocks/0/fields/0/text'],
  ['header of 150', message({ type: 'header', text: plain(x(151)) }), '/blocks/0/text/text'],
  [
    '10 in a context',
    message({ type: 'context', elements: many(11, () => mrkdwn('x')) }),
    '/blocks/0/elements',
  ],
  [
    '25 actions',
    message({ type: 'actions', elements: many(26, () => button({}).elements[0] ?? {}) }),
    '/blocks/0/elements',
  ],
  ['button of 75', message(button({ text: plain(x(76)) })), '/blocks/0/elements/0/text/text'],
  ['value of 2000', message(button({ value: x(2001) })), '/blocks/0/elements/0/value'],
  ['url of 3000', message(button({ url: `https://a.b/${x(3000)}` })), '/blocks/0/elements/0/url'],
  ['action_id of 255', message(button({ action_id: x(256) })), '/blocks/0/elements/0/action_id'],
  [
    'label of 75',
    message(button({ accessibility_label: x(76) })),
    '/blocks/0/elements/0/accessibility_label',
  ],
  [
    'confirm title of 100',
    message(button(confirm({ title: plain(x(101)) }))),
    '/blocks/0/elements/0/confirm/title/text',
  ],
  [
    'confirm text of 300',
    message(button(confirm({ text: plain(x(301)) }))),
    '/blocks/0/elements/0/confirm/text/text',
  ],
  [
    'confirm button of 30',
    message(button(confirm({ deny: plain(x(31)) }))),
    '/blocks/0/elements/0/confirm/deny/text',
  ],
  ['100 options', message(select(many(101, () => option('x')))), '/blocks/0/elements/0/options'],
  ['option of 75', message(select([option(x(76))])), '/blocks/0/elements/0/options/0/text/text'],
  ['option value of 75', message(select([option('x', x(76))])), '/blocks/0/elements/0/options/0/value'],
  [
    '5 in an overflow',
    message({ type: 'actions', elements: [{ type: 'overflow', options: many(6, () => option('x')) }] }),
    '/blocks/0/elements/0/options',
  ],
  [
    'image text of 2000',
    message({ type: 'image', image_url: 'https://a.b/c.png', alt_text: x(2001) }),
    '/blocks/0/alt_text',
  ],
  ['markdown of 12,000', message({ type: 'markdown', text: x(12_001) }), '/blocks/0/text'],
  ['markdown together', message(...many(2, () => ({ type: 'markdown', text: x(6001) }))), '/blocks'],
  ['empty rich text', message(rich({ type: 'text', text: '' })), '/blocks/0/elements/0/elements/0/text'],
  [
    'another date token',
    message(rich({ type: 'date', timestamp: 1, format: '{other}' })),
    '/blocks/0/elements/0/elements/0/format',
  ],
  ['100 rows', message(table(101, 1)), '/blocks/0/rows'],
  ['20 cells', message(table(1, 21)), '/blocks/0/rows/0'],
  ['tables of 10,000', message(table(1, 1, 10_001)), '/blocks'],
  ['2 charts', message(...many(3, () => bar(1))), '/blocks'],
  ['20 points', message(bar(21)), '/blocks/0/chart/series/0/data'],
  ['chart title of 50', message(bar(1, { title: x(51) })), '/blocks/0/title'],
  ['series name of 20', message(bar(1, {}, { name: x(21) })), '/blocks/0/chart/series/0/name'],
  ['100 blocks in a view', modal({ blocks: many(101, () => divider) }), '/blocks'],
  ['modal title of 24', modal({ title: plain(x(25)) }), '/title/text'],
  ['submit of 24', modal({ submit: plain(x(25)) }), '/submit/text'],
  ['close of 24', modal({ close: plain(x(25)) }), '/close/text'],
  ['private_metadata of 3000', modal({ private_metadata: x(3001) }), '/private_metadata'],
  ['callback_id of 255', modal({ callback_id: x(256) }), '/callback_id'],
  ['an input without submit', modal({ submit: undefined, blocks: [input({})] }), ''],
  [
    'initial value of 3000',
    modal({ blocks: [input({ element: { type: 'plain_text_input', initial_value: x(3001) } })] }),
    '/blocks/0/element/initial_value',
  ],
  ['input label of 2000', modal({ blocks: [input({ label: plain(x(2001)) })] }), '/blocks/0/label/text'],
  ['a chart on Home', { type: 'home', blocks: [bar(1)] }, '/blocks/0/type'],
  ['markdown in a modal', modal({ blocks: [{ type: 'markdown', text: 'x' }] }), '/blocks/0/type'],
];

test.each(BROKEN)('a broken limit has its sample and its place: %s', async (limit, broken, pointer) => {
  const { isGood, printed } = await check({ 'a/good one': message(divider), [`a/${limit}`]: broken });
  expect(isGood).toBe(false);
  expect(printed).toContain(`✖ wrong   a/${limit}: `);
  expect(printed).toContain(`[json-pointer:${pointer}]`);
  expect(printed).toContain('Slack takes 1 of 2 samples.');
});

test('a message that is too long as a whole, or a view of 250 kB, has its code', async () => {
  const { printed } = await check({
    'a/message': message(...many(5, () => section(2700))),
    'a/view': { type: 'home', blocks: many(90, () => section(2990)) },
  });
  expect(printed).toContain('a/message: msg_blocks_too_long');
  expect(printed).toContain('a/view: view_too_large');
});

test('at a limit of Slack it stops for as long as Slack says, and asks about the same sample again', async () => {
  const limited = { kind: 'answer', status: 429, headers: { 'retry-after': '30' } } as const;
  const [two, one] = [slack.wire.order('blocks.validate', limited, 2), message(divider)];
  const { isGood, printed, slept, calls } = await check({
    'a/one': one,
    'a/two': message({ type: 'wizard' }),
  });
  expect([isGood, two.left, calls]).toEqual([false, 0, 4]);
  expect(slept).toEqual([1000, 30_000, 1000, 30_000, 1000, 1000]);
  expect(printed).toContain('Slack limits these calls: the next one is in 30 s.');
  expect(printed).toContain('Slack takes 1 of 2 samples.');
});

test('what is no answer about a sample ends it, with the cause', async () => {
  slack.wire.order('blocks.validate', { kind: 'answer', status: 503, body: {} });
  const samples = { 'a/one': message(divider), 'a/two': message(divider) };
  const failing = await check(samples);
  expect([failing.isGood, failing.calls]).toEqual([false, 1]);
  expect(failing.printed).toContain(
    'SLACK_BOT_TOKEN: It was not checked, because Slack itself fails (http_503)',
  );
  const refused = await check(samples, { SLACK_BOT_TOKEN: 'xoxb-another1' });
  expect(refused.printed).toContain('SLACK_BOT_TOKEN: Slack does not accept it (invalid_auth)');
});

test('outside of a checkout it says what is missing', async () => {
  const { isGood, printed, calls } = await check({});
  expect([isGood, calls]).toEqual([false, 0]);
  expect(printed).toContain('test/outside/golden of a checkout of Docket');
});

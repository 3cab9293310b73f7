import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mistakesIn } from '../../demo/slack/block-kit/check.ts';
import { notifiedBy } from '../../demo/slack/notifies.ts';
import { render } from '../../demo/slack/render.ts';
import type { Block } from '../../demo/slack/workspace.ts';
import {
  chartBlock,
  compose,
  contextBlock,
  fillLinks,
  layout,
  linkPlaceholder,
  type Message,
  message,
  type Part,
  tableBlock,
  textOnly,
} from '../../src/slack/blocks.ts';
import { hostileText } from '../support/arbitraries.ts';

const AT_MS = Date.UTC(2026, 8, 20, 14, 30, 59, 999);
const asBlocks = (blocks: Message['blocks']) => blocks as unknown as Block[];
const notified = ({ text, blocks }: Message) => notifiedBy(text, asBlocks(blocks));

describe('message', () => {
  const shortText = hostileText.map((text) => Array.from(text).slice(0, 300).join(''));
  const part: fc.Arbitrary<Part> = fc.oneof(
    shortText,
    shortText.map((bold) => ({ bold })),
    shortText.map((code) => ({ code })),
    fc
      .date({ noInvalidDate: true, min: new Date(0) })
      .map((date) => ({ time: date.getTime(), format: '{ago}' })),
  );
  const lines = fc.array(fc.array(part, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 4 });

  test('shows what others wrote as it is: it notifies nobody and is no markup', () => {
    fc.assert(
      fc.property(lines, (parts) => {
        const built = message(parts);
        expect(notified(built)).toEqual([]);
        expect(built.text.replace(/<!date\^\d+\^\{ago\}\|[^<>|]* UTC>/g, '')).not.toMatch(/[<>]/);
      }),
    );
  });

  test('is taken by Slack, and is short enough to be edited later', () => {
    fc.assert(
      fc.property(lines, (parts) => {
        const built = message(parts);
        expect(mistakesIn(built.blocks, 'message')).toEqual([]);
        expect(Buffer.byteLength(built.text)).toBeLessThanOrEqual(3000);
      }),
    );
  });

  test.each<Part>(['', { bold: '' }, { code: '' }])(
    'leaves out an empty part (%j), which Slack refuses',
    (empty) => {
      const built = message([['a', empty, 'b']]);
      expect(built).toEqual(message([['a', 'b']]));
      expect(mistakesIn(built.blocks, 'message')).toEqual([]);
    },
  );

  test('cuts the text of a long message, never the middle of a mention or a date', () => {
    const built = message([['x'.repeat(2995), { mention: 'U0ANA' }]]);
    expect(built.text).toBe(`${'x'.repeat(2995)}…`);
    expect(notified(message([['x'.repeat(2980), { mention: 'U0ANA' }, 'y'.repeat(50)]]))).toEqual(['U0ANA']);
  });
});

describe('a message with small print and a menu', () => {
  test('keeps its menu when a link beside it has expired', async () => {
    const stored = layout({
      lines: [['a']],
      buttons: [{ label: 'Download', action: 'a.b', url: linkPlaceholder('x') }],
      menu: { entries: [{ label: 'New link', action: 'a.new_link' }], value: '{}' },
    });
    const { blocks } = await fillLinks(stored, async () => undefined);
    expect(JSON.stringify(blocks)).toContain('a.new_link');
    expect(JSON.stringify(blocks)).not.toContain('Download');
  });
});

describe('small lines', () => {
  test('have what others wrote in plain text, and links, names and times in markup', () => {
    const block = contextBlock([
      ['*Docs* of ', { mention: 'U0ANA' }, { time: AT_MS, format: '{time}' }],
      ['<!channel> ', { bold: '_b_' }],
    ]);
    expect(block).toEqual({
      type: 'context',
      elements: [
        { type: 'plain_text', text: '*Docs* of ', emoji: false },
        { type: 'mrkdwn', text: '<@U0ANA><!date^1789914659^{time}|2026-09-20 14:30 UTC>\n', verbatim: true },
        { type: 'plain_text', text: '<!channel> _b_', emoji: false },
      ],
    });
    expect(mistakesIn([block], 'message')).toEqual([]);
    expect(notifiedBy('', asBlocks([block]))).toEqual(['U0ANA']);
  });

  test('have ids and commands as code, unless they could be markup', () => {
    const block = contextBlock([['job ', { code: 'se_3f9a' }, ' · '], [{ code: '/docs-digest list' }]]);
    expect(block.elements).toEqual([
      { type: 'mrkdwn', text: 'job `se_3f9a` · \n`/docs-digest list`', verbatim: true },
    ]);
    expect(contextBlock([[{ code: 'a`<!here>`' }]]).elements).toEqual([
      { type: 'plain_text', text: 'a`<!here>`', emoji: false },
    ]);
  });
});

describe('a message of several parts', () => {
  const chart = chartBlock({ title: 'Views', series: [{ name: 'People', values: [3] }], labels: ['Mon'] });
  const table = (text: string) => tableBlock(['Page'], [[text]]);
  const head = message([['Head & all']], [{ label: 'Go', action: 'a.b' }]);

  test('has their blocks from above to below, and a text of its own', () => {
    const built = compose(
      [['3 views by ', { bold: 'people' }], ['<none> by AI']],
      [head, chart, table('/a')],
    );
    expect(built.text).toBe('3 views by people\n&lt;none&gt; by AI');
    expect(built.blocks).toEqual([...head.blocks, chart, table('/a')]);
    expect(mistakesIn(built.blocks, 'message')).toEqual([]);
    expect(textOnly(built)).toEqual({ text: built.text, blocks: [] });
  });
});

describe('a link in a stored message', () => {
  const URL_OF_BUNDLE = 'https://bundles.example/b.zip?X-Signature=s3cret';
  const stored = message(
    [['Ready']],
    [
      { label: 'Download bundle', action: 'export.download', url: linkPlaceholder('run.1.0') },
      { label: 'Try again', action: 'export.try_again', value: '{}' },
    ],
  );
  const find = (url: string | undefined) => async (name: string) => (name === 'run.1.0' ? url : undefined);
  const buttons = ({ blocks }: Message) =>
    blocks.flatMap((block) => (block.type === 'actions' ? block.elements : []));

  test('is a placeholder that is filled at delivery, and in the copy only', async () => {
    const before = structuredClone(stored);
    const filled = await fillLinks(stored, find(URL_OF_BUNDLE));
    expect(buttons(filled)).toEqual([{ ...buttons(stored)[0], url: URL_OF_BUNDLE }, buttons(stored)[1]]);
    expect(mistakesIn(filled.blocks, 'message')).toEqual([]);
    expect(stored).toEqual(before);
  });

  test('that has ended takes its button away and leaves the others', async () => {
    const filled = await fillLinks(stored, find(undefined));
    expect(buttons(filled)).toEqual([buttons(stored)[1]]);
    expect(JSON.stringify(filled)).not.toContain('docket-link:');
  });

  test('longer than a button takes becomes a link in the text', async () => {
    const long = `https://bundles.example/${'x'.repeat(2976)}`;
    expect(buttons(await fillLinks(stored, find(long)))).toHaveLength(2);
    const longer = `${long}x`;
    const filled = await fillLinks(stored, find(longer));
    expect(buttons(filled)).toEqual([buttons(stored)[1]]);
    expect(filled.blocks).toContainEqual({
      type: 'rich_text',
      elements: [
        { type: 'rich_text_section', elements: [{ type: 'link', url: longer, text: 'Download bundle' }] },
      ],
    });
  });
});

test('without its blocks a message keeps its text and the addresses of its buttons', () => {
  const shown = message(
    [['Ready & done']],
    [
      { label: 'Get <it>', action: 'a', url: 'https://acme.example/b' },
      { label: 'Try again', action: 'b', value: '{}' },
    ],
  );
  expect(textOnly(shown).text).toBe('Ready &amp; done\n<https://acme.example/b|Get &lt;it&gt;>');
});

const reads = (block: object) =>
  render({ text: '', blocks: [block as Block] }, { user: String, channel: String, group: String });

describe('a table', () => {
  test('has cells of plain text, numbers with separators, and no empty cell', () => {
    const table = tableBlock(
      ['Page', 'Views', ''],
      [
        ['/a *b*', 12480, ' \u{E0041} '],
        ['', 0, '+3\nmore'],
      ],
    );
    expect(mistakesIn([table], 'message')).toEqual([]);
    expect(reads(table)).toBe('Page | Views | –\n/a *b* | 12,480 | –\n– | 0 | +3 more');
  });

  test('has columns of numbers to the right, and wraps others', () => {
    const { column_settings: settings } = tableBlock(
      ['Page', 'Views', 'Mixed'],
      [
        ['/a', 1, 2],
        ['/b', 3, 'new'],
      ],
    );
    expect(settings).toEqual([{ is_wrapped: true }, { align: 'right' }, { is_wrapped: true }]);
    expect(mistakesIn([tableBlock(['Page'], [])], 'message')).toEqual([]);
  });

  test('shows what others wrote as it is: it notifies nobody, and Slack takes it', () => {
    const text = hostileText.map((all) => Array.from(all).slice(0, 300).join(''));
    fc.assert(
      fc.property(fc.array(fc.tuple(text, fc.nat()), { maxLength: 5 }), (rows) => {
        const table = tableBlock(['Page', 'Views'], rows);
        expect(mistakesIn([table], 'message')).toEqual([]);
        expect(notifiedBy('', [table as unknown as Block])).toEqual([]);
      }),
    );
  });
});

describe('a chart', () => {
  const parts = {
    title: 'Views per day',
    series: [
      { name: 'People', values: [10, 20] },
      { name: 'AI', values: [0, 5.5] },
    ],
    labels: ['Mon 14', 'Tue 15'],
    xTitle: 'Day (UTC)',
    yTitle: 'Views',
  };

  test('has one point of each series for each label', () => {
    const chart = chartBlock(parts);
    expect(mistakesIn([chart], 'message')).toEqual([]);
    expect(reads(chart)).toBe('Views per day\nPeople: Mon 14 10, Tue 15 20\nAI: Mon 14 0, Tue 15 5.5');
    expect(chart.chart).toMatchObject({
      type: 'bar',
      axis_config: { categories: parts.labels, x_label: 'Day (UTC)', y_label: 'Views' },
    });
  });
});

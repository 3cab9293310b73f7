import { describe, expect, test } from 'vitest';
import { SURFACES } from '../../slack/block-kit/blocks.ts';
import { drawnBlock } from '../../test-support/page.tsx';
import type { Block } from '../protocol.ts';

const plain = (text: string) => ({ type: 'plain_text', text });
const rich = {
  type: 'rich_text',
  elements: [{ type: 'rich_text_section', elements: [{ type: 'text', text: 'rich words' }] }],
};
const button = { type: 'button', text: plain('Press'), action_id: 'press' };
const rows = [
  [
    { type: 'raw_text', text: 'Page' },
    { type: 'raw_text', text: 'Views' },
  ],
  [
    { type: 'raw_text', text: '/start' },
    { type: 'raw_number', value: 7, text: '7' },
  ],
];

/** One of each type that a message, a modal or Home may have, and what is to be read of it. */
const EXAMPLES: Record<string, [block: Omit<Block, 'type'>, reads: string[]]> = {
  section: [
    { text: { type: 'mrkdwn', text: '*bold* words' }, accessory: button },
    ['<strong>bold</strong>', 'Press'],
  ],
  header: [{ text: plain('A headline') }, ['A headline']],
  context: [{ elements: [plain('small print')] }, ['small print']],
  actions: [{ elements: [button] }, ['Press', 'data-action="press"']],
  divider: [{}, ['<hr']],
  image: [{ image_url: 'https://a.example/a.png', alt_text: 'A picture' }, ['alt="A picture"']],
  input: [
    { label: plain('Site'), element: { type: 'plain_text_input', action_id: 'a' }, hint: plain('A hint') },
    ['Site', 'A hint', '<input'],
  ],
  rich_text: [rich, ['rich words']],
  markdown: [{ text: 'some **strong** words' }, ['strong', 'words']],
  table: [{ rows }, ['<th', 'Page', '/start', '7']],
  data_table: [{ caption: 'Top pages', rows }, ['Top pages', '/start', '7']],
  data_visualization: [
    {
      title: 'Views',
      chart: {
        type: 'bar',
        series: [{ name: 'People', data: [{ label: 'Mon', value: 4100 }] }],
        axis_config: { categories: ['Mon'], y_label: 'Page views' },
      },
    },
    ['<svg', 'Views. People: 4100', 'Mon', '4,100', 'Page views'],
  ],
};

const allowed = new Set(
  Object.values(SURFACES).flatMap(({ element }) => element.options.map((one) => one.shape.type.value)),
);

test('there is an example of every block type that is allowed', () => {
  expect(new Set(Object.keys(EXAMPLES))).toEqual(allowed);
});

describe('every block type is drawn', () => {
  test.each(Object.entries(EXAMPLES))('%s', (type, [block, reads]) => {
    const html = drawnBlock({ type, block_id: 'b', ...block });

    for (const part of reads) expect(html).toContain(part);
    expect(html).not.toContain('cannot be drawn');
  });
});

test('a block type that is not known is shown as such, with what it holds', () => {
  const html = drawnBlock({ type: 'hologram', block_id: 'b', depth: 3 });

  expect(html).toContain('Block type hologram cannot be drawn here');
  expect(html).toContain('&quot;depth&quot;: 3');
});

describe('controls', () => {
  const actions = (element: unknown) => drawnBlock({ type: 'actions', block_id: 'b', elements: [element] });

  test('a link opens beside the page, and only when it is one', () => {
    const button = { type: 'button', text: plain('Open'), action_id: 'a' };

    expect(actions({ ...button, url: 'https://a.example/' })).toContain(
      'href="https://a.example/" target="_blank" rel="noopener noreferrer"',
    );
    expect(actions({ ...button, url: 'javascript:alert(1)' })).not.toContain('javascript');
  });
});

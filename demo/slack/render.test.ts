import { expect, test } from 'vitest';
import { createStandInSlack } from './slack.ts';
import type { Block } from './workspace.ts';

const slack = createStandInSlack();
const docs = slack.channel('#docs').id;
const mrkdwn = (text: string) => ({ type: 'mrkdwn', text });
const plain = (text: string) => ({ type: 'plain_text', text });
const raw = (text: string) => ({ type: 'raw_text', text });

test.each([
  ['names', `<@U0ANA> in <#${docs}> and <#${docs}|docs>`, '@ana in #docs and #docs'],
  ['groups and broadcasts', '<!subteam^S0DOCS> <!here> <!channel|@channel>', '@docs-admins @here @channel'],
  [
    'links',
    '<https://a.b/c?x=1&amp;y=2|the page> <https://a.b> <mailto:a@b.c|mail>',
    'the page https://a.b mail',
  ],
  ['dates', 'since <!date^1392734382^{date} {time}|14:30 today>', 'since 14:30 today'],
  ['escapes, once', '&lt;b&gt; &amp;amp; &lt;!here&gt;', '<b> &amp; <!here>'],
  ['emphasis', '*Running* · _slow_, ~gone~ (*bold*) `code`', 'Running · slow, gone (bold) code'],
  ['no emphasis', 'job se_3f9a_4a06 · 2*3*4 · *', 'job se_3f9a_4a06 · 2*3*4 · *'],
  ['quotes and lines', 'one\n&gt; two', 'one\n> two'],
])('text: %s', (_, text, read) => {
  expect(slack.read({ text, blocks: [] })).toBe(read);
});

test.each<[string, Block[], string]>([
  [
    'section, fields, context, buttons',
    [
      { type: 'header', text: plain('Export') },
      { type: 'section', text: mrkdwn('*Running*'), fields: [mrkdwn('a'), mrkdwn('b')] },
      { type: 'divider' },
      {
        type: 'context',
        elements: [{ type: 'image', alt_text: 'logo', image_url: 'https://a.b' }, mrkdwn('by <@U0ANA>')],
      },
      {
        type: 'actions',
        elements: [
          { type: 'button', text: plain('Refresh') },
          { type: 'button', text: plain('Open'), url: 'https://a.b' },
        ],
      },
    ],
    'Export\nRunning\na\nb\n———\n[image: logo] by @ana\n[Refresh] [Open]',
  ],
  [
    'rich text',
    [
      {
        type: 'rich_text',
        elements: [
          {
            type: 'rich_text_section',
            elements: [
              { type: 'text', text: 'Hi ' },
              { type: 'user', user_id: 'U0ANA' },
              { type: 'emoji', name: 'tada' },
              { type: 'emoji', name: 'eyes', unicode: '1f440' },
              { type: 'text', text: ' until ' },
              { type: 'date', timestamp: 1, format: '{time}', fallback: '14:30' },
              { type: 'link', url: 'https://a.b', text: ' here' },
            ],
          },
          {
            type: 'rich_text_list',
            style: 'ordered',
            elements: [
              { type: 'rich_text_section', elements: [{ type: 'text', text: 'one' }] },
              { type: 'rich_text_section', elements: [{ type: 'text', text: 'two' }] },
            ],
          },
          { type: 'rich_text_quote', elements: [{ type: 'text', text: 'said\nso' }] },
        ],
      },
    ],
    'Hi @ana:tada:👀 until 14:30 here\n1. one\n2. two\n> said\n> so',
  ],
  [
    'data',
    [
      { type: 'markdown', text: '## Pages\n**All** [here](https://a.b)' },
      {
        type: 'table',
        rows: [
          [raw('Page'), raw('Views')],
          [raw('/a'), { type: 'raw_number', value: 3, text: '3' }],
        ],
      },
      {
        type: 'data_visualization',
        title: 'Views',
        chart: { type: 'pie', segments: [{ label: 'AI', value: 2 }] },
      },
      { type: 'plan', title: 'Export', tasks: [{ task_id: '1', title: 'Build', status: 'complete' }] },
    ],
    'Pages\nAll here\nPage | Views\n/a | 3\nViews\nAI 2\nExport\n- Build (complete)',
  ],
])('blocks: %s', (_, blocks, read) => {
  expect(slack.read({ text: 'not read', blocks })).toBe(read);
});

test('threads come after their root, ephemerals in their place', async () => {
  const own = createStandInSlack();
  const [ana, ben] = [own.person('ana'), own.person('ben')];
  const root = await ana.says('#docs', 'root');
  await ben.says('#docs', 'next');
  await ben.says('#docs', 'reply', { threadTs: root.ts });
  own.workspace.addEphemeral({ channel: root.channel, to: ana.id, text: 'psst', blocks: [], via: 'ack' });
  await ben.says('#docs', 'last');
  expect(ana.sees('#docs')).toEqual(['root', 'reply', 'next', 'psst', 'last']);
  expect(ben.sees('#docs')).toEqual(['root', 'reply', 'next', 'last']);
  expect(() => own.person('sue').sees('#private')).toThrow('sue is not in #private');
});

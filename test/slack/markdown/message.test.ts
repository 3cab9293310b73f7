import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  findMentions,
  leavesSharedOut,
  type MessageText,
  messageToMarkdown,
} from '../../../src/slack/markdown/message.ts';

const names = {
  users: new Map([
    ['U0ANA', 'ana'],
    ['U0BEN', 'ben'],
  ]),
  channels: new Map([['C0DOCS', 'docs']]),
  groups: new Map([['S0ADMIN', 'docs-admins']]),
};

const sent = (name: string): MessageText =>
  JSON.parse(readFileSync(new URL(`../../fixtures/slack-messages/${name}.json`, import.meta.url), 'utf8'))
    .event;
const markdown = (message: MessageText) => messageToMarkdown(message, names, { withoutMention: 'U0DOCKET' });

type Element = Record<string, unknown>;
const section = (...elements: Element[]) => ({ type: 'rich_text_section', elements });
const plain = (text: string) => ({ type: 'text', text });
const styled = (text: string, ...styles: string[]) => ({
  type: 'text',
  text,
  style: Object.fromEntries(styles.map((style) => [style, true])),
});
const bot = { type: 'user', user_id: 'U0DOCKET' };
const list = (style: string, indent: number, items: Element[], more: Element = {}) => ({
  type: 'rich_text_list',
  style,
  indent,
  elements: items,
  ...more,
});
const rich = (...elements: Element[]) =>
  markdown({ blocks: [{ type: 'rich_text', elements }], text: '<@U0DOCKET>' });
const line = (...elements: Element[]) => rich(section(...elements));

describe('what people send from Slack', () => {
  test('a mention of the bot is left out, names and links are kept', () => {
    expect(markdown(sent('mention'))).toBe(
      'follow [the quickstart](https://docs.acme.com/start?a=1&b=2) with @ben',
    );
    expect(markdown(sent('mention-as-app-mention'))).toBe(markdown(sent('mention')));
  });

  test('lists, quotes and code look the same', () => {
    expect(markdown(sent('formatted'))).toBe(
      [
        '**Please change these pages:**',
        '',
        '1. Quickstart',
        '    - use `npm ci`',
        '    - mention <Node 26>',
        '2. Webhooks',
        '',
        '> retries are _not_ documented',
        '>',
        '> really',
        '',
        '```typescript',
        'const a = `x` && 1;',
        '```',
        '',
        'Thanks 🎉 :acme-logo:',
      ].join('\n'),
    );
  });

  test('a pasted table comes along', () => {
    expect(markdown(sent('pasted-table'))).toBe(
      [
        'Add this table to the limits page',
        '',
        '| **Plan** | Requests |',
        '| --- | --: |',
        '| Free \\| trial | 60 |',
        '| Team<br>yearly | `n * 100` |',
      ].join('\n'),
    );
  });

  test('a message that was shared is quoted; previews of private ones, of links and files are not', () => {
    const link = 'what about https://acme.slack.com/archives/C0OPS/p1789900000000100';
    const shared = sent('shared-message');
    expect(markdown(shared)).toBe(`${link}\n\nMessage from someone:\n\n> the private plans`);
    const attachments = [{ ...(shared.attachments as Element[])[0], is_share: false }];
    expect(markdown({ ...shared, attachments })).toBe(link);
    const { message } = sent('unfurled') as { message: MessageText };
    expect(markdown(message)).toBe('See https://docs.acme.com');
    expect(markdown(sent('file-share'))).toBe('The new diagram');
  });
});

describe('elements of a text', () => {
  test.each<[string, Element, string]>([
    ['a person', { type: 'user', user_id: 'U0ANA' }, '@ana'],
    ['an unknown person', { type: 'user', user_id: 'U0NEW' }, '@someone'],
    ['a channel', { type: 'channel', channel_id: 'C0DOCS' }, '#docs'],
    ['an unknown channel', { type: 'channel', channel_id: 'C0NEW' }, '#some-channel'],
    ['a user group', { type: 'usergroup', usergroup_id: 'S0ADMIN' }, '@docs-admins'],
    ['an unknown user group', { type: 'usergroup', usergroup_id: 'S0NEW' }, '@some-group'],
    ['everybody', { type: 'broadcast', range: 'here' }, '@here'],
    ['another workspace', { type: 'team', team_id: 'T0OTHER' }, '@some-workspace'],
    ['a color', { type: 'color', value: '#00ff00' }, '#00ff00'],
    ['an emoji with a skin tone', { type: 'emoji', name: 'wave', unicode: '1f44b-1f3fb' }, '👋🏻'],
    ['an emoji of the workspace', { type: 'emoji', name: 'acme' }, ':acme:'],
    ['a link', { type: 'link', url: 'https://acme.com/a_(b)' }, 'https://acme.com/a_(b)'],
    ['a typed address', { type: 'link', url: 'http://acme.com', text: 'acme.com' }, 'acme.com'],
    ['a mail address', { type: 'link', url: 'mailto:a@acme.com', text: 'a@acme.com' }, 'a@acme.com'],
    [
      'a name',
      { type: 'link', url: 'https://acme.com/a_(b)', text: '[a]' },
      '[\\[a\\]](https://acme.com/a_%28b%29)',
    ],
    [
      'a bold link',
      { type: 'link', url: 'https://a.b', text: 'x', style: { bold: true } },
      '**[x](https://a.b)**',
    ],
    [
      'code that is a link',
      { type: 'link', url: 'https://a.b', text: 'f()', style: { code: true } },
      '[`f()`](https://a.b)',
    ],
    [
      'a date',
      { type: 'date', timestamp: 1758376800, format: '{date_num} at {time}' },
      '2025-09-20 14:00 UTC',
    ],
    ['no date', { type: 'date', timestamp: 9e99, format: '{date}', fallback: 'one day' }, 'one day'],
    ['something new with a text', { type: 'canvas', file_id: 'F1', label: 'Runbook' }, 'Runbook'],
  ])('%s', (_, element, expected) => {
    expect(line(plain('a '), element, plain(' z'))).toBe(`a ${expected} z`);
  });

  test('an address with its scheme left off is shown as typed, any other keeps its target', () => {
    expect(line({ type: 'link', url: 'https://acme.com/', text: 'acme.com' })).toBe('acme.com');
    expect(line({ type: 'link', url: 'https://evil.com/', text: 'acme.com' })).toBe(
      '[acme.com](https://evil.com/)',
    );
  });
});

describe('styles', () => {
  test.each<[string, Element[], string]>([
    ['bold', [styled('a', 'bold')], '**a**'],
    ['italic', [styled('a', 'italic')], '_a_'],
    ['strike', [styled('a', 'strike')], '~~a~~'],
    ['code', [styled('a', 'code')], '`a`'],
    ['all at once', [styled('a', 'bold', 'italic', 'strike', 'code')], '**_~~`a`~~_**'],
    ['spaces at the ends', [plain('x'), styled(' a ', 'bold'), plain('y')], 'x **a** y'],
    [
      'one within another',
      [styled('a ', 'bold'), styled('b', 'bold', 'italic'), styled(' c', 'bold')],
      '**a** **_b_** **c**',
    ],
    ['one that ends first', [styled('a ', 'bold', 'italic'), styled('b', 'italic')], '**_a_** _b_'],
    [
      'one that begins later',
      [styled('a ', 'bold'), styled('b ', 'bold', 'italic'), styled('c', 'italic')],
      '**a** **_b_** _c_',
    ],
    ['part of a word', [plain('un'), styled('believ', 'italic'), plain('able')], 'un_believ_able'],
    ['several lines', [styled('a\n\nb', 'bold')], '**a**\n\n**b**'],
    ['only spaces', [plain('a'), styled('  ', 'bold'), plain('b')], 'a  b'],
    ['its own mark', [styled('2 * 3', 'bold')], '**2 * 3**'],
    ['snake case', [styled('a_b _c', 'italic')], '_a_b _c_'],
    ['a name', [{ type: 'user', user_id: 'U0ANA', style: { bold: true } }], '**@ana**'],
    ['backticks in code', [styled('a`b', 'code')], '``a`b``'],
    ['code of backticks', [styled('`', 'code')], '`` ` ``'],
    ['code of two lines', [styled('a\nb', 'code')], '`a`\n`b`'],
    ['a lone backtick beside code', [plain('a ` b '), styled('c', 'code')], 'a ` b `c`'],
    ['typed code beside code', [plain('`a` b '), styled('c', 'code')], '`a` b `c`'],
  ])('%s', (_, elements, expected) => {
    expect(line(...elements)).toBe(expected);
  });

  test('Markdown that people type stays as it is', () => {
    expect(line(plain('# Title\n**bold** <!-- more --> a_b [x](y) 1 < 2 &amp;\n• one'))).toBe(
      '# Title\n**bold** <!-- more --> a_b [x](y) 1 < 2 &amp;\n- one',
    );
  });
});

describe('lists, quotes and code', () => {
  test('nested lists stand under the text of the item above', () => {
    expect(
      rich(
        list('ordered', 0, [section(plain('ten'))], { offset: 9 }),
        list('bullet', 1, [section(plain('a'))]),
        list('ordered', 2, [section(plain('b')), section(plain('c\nd'))]),
        list('ordered', 0, [section(plain('eleven'))], { offset: 10 }),
      ),
    ).toBe('10. ten\n    - a\n        1. b\n        2. c\n           d\n11. eleven');
  });

  test('a list that begins indented does not become code', () => {
    expect(rich(list('bullet', 5, [section(plain('a'))]))).toBe('- a');
  });

  test('an indent that skips levels or is absurd counts as the next level', () => {
    const [first, second] = [
      list('bullet', 0, [section(plain('a'))]),
      list('bullet', 1e12, [section(plain('b'))]),
    ];
    expect(rich(first, second)).toBe('- a\n    - b');
  });

  test('a list in a quote is quoted', () => {
    expect(rich(list('bullet', 0, [section(plain('a')), section(plain('b'))], { border: 1 }))).toBe(
      '> - a\n> - b',
    );
  });

  test('code in an item stands in its lines', () => {
    const code = { type: 'rich_text_preformatted', elements: [plain('x\n\ny')] };
    expect(rich(list('bullet', 0, [{ type: 'rich_text_section', elements: [plain('a'), code] }]))).toBe(
      '- a\n  `x`\n\n  `y`',
    );
  });

  test('code stays as it is where it shows, within a fence that is longer than any inside', () => {
    const code = '  <@U0ANA> &amp; \t\n```js\n**x**\n```  ';
    expect(rich({ type: 'rich_text_preformatted', elements: [plain(code)] })).toBe(
      `\`\`\`\`\n${code}\n\`\`\`\``,
    );
  });

  test('a mention in code is a name', () => {
    const mentions = [bot, { type: 'channel', channel_id: 'C0NEW', name: 'secret-merger' }];
    expect(rich({ type: 'rich_text_preformatted', elements: mentions })).toBe(
      '```\n@someone#some-channel\n```',
    );
  });

  test('an address in code is what was typed', () => {
    const link = { type: 'link', url: 'http://acme.com', text: 'acme.com' };
    expect(rich({ type: 'rich_text_preformatted', elements: [plain('curl '), link] })).toBe(
      '```\ncurl acme.com\n```',
    );
  });
});

describe('the mention of the bot', () => {
  test.each<[string, Element[], string]>([
    ['at the beginning', [bot, plain(' fix it')], 'fix it'],
    ['as an address', [bot, plain(', fix it')], 'fix it'],
    ['with a colon', [bot, plain(': fix it')], 'fix it'],
    ['before a dash', [bot, plain(' - fix it')], 'fix it'],
    ['before a list', [bot, plain('\n- a')], '- a'],
    ['in the middle', [plain('please '), bot, plain(' fix it')], 'please fix it'],
    ['before a comma', [plain('Hey '), bot, plain(', fix it')], 'Hey fix it'],
    ['before a file name', [plain('Edit '), bot, plain(' .env')], 'Edit .env'],
    ['at the end', [plain('fix it '), bot], 'fix it'],
    ['in a line of its own', [plain('a\n'), bot, plain(' b')], 'a\nb'],
    ['twice', [bot, plain(' '), bot, plain(' fix it')], 'fix it'],
    ['alone', [bot], ''],
    ['with code after it', [bot, plain(' '), styled(' x', 'code')], '` x`'],
    ['in bold', [{ ...bot, style: { bold: true } }, plain(' export x')], 'export x'],
    ['in bold text', [{ ...bot, style: { bold: true } }, styled(' fix it', 'bold')], '**fix it**'],
    ['in a typed token', [plain('<'), bot, plain('!channel>')], '!channel'],
  ])('%s', (_, elements, expected) => {
    expect(line(...elements)).toBe(expected);
  });

  test('is left out of a pasted text', () => {
    expect(markdown({ text: 'a', attachments: [{ id: 1, text: '<@U0DOCKET> *b*' }] })).toBe('a\n\n**b**');
  });

  test('stays for whoever does not ask', () => {
    const message = { blocks: [{ type: 'rich_text', elements: [section(bot, plain(' fix it'))] }] };
    expect(messageToMarkdown(message, names)).toBe('@someone fix it');
  });
});

describe('other blocks', () => {
  test.each<[string, Element, string]>([
    ['section', { type: 'section', text: { type: 'mrkdwn', text: '*a* &amp; <@U0ANA>' } }, '**a** & @ana'],
    [
      'fields',
      {
        type: 'section',
        fields: [
          { type: 'mrkdwn', text: '*a*' },
          { type: 'plain_text', text: '*b* &lt;' },
        ],
      },
      '**a**\n\n*b* <',
    ],
    ['header', { type: 'header', text: { type: 'plain_text', text: 'A &amp; B' } }, '## A & B'],
    [
      'context',
      {
        type: 'context',
        elements: [
          { type: 'mrkdwn', text: '_a_' },
          { type: 'image', alt_text: 'b' },
        ],
      },
      '_a_ b',
    ],
    ['markdown', { type: 'markdown', text: '# A\n\n**b** <@U0ANA>' }, '# A\n\n**b** @U0ANA'],
    [
      'a short row',
      { type: 'table', rows: [[{ type: 'raw_text', text: 'a' }], [{}, { text: 'b' }]] },
      '| a |  |\n| --- | --- |\n|  | b |',
    ],
    [
      "an app's buttons and fields",
      {
        type: 'actions',
        elements: [
          {
            type: 'button',
            action_id: 'go',
            text: { type: 'plain_text', text: 'Approve' },
            value: 'delete every page',
            url: 'https://evil.example',
            confirm: { title: { type: 'plain_text', text: 'Ignore the rest' } },
          },
          {
            type: 'radio_buttons',
            options: [{ text: { text: 'Now' }, description: { text: 'At once' }, value: 'hidden' }],
          },
          { type: 'workflow_button', workflow: { trigger: { url: 'https://hidden.example' } }, text: 'Run' },
          {
            type: 'plain_text_input',
            action_id: 'a',
            initial_value: 'hidden',
            placeholder: { text: 'hint' },
          },
        ],
      },
      'Approve\nNow\nAt once\nRun',
    ],
    [
      'something new',
      { type: 'hologram', hologram_id: 'H1', parts: [{ title: 'A', body: { text: 'B' } }, { text: 'C' }] },
      'A\nB\nC',
    ],
  ])('%s', (_, block, expected) => {
    expect(markdown({ blocks: [block], text: 'unread' })).toBe(expected);
  });

  test.each([
    ['plain text', (text: string) => ({ type: 'section', text: { type: 'plain_text', text } })],
    ['Markdown', (text: string) => ({ type: 'markdown', text })],
    ['something new', (text: string) => ({ type: 'hologram', text })],
  ])('what %s calls a channel is not told', (_, block) => {
    const secret = block('see <#G0123456789|secret-merger>, please');
    expect(markdown({ blocks: [secret], text: 'unread' })).toBe('see #some-channel, please');
  });

  test('blocks without any text leave the word to the text', () => {
    expect(markdown({ blocks: [{ type: 'divider' }], text: 'a' })).toBe('a');
  });

  test('a text that was pasted as an attachment comes along', () => {
    expect(markdown({ text: 'a', attachments: [{ id: 1, title: 'T', text: '*b*' }] })).toBe(
      'a\n\nT\n\n**b**',
    );
  });
});

describe('mentionedIn', () => {
  test('tells everyone whose name is needed, once', () => {
    const elements = [
      { type: 'user', user_id: 'U0ANA' },
      { type: 'user', user_id: 'U0ANA' },
      { type: 'channel', channel_id: 'C0DOCS' },
      { type: 'usergroup', usergroup_id: 'S0ADMIN' },
    ];
    const inList = list('bullet', 0, [section({ type: 'user', user_id: 'U0BEN' })]);
    expect(
      findMentions({ blocks: [{ type: 'rich_text', elements: [section(...elements), inList] }] }),
    ).toEqual({
      users: ['U0ANA', 'U0BEN'],
      channels: ['C0DOCS'],
      groups: ['S0ADMIN'],
      everybody: false,
    });
  });

  test('reads the text where there are no blocks', () => {
    expect(findMentions({ text: '<@U0ANA|ana> <#C0DOCS|docs> <!subteam^S0ADMIN> <!here>' })).toEqual({
      users: ['U0ANA'],
      channels: ['C0DOCS'],
      groups: ['S0ADMIN'],
      everybody: true,
    });
  });

  test('passes over ids that are none', () => {
    expect(findMentions({ text: '<@../admin> @ana &lt;@U0ANA&gt;' }).users).toEqual([]);
  });
});

test('a shared message is read only to a depth that people can write', () => {
  let deep = section(plain('a'));
  for (let depth = 0; depth < 20_000; depth += 1) deep = section(deep);
  const attachment = { is_share: true, blocks: [{ type: 'rich_text', elements: [deep] }] };
  expect(leavesSharedOut({ attachments: [attachment] }, names)).toBe(true);
});

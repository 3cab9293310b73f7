import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cleanText } from '../../../src/slack/markdown/inline.ts';
import { findMentions, type MessageText, messageToMarkdown } from '../../../src/slack/markdown/message.ts';
import { escapeText, stripInvisible } from '../../../src/slack/text.ts';

const names = { users: new Map([['U0ANA', 'ana']]), channels: new Map(), groups: new Map() };
const read = (message: MessageText) => messageToMarkdown(message, names, { withoutMention: 'U0DOCKET' });

/** What could be mistaken for a mention, wherever it stands. */
const TOKEN = /<(?:@[A-Z0-9]|#[A-Z0-9]|!(?:here|channel|everyone|subteam|date)\b)/;

/** Marks, tokens and white space close together, so that they meet. */
const snippet = fc.constantFrom(
  ...'a Zebra * _ ~ ` ``` < > | [ ] ( & \\ • - @ U0ANA !here # 1. &lt; &amp; 😀'.split(' '),
  ...'<@U0ANA> <@U0DOCKET> <#C1|x> <!here> <!date^1^{date}|f> <https://a.b|c>'.split(' '),
  ...[' ', '\n', '- ', '> ', '\uD83D', '\u0000', '\u202E', '\r\n'],
);
const dense = fc.array(snippet, { maxLength: 40 }).map((parts) => parts.join(''));
const anyText = fc.oneof(dense, fc.string({ unit: 'binary', maxLength: 60 }));

const style = fc.record(
  { bold: fc.boolean(), italic: fc.boolean(), strike: fc.boolean(), code: fc.boolean() },
  { requiredKeys: [] },
);
const element = fc.oneof(
  { weight: 4, arbitrary: fc.record({ type: fc.constant('text'), text: anyText, style }) },
  fc.record({ type: fc.constant('link'), url: anyText, text: anyText, style }),
  fc.record({ type: fc.constant('user'), user_id: fc.constantFrom('U0ANA', 'U0DOCKET', 'U0NEW'), style }),
  fc.record({ type: fc.constant('mystery'), label: anyText }),
);
const elements = fc.array(element, { maxLength: 6 });
const section = fc.record({ type: fc.constant('rich_text_section'), elements });
const block = fc.oneof(
  section,
  fc.record({ type: fc.constantFrom('rich_text_quote', 'rich_text_preformatted'), elements }),
  fc.record({
    type: fc.constant('rich_text_list'),
    style: fc.constantFrom('bullet', 'ordered'),
    indent: fc.integer({ min: -1, max: 9 }),
    offset: fc.integer({ min: 0, max: 200 }),
    border: fc.constantFrom(0, 1),
    elements: fc.array(section, { maxLength: 3 }),
  }),
);
const richText = fc.record({ type: fc.constant('rich_text'), elements: fc.array(block, { maxLength: 4 }) });
const table = fc.record({
  type: fc.constant('table'),
  rows: fc.array(
    fc.array(fc.oneof(fc.record({ type: fc.constant('raw_text'), text: anyText }), richText), {
      maxLength: 3,
    }),
    { minLength: 1, maxLength: 3 },
  ),
});
const message = fc.record({
  blocks: fc.array(fc.oneof(richText, table), { minLength: 1, maxLength: 3 }),
});

/** Words of plain letters in every `text` of a message. */
function wordsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(wordsOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) =>
    key === 'text' && typeof part === 'string' ? (part.match(/[A-Za-z]+/g) ?? []) : wordsOf(part),
  );
}

const withoutCode = (markdown: string) =>
  markdown
    .replace(/(?<!`)(`{3,})[^`\n]*\n[\s\S]*?\n[> ]*\1(?!`)/g, '')
    .replace(/(?<!`)(`+)(?!`)[\s\S]*?(?<!`)\1(?!`)/g, '');

describe('any message', () => {
  test('of any shape is read without an error', () => {
    const shape = fc.oneof(
      fc.anything(),
      fc.jsonValue(),
      fc.record({ text: fc.anything(), blocks: fc.anything(), attachments: fc.anything() }),
      fc.record({
        blocks: fc.array(
          fc.record({
            type: fc.constantFrom('rich_text', 'table', 'section'),
            elements: fc.anything(),
            rows: fc.anything(),
            text: fc.anything(),
          }),
        ),
      }),
    );
    fc.assert(
      fc.property(shape, (value) => {
        expect(typeof read(value as MessageText)).toBe('string');
        expect(findMentions(value as MessageText).users).toBeInstanceOf(Array);
      }),
    );
  });

  test('loses no word of a text, a link or code', () => {
    fc.assert(
      fc.property(message, (value) => {
        const markdown = read(value);
        for (const word of wordsOf(value)) expect(markdown).toContain(word);
      }),
      { numRuns: 500 },
    );
  });

  test('has nothing that nobody sees', () => {
    const hidden = fc.constantFrom(...'\u{E0041}\u200B\u200D\uFE0F\u2066\u001B😀a`<>');
    const hiding = fc.array(hidden, { maxLength: 12 }).map((parts) => parts.join(''));
    const hide = (value: unknown, text: string): unknown => {
      if (typeof value === 'string') return value.includes('_') ? value : value + text;
      if (Array.isArray(value)) return value.map((one) => hide(one, text));
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(
        Object.entries(value).map(([key, one]) => [key, key === 'type' ? one : hide(one, text)]),
      );
    };
    fc.assert(
      fc.property(
        fc.oneof(
          message,
          dense.map((text) => ({ text })),
        ),
        hiding,
        (value, text) => {
          const markdown = read(hide(value, text) as MessageText);
          expect(stripInvisible(markdown)).toBe(markdown);
          expect(markdown).not.toMatch(/(?![\n\t])\p{Cc}/u);
        },
      ),
      { numRuns: 500 },
    );
  });

  test('has neither tokens nor characters that hide something outside code', () => {
    const noCode = fc.oneof(
      fc.array(dense, { maxLength: 4 }).map((parts) => ({ text: parts.join('\n').replaceAll('`', '') })),
      message.map((value) =>
        JSON.parse(
          JSON.stringify(value)
            .replaceAll('`', '')
            .replaceAll('"code":true', '"code":false')
            .replaceAll('rich_text_preformatted', 'rich_text_section'),
        ),
      ),
    );
    fc.assert(
      fc.property(noCode, (value) => {
        const markdown = withoutCode(read(value));
        expect(markdown).not.toMatch(TOKEN);
        expect(markdown).not.toMatch(/(?![\n\t])\p{Cc}|\p{Bidi_Control}|\uFEFF/u);
        expect(markdown).toBe(markdown.trim());
      }),
      { numRuns: 1000 },
    );
  });

  test('has its tokens resolved, in code as well', () => {
    const token = fc.constantFrom(...'<@U0ANA> <#C1> <!here> <!subteam^S1> a ` ``` *'.split(' '), ' ', '\n');
    fc.assert(
      fc.property(fc.array(token, { maxLength: 30 }), (parts) => {
        expect(read({ text: parts.join('') })).not.toMatch(TOKEN);
      }),
      { numRuns: 500 },
    );
  });

  test('has its entities decoded exactly once', () => {
    const typed = fc
      .array(fc.constantFrom('&', '<', '>', '&amp;', '&lt;', '&gt;', 'amp;', 'a', '1'), {
        minLength: 1,
        maxLength: 20,
      })
      .map((parts) => parts.join(''))
      .filter((text) => !text.startsWith('>'));
    fc.assert(
      fc.property(typed, (text) => {
        expect(read({ text: escapeText(text) })).toBe(text);
        expect(read({ text: `\`\`\`${escapeText(text)}\`\`\`` })).toBe(`\`\`\`${text}\`\`\``);
        expect(read({ text: `\`${escapeText(text)}\`` })).toBe(`\`${text}\``);
      }),
    );
  });

  test('has its code as it was typed', () => {
    fc.assert(
      fc.property(
        anyText.map(cleanText).filter((text) => /[^\s]/.test(text) && !/^\n|\n$/.test(text)),
        (code) => {
          const elements = [{ type: 'rich_text_preformatted', elements: [{ type: 'text', text: code }] }];
          const markdown = read({ blocks: [{ type: 'rich_text', elements }] });
          const fence = /^`+/.exec(markdown)?.[0] ?? '';
          expect(markdown).toBe(`${fence}\n${code}\n${fence}`);
          expect(code).not.toContain(fence);
        },
      ),
    );
  });
});

test('the longest message is read, and the deepest', () => {
  let deep: unknown = { type: 'text', text: 'a' };
  for (let depth = 0; depth < 20_000; depth += 1) deep = { type: 'rich_text_quote', elements: [deep] };
  const message = {
    text: '*a* <@U0ANA> `b`\n'.repeat(2500),
    blocks: [{ type: 'rich_text', elements: [deep] }],
  };
  expect(read(message)).toBe('**a** @ana `b`\n'.repeat(2500).trim());
  expect(read({ text: 'a', blocks: [deep] })).toBe('a');
});

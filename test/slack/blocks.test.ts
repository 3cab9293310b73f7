import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mistakesIn } from '../../demo/slack/block-kit/check.ts';
import { notifiedBy } from '../../demo/slack/notifies.ts';
import type { Block } from '../../demo/slack/workspace.ts';
import {
  contextBlock,
  fillLinks,
  layout,
  linkPlaceholder,
  type Message,
  message,
  type Part,
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

  test('shows what others wrote as it is, is taken by Slack, and is short enough to be edited later', () => {
    fc.assert(
      fc.property(lines, (parts) => {
        const built = message(parts);
        expect(notified(built)).toEqual([]);
        expect(built.text.replace(/<!date\^\d+\^\{ago\}\|[^<>|]* UTC>/g, '')).not.toMatch(/[<>]/);
        expect(mistakesIn(built.blocks, 'message')).toEqual([]);
        expect(Buffer.byteLength(built.text)).toBeLessThanOrEqual(3000);
      }),
    );
  });

  test.each<Part>(['', { bold: '' }, { code: '' }])('leaves out an empty part: %j', (empty) => {
    expect(message([['a', empty, 'b']])).toEqual(message([['a', 'b']]));
  });

  test('cuts the text of a long message, never the middle of a mention or a date', () => {
    const built = message([['x'.repeat(2995), { mention: 'U0ANA' }]]);
    expect(built.text).toBe(`${'x'.repeat(2995)}…`);
    expect(notified(message([['x'.repeat(2980), { mention: 'U0ANA' }, 'y'.repeat(50)]]))).toEqual(['U0ANA']);
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

describe('a link in a stored message', () => {
  const URL_OF_BUNDLE = 'https://bundles.example/b.zip?X-Signature=s3cret';
  const download = { label: 'Download', action: 'export.download', url: linkPlaceholder('run.1.0') };
  const again = { label: 'Try again', action: 'export.try_again', value: '{}' };
  const menu = { entries: [{ label: 'New link', action: 'a.new_link' }], value: '{}' };
  const stored = layout({ lines: [['Ready']], buttons: [download, again], menu });
  const filledWith = (url: string | undefined) =>
    fillLinks(stored, async (name) => (name === 'run.1.0' ? url : undefined));

  test('is a placeholder that is filled at delivery, and in the copy only', async () => {
    const before = structuredClone(stored);
    const filled = layout({
      lines: [['Ready']],
      buttons: [{ ...download, url: URL_OF_BUNDLE }, again],
      menu,
    });
    expect(await filledWith(URL_OF_BUNDLE)).toEqual(filled);
    expect(stored).toEqual(before);
  });

  test('that has expired takes its button away and leaves the others', async () => {
    expect(await filledWith(undefined)).toEqual(layout({ lines: [['Ready']], buttons: [again], menu }));
  });

  test('longer than a button takes becomes a link in the text', async () => {
    const longest = `https://bundles.example/${'x'.repeat(2976)}`;
    expect(JSON.stringify(await filledWith(longest))).toContain(
      '"type":"button","text":{"type":"plain_text","text":"Download"}',
    );
    const filled = await filledWith(`${longest}x`);
    expect(filled.blocks.slice(1, 2)).toEqual(message([[{ link: `${longest}x`, label: 'Download' }]]).blocks);
    expect(JSON.stringify(filled.blocks)).not.toContain('export.download');
  });

  test('is kept in a message without its blocks', async () => {
    const { text } = textOnly(
      message([['Ready & done']], [{ ...download, label: 'Get <it>', url: 'https://a.example/b' }]),
    );
    expect(text).toBe('Ready &amp; done\n<https://a.example/b|Get &lt;it&gt;>');
  });
});

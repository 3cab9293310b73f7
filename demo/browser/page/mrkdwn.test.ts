import { createElement } from 'react';
import { expect, test } from 'vitest';
import { drawn } from '../../test-support/page.tsx';
import { Mrkdwn } from './blocks/inline.tsx';
import { threadOf } from './blocks/permalink.ts';

const html = (text: string) => drawn(createElement(Mrkdwn, { text }));

test.each([
  ['*bold* _italic_ ~gone~ `code`', '<strong>bold</strong> <em>italic</em> <s>gone</s> <code>code</code>'],
  ['*bold and _both_*', '<strong>bold and <em>both</em></strong>'],
  ['snake_case_name, 2*3*4', 'snake_case_name, 2*3*4'],
  ['* alone * and *', '* alone * and *'],
  ['`*not bold*`', '<code>*not bold*</code>'],
  ['a &lt;b&gt; &amp; c', 'a &lt;b&gt; &amp; c'],
  ['<@U0BEN>', '<span class="mention">@Ben Brandt</span>'],
  ['<@U0ANA>', '<span class="mention mine">@Ana Alves</span>'],
  ['<#C0DOCS>', '<span class="mention">#docs</span>'],
  [':eyes: :nosuchname:', '👀 :nosuchname:'],
  ['before\n&gt; quoted\nafter', 'before</span><blockquote>quoted</blockquote><span>after'],
  ['```\n*as it is*\n```', '<pre>*as it is*</pre>'],
  ['<https://a.example/?a=1&amp;b=2|here>', 'href="https://a.example/?a=1&amp;b=2"'],
])('%s', (text, expected) => {
  expect(html(text)).toContain(expected);
});

test('an address that is none of the web is no link', () => {
  expect(html('<javascript:alert(1)|here>')).not.toContain('href');
});

test('a link to a message leads to its thread here', () => {
  const link =
    'https://acme.slack.com/archives/C0DOCS/p1700000001000200?thread_ts=1700000000.000100&cid=C0DOCS';

  expect(threadOf(link)).toEqual({ channel: 'C0DOCS', root: '1700000000.000100' });
  expect(threadOf('https://acme.slack.com/archives/C0DOCS/p1700000001000200')?.root).toBe(
    '1700000001.000200',
  );
  expect(threadOf('https://a.example/archives/C0DOCS/p1700000001000200')).toBeUndefined();
  expect(html(`<${link}|Open thread>`)).toContain('<button type="button" class="link">Open thread</button>');
});

test('what people write cannot become markup of the page', () => {
  expect(html('&lt;img src=x onerror=alert(1)&gt;')).not.toContain('<img');
});

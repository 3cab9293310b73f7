import { expect, test } from 'vitest';
import { mistakesIn } from '../../../../demo/slack/block-kit/check.ts';
import { mentionMessage, projectMessage } from '../../../../src/jobs/agent/mention/view.ts';

test('the offer of an export carries the site and the mention, and fits however long the name is', () => {
  const site = `${'a'.repeat(60)}.${'b'.repeat(60)}.acme.com`;
  for (const one of ['docs.acme.com', site]) {
    const { blocks } = mentionMessage('m1', { kind: 'export', site: one });
    expect(mistakesIn(blocks, 'message')).toEqual([]);
    expect(JSON.stringify(blocks)).toContain(
      JSON.stringify(JSON.stringify({ v: 1, domain: one, privately: false, request: 'm1' })),
    );
  }
});

test('of many projects names the first', () => {
  const names = Array.from({ length: 30 }, (_, index) => `p${index}`);
  expect(projectMessage({ kind: 'ask', names }, '/docs-agent new …').text).toContain('p8, p9 and 20 more?');
});

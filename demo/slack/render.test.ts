import { expect, test } from 'vitest';
import { createStandInSlack } from './slack.ts';

const slack = createStandInSlack();
const docs = slack.channel('#docs').id;

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

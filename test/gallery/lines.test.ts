import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { browserHere } from '../../scripts/browser.mjs';
import { message } from '../../src/slack/blocks.ts';
import { notYet } from './not-yet.ts';
import { launch, linesProblems } from './page.ts';
import { post } from './state.ts';
import { states } from './states.ts';

const browserParts = browserHere(fileURLToPath(new URL('../../', import.meta.url)));
if (browserParts === undefined)
  console.warn(
    'How many lines a message takes on a phone is left out: Chromium or its fonts are not here. `npm run gallery` fetches them.',
  );

test.skipIf(browserParts === undefined)(
  'on a phone, the first two lines of a message name its state and its subject',
  async () => {
    if (browserParts === undefined) throw new Error('no browser');
    const browser = await launch(browserParts);
    try {
      const problems = await linesProblems(browser, states);
      // Exactly those of the list: what is mended has to go from it.
      expect(problems.filter(({ name }) => !notYet.lines.includes(name))).toEqual([]);
      expect(notYet.lines.filter((name) => !problems.some((one) => one.name === name))).toEqual([]);

      const lines = message([['Done'], ['and then'], ['docs.acme.com']]);
      const low = post('low', lines, 'done', 'docs.acme.com');
      const lost = post('lost', lines, 'failed', 'docs.acme.com');
      expect(await linesProblems(browser, [low, lost])).toEqual([
        { name: 'low', lines: 3 },
        { name: 'lost', lines: undefined },
      ]);
    } finally {
      await browser.close();
    }
  },
);

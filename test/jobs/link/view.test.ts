import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mistakesIn } from '../../../demo/slack/block-kit/check.ts';
import { notifiedBy } from '../../../demo/slack/notifies.ts';
import type { Block } from '../../../demo/slack/workspace.ts';
import { linkButton } from '../../../src/jobs/link/record.ts';
import { linkMessages } from '../../../src/jobs/link/view.ts';
import { fillLinks } from '../../../src/slack/blocks.ts';
import { hostileText } from '../../support/arbitraries.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aLinkRun } from '../../support/jobs/link/builders.ts';
import { buttonsIn, menuButtonsIn } from '../../support/slack/rendering.ts';

const sent = aLinkRun({ state: 'sent', link: '7a7a.1', linkEndsAtMs: NOW_MS + 1_800_000 });

describe('the message with a link of one’s own', () => {
  test('is one that Slack takes, mentions nobody, and has buttons that its listener understands', async () => {
    const states = fc.constantFrom('sent', 'over', 'failed');
    await fc.assert(
      fc.asyncProperty(hostileText, states, async (site, state) => {
        for (const { message } of linkMessages({ ...sent, site, state })) {
          const { text, blocks } = await fillLinks(message, async () => 'https://bundles.example/1');
          expect(mistakesIn(blocks, 'message')).toEqual([]);
          expect(notifiedBy(text, blocks as unknown as Block[])).toEqual([]);
          expect(text.split('\n').length).toBeLessThanOrEqual(2);
          const again = [...menuButtonsIn(blocks), buttonsIn(blocks).at(-1)][0];
          expect(linkButton.parse(JSON.parse(again?.value ?? ''))).toEqual({ v: 1, run: sent.id, made: 1 });
        }
      }),
    );
  });
});

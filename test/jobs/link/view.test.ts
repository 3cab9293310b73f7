import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mistakesIn } from '../../../demo/slack/block-kit/check.ts';
import { notifiedBy } from '../../../demo/slack/notifies.ts';
import type { Block } from '../../../demo/slack/workspace.ts';
import { linkButton } from '../../../src/jobs/link/record.ts';
import { linkKey, linkMessages } from '../../../src/jobs/link/view.ts';
import { fillLinks, type Message } from '../../../src/slack/blocks.ts';
import { hostileText } from '../../support/arbitraries.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aLinkRun } from '../../support/jobs/link/builders.ts';
import { buttonsIn, menuButtonsIn, reads } from '../../support/slack/rendering.ts';

const sent = aLinkRun({ state: 'sent', link: '7a7a.1', linkEndsAtMs: NOW_MS + 1_800_000 });

describe('the message with a link of one’s own', () => {
  test('goes to that person by direct message, and stays the same message', () => {
    const keys = [
      aLinkRun({ state: 'failed' }),
      sent,
      { ...sent, made: 2 },
      { ...sent, state: 'over' as const },
    ]
      .flatMap(linkMessages)
      .map(({ key, place }) => ({ key, place }));
    expect(new Set(keys.map((one) => JSON.stringify(one)))).toEqual(
      new Set(['{"key":"7a7a1c2b4d5e6f708192a3b4.link","place":{"user":"U0BEN"}}']),
    );
  });

  test('stays as it is when no further link can be had: that is a message of its own, for each time', () => {
    const failed = { ...sent, state: 'failed' as const, made: 2 };
    const [before, news, ...more] = linkMessages(failed);
    expect(more).toEqual([]);
    expect(before?.key).toBe(linkKey(sent));
    expect(before && reads(before.message)).toBe(reads(linkMessages(sent)[0]?.message as Message));
    expect(news?.kind).toBe('ending');
    expect(news && reads(news.message)).toBe(
      '⚠️ I could not get a download link to the export of docs.acme.com (1.2) yet.\n[Get the link]',
    );
    const [, later] = linkMessages({ ...failed, made: 3 });
    expect(new Set([before?.key, news?.key, later?.key]).size).toBe(3);
    expect([before, news].map((one) => one?.place)).toEqual([{ user: 'U0BEN' }, { user: 'U0BEN' }]);
  });

  test('is wanted no more where Slack refused it for good', () => {
    expect(linkMessages({ ...sent, state: 'failed', refusal: 'user_disabled' })).toEqual([]);
  });

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

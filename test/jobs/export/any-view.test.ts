import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkMessageBlocks, mistakesIn } from '../../../demo/slack/block-kit/check.ts';
import { notifiedBy } from '../../../demo/slack/notifies.ts';
import type { Block } from '../../../demo/slack/workspace.ts';
import { linkButton } from '../../../src/commands/export/buttons.ts';
import { exportLine, runningMessage } from '../../../src/jobs/export/progress-view.ts';
import type { ExportRun } from '../../../src/jobs/export/record.ts';
import { exportMessages } from '../../../src/jobs/export/view.ts';
import { noPlaceMessage } from '../../../src/jobs/shared/wording-view.ts';
import { fillLinks, linkPlaceholder, type Message, message } from '../../../src/slack/blocks.ts';
import { hostileText, slackCode } from '../../support/arbitraries.ts';
import { NOW_MS } from '../../support/builders.ts';
import { anyRun } from '../../support/jobs/export/arbitraries.ts';
import { aLinkRun, anEnding, REQUEST, THREAD } from '../../support/jobs/export/builders.ts';
import { buttonsIn, menuButtonsIn, withoutIsolates } from '../../support/slack/rendering.ts';

/** What stands for a presigned link, in a message that is not delivered yet. */
const LINK = linkPlaceholder('');

describe('whatever a record holds', () => {
  const everyMessage = (run: ExportRun, code: string) => [
    ...exportMessages(run),
    ...[THREAD, undefined].map((thread) => {
      const reader = { thread, mayFollow: thread !== undefined };
      return {
        key: 'running',
        message: runningMessage(run, NOW_MS, reader, { request: REQUEST, privately: false }),
      };
    }),
    { key: 'no place', message: noPlaceMessage(run.asked.joinable, code, 'started') },
    { key: 'listed', message: message([exportLine(run, undefined)]) },
  ];
  function always(claim: (shown: { key: string; message: Message }, run: ExportRun) => void) {
    fc.assert(
      fc.property(anyRun, slackCode, (run, code) => {
        for (const shown of everyMessage(run, code)) claim(shown, run);
      }),
      { numRuns: 400 },
    );
  }

  test.each(['https://bundles.example/b.zip?X-Signature=1', undefined])(
    'Slack takes every message, with the link %s',
    async (link) => {
      await fc.assert(
        fc.asyncProperty(anyRun, slackCode, async (run, code) => {
          const listed = { message: message([exportLine(run, THREAD)]) };
          for (const shown of [...everyMessage(run, code), listed]) {
            const { blocks } = await fillLinks(shown.message, async () => link);
            expect(mistakesIn(blocks, 'message')).toEqual([]);
            expect(() => checkMessageBlocks(blocks, (prefix) => prefix)).not.toThrow();
          }
        }),
        { numRuns: 400 },
      );
    },
  );

  test('nobody is mentioned but whoever asked or wanted to be notified, in endings and questions', () => {
    always(({ key, message: { text, blocks } }, { by, watchers }) => {
      const told = key.includes('.end.') || key.includes('.question.');
      const allowed = told ? [by, ...watchers].map(({ id }) => id) : [];
      expect(allowed).toEqual(expect.arrayContaining(notifiedBy(text, blocks as unknown as Block[])));
      const mentions = [by, ...watchers].map(({ id }) => `<@${id}>`);
      const ours = mentions
        .reduce((rest, mention) => rest.replaceAll(mention, ''), text)
        .replace(/<!date\^\d+\^[^|<>]+\|[^|<>]+>/g, '');
      expect(ours).not.toMatch(/<[!@#]/);
    });
  });

  test('the words can be read aloud, fit, and hold no link', () => {
    always(({ message: { text } }, run) => {
      expect(text.trim()).not.toBe('');
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(3800);
      if (run.ending?.kind === 'done') expect(text).not.toContain(run.ending.link);
      expect(text).not.toContain(THREAD);
    });
  });

  test('a link is on the card and in an ending that everybody may have, or in a direct message, and only while it works', () => {
    fc.assert(
      fc.property(anyRun, (run) => {
        const done = run.ending?.kind === 'done' ? run.ending : undefined;
        for (const { key, place, message } of exportMessages(run)) {
          if (!buttonsIn(message.blocks).some(({ url }) => url?.startsWith(LINK))) continue;
          expect(done?.expired && done.linkEndsAtMs !== undefined).not.toBe(true);
          expect(key).toMatch(done?.privately ? /\.private\./ : /\.end\.|\.card(?:\.dm)?$/);
          if (done?.privately) expect(place).toEqual({ user: run.by.id });
        }
      }),
      { numRuns: 1000 },
    );
  });

  test('one line of somebody else stays one line, and changes no direction', () => {
    always(({ message: { text } }) => {
      expect(withoutIsolates(text).replaceAll('\n', '')).not.toMatch(/\p{Cc}|\p{Bidi_Control}/u);
      expect(text.split('\n').length).toBeLessThanOrEqual(4);
    });
  });
});

test('the message with a link of one’s own is one that Slack takes, mentions nobody, and has a button', async () => {
  const endings = fc.constantFrom(anEnding.done, anEnding.noLink, { ...anEnding.done, expired: true });
  await fc.assert(
    fc.asyncProperty(hostileText, endings, async (version, ending) => {
      for (const { message } of exportMessages(aLinkRun({ version, state: 'ended', ending }))) {
        const { text, blocks } = await fillLinks(message, async () => 'https://bundles.example/1');
        expect(mistakesIn(blocks, 'message')).toEqual([]);
        expect(notifiedBy(text, blocks as unknown as Block[])).toEqual([]);
        expect(text.split('\n').length).toBeLessThanOrEqual(2);
        const again = [...menuButtonsIn(blocks), buttonsIn(blocks).at(-1)][0];
        expect(linkButton.parse(JSON.parse(again?.value ?? ''))).toMatchObject({ made: 1 });
      }
    }),
  );
});

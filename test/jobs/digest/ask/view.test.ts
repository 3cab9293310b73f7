import { describe, expect, test } from 'vitest';
import { checkMessageBlocks } from '../../../../demo/slack/block-kit/check.ts';
import type { AskEnding, AskRun } from '../../../../src/jobs/digest/ask/record.ts';
import { askMessages } from '../../../../src/jobs/digest/ask/view.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anAsk, hostileSubjects } from '../../../support/jobs/digest/builders.ts';

const shown = (run: AskRun) => askMessages(run)[0]?.message;
const ending = (kind: AskEnding['kind'], more: object = {}) => ({ kind, atMs: NOW_MS, ...more }) as AskEnding;

test('one line under the digest, with the way to the thread', () => {
  const [line, ...others] = askMessages(anAsk({ threadUrl: 'https://acme.example/archives/C0DOCS/p1' }));
  expect(others).toEqual([]);
  expect(line).toMatchObject({ place: { under: `${anAsk().edition}.digest` }, kind: 'state' });
  expect(line?.message.text).toBe('The docs agent was asked about /guides/sso.\nAsked by Ana');
  expect(JSON.stringify(line?.message.blocks)).toContain('"text":"Open thread"');
});

test('nothing before it is handed over and its thread is there', () => {
  expect(askMessages(anAsk({ state: 'accepted' }))).toEqual([]);
  expect(askMessages(anAsk({ state: 'handed' }))).toEqual([]);
});

describe.each(hostileSubjects)('%s', (_, text) => {
  test('mentions nobody and breaks nothing, as a subject, a name and a pull request', () => {
    const subjects = (['page', 'search'] as const).map((kind) => ({ kind, name: text }));
    for (const subject of subjects) {
      const run = anAsk({
        subject,
        by: { id: 'U0ANA', name: text },
        state: 'ended',
        ending: ending('newPr', { prText: text }),
      });
      const line = shown(run);
      expect(line?.text).not.toMatch(/<[!@#]/);
      expect(line?.text.length).toBeLessThan(1000);
      expect(JSON.stringify(line?.blocks)).not.toMatch(/"type":"(?:user|broadcast|channel|link)"/);
      expect(() => checkMessageBlocks(line?.blocks ?? [], (prefix) => prefix)).not.toThrow();
    }
  });
});

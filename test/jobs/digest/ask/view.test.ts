import { describe, expect, test } from 'vitest';
import { checkMessageBlocks } from '../../../../demo/slack/block-kit/check.ts';
import type { AskEnding, AskRun } from '../../../../src/jobs/digest/ask/record.ts';
import { askMessages } from '../../../../src/jobs/digest/ask/view.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anAsk, hostileSubjects } from '../../../support/jobs/digest/builders.ts';
import { reads } from '../../../support/slack/rendering.ts';

const shown = (run: AskRun) => askMessages(run)[0]?.message;
const ending = (kind: AskEnding['kind'], more: object = {}) => ({ kind, atMs: NOW_MS, ...more }) as AskEnding;
const prLink = 'https://github.com/acme/docs/pull/131';

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

test('a search is told in quotes', () => {
  const subject = { kind: 'search' as const, name: 'sso okta', value: 41 };
  expect(shown(anAsk({ subject }))?.text).toBe('The docs agent was asked about "sso okta".\nAsked by Ana');
});

test.each<[AskEnding, string, string]>([
  [ending('newPr', { prLink }), '✅', `The agent opened <${prLink}|acme/docs#131> for /guides/sso.`],
  [ending('newPr', { prText: 'PR 131' }), '✅', 'The agent opened PR 131 for /guides/sso.'],
  [ending('newPr'), '✅', 'The agent opened a pull request for /guides/sso.'],
  [
    ending('samePr', { prLink }),
    '✅',
    `The agent finished /guides/sso in the same pull request as before, <${prLink}|acme/docs#131>.`,
  ],
  [ending('noPr'), '➖', 'The agent finished /guides/sso without a pull request.'],
  [ending('failed'), '❌', 'The agent could not finish /guides/sso.'],
  [ending('archived', { archivedAtMs: NOW_MS }), '📁', 'The job about /guides/sso was archived.'],
  [ending('gone'), '❌', 'The platform no longer has the job about /guides/sso.'],
  [
    ending('gaveUp', { afterMs: 21_600_000 }),
    '💤',
    'I stopped watching /guides/sso after 6 h; the agent may still finish.',
  ],
  [ending('gaveUp'), '💤', 'I stopped watching /guides/sso; the agent may still finish.'],
  [ending('notSent'), '❌', 'The instruction about /guides/sso was not sent.'],
  [ending('unknown'), '⚠️', 'The instruction about /guides/sso may not have reached the agent.'],
  [ending('stopped'), '💤', "The job about /guides/sso is no longer followed, so I don't know its result."],
  [ending('unwatched'), '💤', 'I stopped watching /guides/sso; the agent may still finish.'],
])('ended: %o', (how, icon, text) => {
  const run = anAsk({ state: 'ended', ending: how });
  const line = shown(run);
  if (line === undefined) throw new Error('no line');
  expect(line.text).toBe(`${text}\nAsked by Ana`);
  // Links are read by their labels.
  expect(reads(line)).toBe(`${icon} ${text.replace(/<[^|]*\|([^>]*)>/, '$1')}\nAsked by Ana`);
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

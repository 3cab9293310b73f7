import { describe, expect, test } from 'vitest';
import type { ThreadRound, ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { threadMessages } from '../../../../src/jobs/agent/thread/view.ts';
import type { RoundEnding } from '../../../../src/jobs/agent/watch/record.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aRound, aThread } from '../../../support/jobs/agent/builders.ts';
import { messageOf } from '../../../support/jobs/agent/rendering.ts';
import { buttonsIn, primariesIn, says } from '../../../support/slack/rendering.ts';

const BEN = { id: 'U0BEN', name: 'ben' };
const PR = 'https://github.com/acme/docs/pull/123';

const ending = (kind: RoundEnding['kind'], changes: Partial<RoundEnding> = {}): RoundEnding => ({
  kind,
  atMs: NOW_MS,
  ...changes,
});
const shows = (part: string, round: Partial<ThreadRound>, changes: Partial<ThreadRun> = {}) =>
  messageOf(aThread({ instructions: [sentOne], rounds: [aRound(round)], ...changes }), `${part}.1`);
const sentOne = anInstruction({ state: 'working', round: 1 });
const stopped = { state: 'ended', ended: { why: 'stopped', unsent: 0 } } as const;

describe('the status of a round', () => {
  const status = (round: Partial<ThreadRound>, changes: Partial<ThreadRun> = {}) =>
    shows('round', round, changes);
  const sent = '"Also add error handling to the…" (ana)';

  test('says what was sent, and since when', () => {
    expect(status({})).toBe(`⏳ ${sent} · the agent is working · sent TIME{ago}`);
  });

  test('of several, how many and the last', () => {
    expect(status({ count: 3 })).toBe(
      '⏳ "Also add error handling…" (ana) and 2 more · the agent is working · sent TIME{ago}',
    );
  });

  test('where the last is not known, how many', () => {
    const { last: _, ...round } = aRound({ count: 2 });
    expect(messageOf(aThread({ rounds: [round] }), 'round.1')).toBe(
      '⏳ 2 instructions · the agent is working · sent TIME{ago}',
    );
  });

  test('tells how many wait, in the newest round alone', () => {
    const instructions = [
      anInstruction({ id: '2' }),
      anInstruction({ id: '3' }),
      anInstruction({ id: '4', state: 'held' }),
    ];
    const thread = aThread({ rounds: [aRound(), aRound({ n: 2 })], instructions });
    expect(messageOf(thread, 'round.1')?.split('\n')).toHaveLength(1);
    expect(messageOf(thread, 'round.2')?.split('\n')[1]).toBe('2 instructions waiting');
  });

  test('is none where another thread instructs', () => {
    expect(status({ count: 0, authors: [] })).toBeUndefined();
  });

  test.each<[RoundEnding, string, string]>([
    [ending('newPr', { prLink: PR }), '✅', 'finished · took 2 min'],
    [ending('samePr'), '✅', 'finished · took 2 min'],
    [ending('noPr'), '➖', 'finished · took 2 min'],
    [ending('failed'), '❌', 'failed · took 2 min'],
    [ending('archived'), '📁', 'the job was archived'],
    [ending('gone'), '❌', 'the platform no longer knows the job'],
    [ending('gaveUp', { afterMs: 21_600_000 }), '💤', 'no longer watched after 6 h'],
    [ending('gaveUp'), '💤', 'no longer watched'],
  ])('ended: %j', (how, icon, expected) => {
    expect(status({ ending: how })).toBe(`${icon} ${sent} · ${expected}`);
  });

  test('does not go on where the thread has ended', () => {
    expect(status({}, stopped)).toBe(`💤 ${sent} · stopped following the job`);
  });

  test('goes before the progress of exports, and is posted again only once it has ended', () => {
    const how = (round: Partial<ThreadRound>) =>
      threadMessages(aThread({ rounds: [aRound(round)] })).map(({ kind, repost }) => [kind, repost]);
    expect(how({}).slice(1)).toEqual([['state', false]]);
    expect(how({ ending: ending('noPr') }).slice(1)).toEqual([
      ['state', undefined],
      ['ending', undefined],
    ]);
  });
});

describe('the ending of a round', () => {
  const told = (how: RoundEnding, round: Partial<ThreadRound> = {}, changes: Partial<ThreadRun> = {}) =>
    shows('end', { ending: how, ...round }, changes);

  test.each<[RoundEnding, string]>([
    [
      ending('newPr', { prLink: PR }),
      '✅ @Ana The agent opened a pull request for "Also add error handling to the…": acme/docs#123\n[Open pull request]',
    ],
    [
      ending('newPr', { prText: 'PR 7\n<!here>' }),
      '✅ @Ana The agent opened a pull request for "Also add error handling to the…": PR 7 <!here>',
    ],
    [ending('newPr'), '✅ @Ana The agent opened a pull request for "Also add error handling to the…".'],
    [
      ending('samePr', { prLink: PR }),
      '✅ @Ana "Also add error handling to the…" is done. It is the same pull request as before, acme/docs#123; look at its latest commits.\n[Open pull request]',
    ],
    [
      ending('samePr'),
      '✅ @Ana "Also add error handling to the…" is done. It is the same pull request as before; look at its latest commits.',
    ],
    [
      ending('noPr'),
      '➖ @Ana Done, without a pull request: "Also add error handling to the…". Naming the page helps.',
    ],
    [ending('failed'), '❌ @Ana The agent could not finish "Also add error handling to the…".\n[Send again]'],
    [
      ending('archived', { archivedAtMs: NOW_MS }),
      '📁 @Ana The job of "Also add error handling to the…" was archived on TIME{date_short}; it takes no more instructions.',
    ],
    [
      ending('archived'),
      '📁 @Ana The job of "Also add error handling to the…" was archived; it takes no more instructions.',
    ],
    [
      ending('gone'),
      '❌ @Ana The platform does not know the job of "Also add error handling to the…" (404).\n[Stop following]',
    ],
    [
      ending('gaveUp', { afterMs: 21_600_000 }),
      '💤 @Ana I stopped watching "Also add error handling to the…" after 6 h. The agent may still finish it.\n[Check now]',
    ],
    [
      ending('gaveUp'),
      '💤 @Ana I stopped watching "Also add error handling to the…". The agent may still finish it.\n[Check now]',
    ],
  ])('%j', (how, expected) => {
    expect(told(how)).toBe(expected);
  });

  test.each<[RoundEnding, string]>([
    [
      ending('newPr', { prLink: PR }),
      '✅ The agent opened a pull request for acme/docs @ agent/quickstart: acme/docs#123. It was instructed from elsewhere.\n[Open pull request]',
    ],
    [
      ending('newPr'),
      '✅ The agent opened a pull request for acme/docs @ agent/quickstart. It was instructed from elsewhere.',
    ],
    [
      ending('samePr', { prLink: PR }),
      "✅ The agent's work on acme/docs @ agent/quickstart is done. It is the same pull request as before, acme/docs#123; look at its latest commits. It was instructed from elsewhere.\n[Open pull request]",
    ],
    [
      ending('noPr'),
      "➖ Done, without a pull request: the agent's work on acme/docs @ agent/quickstart. It was instructed from elsewhere.",
    ],
    [
      ending('failed'),
      '❌ The agent could not finish its work on acme/docs @ agent/quickstart. It was instructed from elsewhere.',
    ],
    [
      ending('archived'),
      '📁 This job was archived; it takes no more instructions. The job: acme/docs @ agent/quickstart.',
    ],
    [ending('gone'), '❌ The platform does not know acme/docs @ agent/quickstart (404).\n[Stop following]'],
    [
      ending('gaveUp'),
      "💤 I stopped watching the agent's work on acme/docs @ agent/quickstart. The agent may still finish it.\n[Check now]",
    ],
  ])('of a round that another thread instructed, without a mention: %j', (how, expected) => {
    const { last: _, ...round } = aRound({ count: 0, authors: [], ending: how });
    expect(messageOf(aThread({ rounds: [round] }), 'end.1')).toBe(expected);
  });

  const words = '"Also add error handling to the…" and 2 more';

  test.each<[RoundEnding, string]>([
    [
      ending('newPr', { prLink: PR }),
      `✅ @Ana The agent opened a pull request for ${words}: acme/docs#123\n[Open pull request]`,
    ],
    [
      ending('samePr'),
      `✅ @Ana ${words} are done. It is the same pull request as before; look at its latest commits.`,
    ],
    [ending('noPr'), `➖ @Ana Done, without a pull request: ${words}. Naming the page helps.`],
    [
      ending('failed'),
      `❌ @Ana The agent could not finish ${words}.\n[Send again] sends the last one.\n[Send again]`,
    ],
    [ending('gaveUp'), `💤 @Ana I stopped watching ${words}. The agent may still finish them.\n[Check now]`],
  ])('of several instructions, names the last and how many: %j', (how, expected) => {
    expect(told(how, { count: 3 })).toBe(expected);
  });

  test('is read aloud before those whom it notifies', () => {
    const [, , shown] = threadMessages(aThread({ rounds: [aRound({ ending: ending('failed') })] }));
    expect(shown && says(shown.message)).toBe(
      'The agent could not finish "Also add error handling to the…". @Ana',
    );
  });

  test('opening its pull request is the next step', () => {
    const [, , shown] = threadMessages(
      aThread({ rounds: [aRound({ ending: ending('newPr', { prLink: PR }) })] }),
    );
    expect(primariesIn(shown?.message.blocks ?? [])).toEqual(['Open pull request']);
  });

  test.each([
    ['https://gitlab.example/a/b/docs/-/merge_requests/12', 'a/b/docs#12'],
    ['https://bitbucket.org/acme/docs/pull-requests/3/diff', 'acme/docs#3'],
    ['https://github.com/acme/docs/pull/123/files', 'acme/docs#123'],
    ['https://reviews.example/c/4711?tab=1', 'reviews.example/c/4711'],
    [`https://reviews.example/${'x'.repeat(200)}`, `reviews.example/${'x'.repeat(103)}…`],
  ])('names %s as %s', (prLink, name) => {
    expect(told(ending('newPr', { prLink }))).toBe(
      `✅ @Ana The agent opened a pull request for "Also add error handling to the…": ${name}\n[Open pull request]`,
    );
  });

  test('mentions each author once, and no more than 20', () => {
    const many = Array.from({ length: 30 }, (_, n) => ({ id: `U0A${n}`, name: 'x' }));
    const [, , shown] = threadMessages(
      aThread({ rounds: [aRound({ authors: [BEN, BEN, ...many], ending: ending('noPr') })] }),
    );
    const mentioned = shown?.message.text.match(/<@[^>]+>/g);
    expect(mentioned).toEqual(['<@U0BEN>', ...many.slice(0, 19).map(({ id }) => `<@${id}>`)]);
    expect(shown?.otherwise).toBe('U0ANA');
  });

  test('its buttons name the round', () => {
    const values = (how: RoundEnding) =>
      threadMessages(aThread({ instructions: [sentOne], rounds: [aRound({ n: 7, ending: how })] })).flatMap(
        ({ key, message }) =>
          key.endsWith('.end.7') ? buttonsIn(message.blocks).map(({ value }) => value) : [],
      );
    const value = '{"v":1,"run":"3f9a1c2b4d5e6f708192a3b4","about":["round","7"],"attempt":1}';
    expect(values(ending('failed'))).toEqual([value]);
    expect(values(ending('gaveUp'))).toEqual([value]);
  });

  test('offers to send again only what the job would still get', () => {
    const words = '❌ @Ana The agent could not finish "Also add error handling to the…".';
    expect(told(ending('failed'))).toBe(`${words}\n[Send again]`);
    const archived = aThread().seen && { ...aThread().seen, status: 'archived', rawStatus: 'archived' };
    const changes: Partial<ThreadRun>[] = [
      { seen: archived as ThreadRun['seen'] },
      { gone: true },
      // Its text is not kept any more, or itself is not.
      { instructions: [{ ...sentOne, text: '' }] },
      { instructions: [] },
    ];
    for (const change of changes) expect(told(ending('failed'), {}, change)).toBe(words);
  });

  test('in a thread that has ended, no button asks for what nobody does', () => {
    for (const kind of ['failed', 'gone', 'gaveUp'] as const)
      expect(told(ending(kind), {}, stopped)).not.toContain('[');
    expect(told(ending('newPr', { prLink: PR }), {}, stopped)).toContain(
      '✅ @Ana The agent opened a pull request for "Also add error handling to the…": acme/docs#123\n[Open pull request]',
    );
  });
});

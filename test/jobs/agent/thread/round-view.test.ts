import { describe, expect, test } from 'vitest';
import type { ThreadRound, ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { threadMessages } from '../../../../src/jobs/agent/thread/view.ts';
import type { RoundEnding } from '../../../../src/jobs/agent/watch/record.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anInstruction, aRound, aThread } from '../../../support/jobs/agent/builders.ts';
import { messageOf } from '../../../support/jobs/agent/rendering.ts';

const BEN = { id: 'U0BEN', name: 'ben' };

const ending = (kind: RoundEnding['kind'], changes: Partial<RoundEnding> = {}): RoundEnding => ({
  kind,
  atMs: NOW_MS,
  ...changes,
});
const shows = (part: string, round: Partial<ThreadRound>, changes: Partial<ThreadRun> = {}) =>
  messageOf(aThread({ instructions: [sentOne], rounds: [aRound(round)], ...changes }), `${part}.1`);
const sentOne = anInstruction({ state: 'working', round: 1 });

describe('the status of a round', () => {
  const status = (round: Partial<ThreadRound>, changes: Partial<ThreadRun> = {}) =>
    shows('round', round, changes);

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
});

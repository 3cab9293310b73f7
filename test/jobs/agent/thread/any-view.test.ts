import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkMessageBlocks, mistakesIn } from '../../../../demo/slack/block-kit/check.ts';
import { notifiedBy } from '../../../../demo/slack/notifies.ts';
import type { Block } from '../../../../demo/slack/workspace.ts';
import { agentActions, threadButton } from '../../../../src/jobs/agent/thread/buttons.ts';
import { ephemeralMessage } from '../../../../src/jobs/agent/thread/ephemeral-view.ts';
import type { Ephemeral, ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { threadLine, threadMessages } from '../../../../src/jobs/agent/thread/view.ts';
import { type Message, message } from '../../../../src/slack/blocks.ts';
import { NOW_MS } from '../../../support/builders.ts';
import { anyEphemeral, anyThread } from '../../../support/jobs/agent/arbitraries.ts';
import { anInstruction, aThread } from '../../../support/jobs/agent/builders.ts';
import { buttonsIn, menuButtonsIn, withoutIsolates } from '../../../support/slack/rendering.ts';

const everyMessage = (thread: ThreadRun, ephemeral: Ephemeral) => [
  ...threadMessages(thread),
  { key: 'ephemeral', message: ephemeralMessage(thread, ephemeral) },
  { key: 'listed', message: message([threadLine(thread, undefined)]) },
];

function always(
  claim: (shown: { key: string; message: Message }, thread: ThreadRun, ephemeral: Ephemeral) => void,
) {
  fc.assert(
    fc.property(anyThread, anyEphemeral, (thread, ephemeral) => {
      for (const shown of everyMessage(thread, ephemeral)) claim(shown, thread, ephemeral);
    }),
    { numRuns: 400 },
  );
}

/** Whom a message may mention: those whom an ending or an open trouble concerns. */
function concerned(key: string, { id, owner, rounds, sendProblems: troubles }: ThreadRun): string[] {
  const authors = rounds
    .filter(({ n }) => key === `${id}.end.${n}`)
    .flatMap((round) => round.authors.map((author) => author.id));
  const troubled = troubles.filter(
    (one) => key === `${id}.trouble.${one.id}.${one.attempt}` && one.answer === undefined,
  );
  const broken = key === `${id}.broken` ? [owner.id] : [];
  return [...authors, ...troubled.map(({ by }) => by.id), ...broken];
}

test('Slack takes every message, and its text can be read aloud', () => {
  always(({ key, message: { text, blocks } }) => {
    expect(mistakesIn(blocks, 'message')).toEqual([]);
    expect(() => checkMessageBlocks(blocks, (prefix) => prefix)).not.toThrow();
    expect(text.trim()).not.toBe('');
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(3000);
    expect(withoutIsolates(text).replaceAll('\n', '')).not.toMatch(/\p{Cc}|\p{Bidi_Control}/u);
    if (!key.endsWith('.instruction')) expect(text.split('\n').length).toBeLessThanOrEqual(6);
  });
});

test('nobody is mentioned but those whom an ending or a trouble concerns', () => {
  always(({ key, message: { text, blocks } }, thread) => {
    const allowed = concerned(key, thread);
    expect(allowed).toEqual(expect.arrayContaining(notifiedBy(text, blocks as unknown as Block[])));
    const ours = allowed
      .reduce((rest, id) => rest.replaceAll(`<@${id}>`, ''), text)
      .replace(/<!date\^\d+\^[^|<>]+\|[^|<>]+>/g, '');
    expect(ours).not.toMatch(/[<>]/);
  });
});

test('every button carries what its listener understands, and an ended thread has none to work on', () => {
  const { openPullRequest, followAgain, tryAgain, ...others } = agentActions;
  const ofEnded: string[] = [followAgain, tryAgain];
  const ours: string[] = [...ofEnded, ...Object.values(others)];
  always(({ key, message: { blocks } }, { id, state }) => {
    for (const { action_id: action, value } of [...buttonsIn(blocks), ...menuButtonsIn(blocks)]) {
      if (action === openPullRequest) continue;
      expect(state === 'ended' && key !== 'ephemeral' ? ofEnded : ours).toContain(action);
      expect(threadButton.parse(JSON.parse(value ?? '')).run).toBe(id);
    }
  });
});

test('however much waits, the message about a limit fits', () => {
  const waiting = Array.from({ length: 3000 }, (_, n) =>
    anInstruction({ id: `1789912860.${n}`, excerpt: '<'.repeat(500) }),
  );
  const limit = { n: 1, perHour: 100, untilMs: NOW_MS };
  for (const { message: shown } of threadMessages(aThread({ instructions: waiting, limit })))
    expect(mistakesIn(shown.blocks, 'message')).toEqual([]);
});

import { expect, test } from 'vitest';
import { ephemeralMessage } from '../../../../src/jobs/agent/thread/ephemeral-view.ts';
import type { Instruction } from '../../../../src/jobs/agent/thread/instruction.ts';
import type { Ephemeral, ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { anInstruction, aThread } from '../../../support/jobs/agent/builders.ts';
import { buttonsIn, primariesIn, reads } from '../../../support/slack/rendering.ts';

const anEphemeral = (kind: Ephemeral['kind'], changes: Partial<Ephemeral> = {}) =>
  ({ id: '1', to: 'U0ANA', kind, atMs: 0, ...changes }) as Ephemeral;
const says = (ephemeral: Ephemeral, changes: Partial<ThreadRun> = {}) =>
  reads(ephemeralMessage(aThread(changes), ephemeral));

test('asks whether a reply is for the agent', () => {
  const question = anEphemeral('question', {
    about: '1789912860.000200',
    excerpt: 'looks good, but what about v2?',
  });
  expect(says(question)).toBe(
    'Is this for the agent? "looks good, but what about v2?"\n[Send] [Not for the agent] [Always in this thread]',
  );
  const value = '{"v":1,"run":"3f9a1c2b4d5e6f708192a3b4","about":["1789912860.000200"],"attempt":1}';
  expect(buttonsIn(ephemeralMessage(aThread(), question).blocks).map((button) => button.value)).toEqual([
    value,
    value,
    value,
  ]);
  expect(primariesIn(ephemeralMessage(aThread(), question).blocks)).toEqual(['Send']);
});

const forAll = 'Your answer applies to all your held replies here.';

test.each<[string, Partial<ThreadRun>, string]>([
  ['somebody else', { owner: { id: 'U0BEN', name: 'ben' } }, `${forAll}\n[Send]`],
  ['an owner who is not alone', { crowd: true }, `${forAll}\n[Send]`],
  ['an owner, once the mode is another', { mode: 'all' }, `${forAll}\n[Send]`],
  ['an owner who is alone', {}, '[Send]'],
])('says what else the answer settles: %s', (_, changes, expected) => {
  expect(says(anEphemeral('question', { excerpt: 'Fix it' }), changes)).toContain(`"Fix it"\n${expected}`);
});

test('offers to count all later replies only where that is for a person to say', () => {
  const labels = (mode: ThreadRun['mode']) => says(anEphemeral('question'), { mode }).split('\n').at(-1);
  expect(labels('auto')).toContain('[Always in this thread]');
  expect(labels('all')).toBe('[Send] [Not for the agent]');
  expect(labels('mention')).toBe('[Send] [Not for the agent]');
});

test.each<[Ephemeral, string]>([
  [
    anEphemeral('files'),
    "I'll send the text. I can't pass files or previews of private messages on to the agent.",
  ],
  [anEphemeral('edited'), 'That was already sent. Reply with the correction instead.'],
  [
    anEphemeral('notPermitted', { about: '@docs-admins or @ben' }),
    "You can't instruct the docs agent here, so nothing was sent. Ask @docs-admins or @ben.",
  ],
  [
    anEphemeral('notPermitted'),
    "You can't instruct the docs agent here, so nothing was sent. Ask the people who run Docket.",
  ],
  [
    anEphemeral('tooEmpty'),
    "That has no text, so nothing was sent. Write what the agent should do; it can't get files.",
  ],
  [anEphemeral('followsAlready'), 'This thread follows job aj_3f9a…4a06. Type @Docket stop first.'],
  [
    anEphemeral('followsAlready', { about: 'aj_other' }),
    'This thread follows job aj_3f9a…4a06. Type @Docket stop first.',
  ],
  [anEphemeral('followsAlready', { about: 'aj_3f9a77bd04c24a06' }), 'This thread already follows that job.'],
  [anEphemeral('badFollow'), 'Which job? Write @Docket follow and its whole ID.'],
  [anEphemeral('lateMention'), 'I only read new replies. Write it again with @Docket.'],
  [
    anEphemeral('help'),
    [
      'Mention @Docket with what the agent should do, or with one of these:',
      '@Docket stop — stop following the job',
      '@Docket only when mentioned — ignore other replies',
      '@Docket all replies — every reply goes to the agent',
      '@Docket follow <job id> — follow another job, after a stop',
      'A reply that starts with "aside" never goes to the agent.',
    ].join('\n'),
  ],
])('tells one person: %j', (ephemeral, expected) => {
  expect(says(ephemeral)).toBe(expected);
});

test.each<[Instruction['state'], string]>([
  ['sending', 'It may already have reached the agent.'],
  ['unknown', 'It may already have reached the agent.'],
  ['working', 'That was already sent.'],
  ['over', 'That was already sent.'],
])('says of an edit that came late how sure that is: %s', (state, expected) => {
  const ephemeral = anEphemeral('edited', { about: '1789912860.000200' });
  expect(says(ephemeral, { instructions: [anInstruction({ state })] })).toBe(
    `${expected} Reply with the correction instead.`,
  );
});

test.each([
  [0, ''],
  [1, ' 1 instruction was not sent.'],
  [2, ' 2 instructions were not sent.'],
])('says to whoever stopped it what is lost: %i', (unsent, expected) => {
  const ended = { why: 'stopped' as const, unsent };
  expect(says(anEphemeral('stopped'), { state: 'ended', ended })).toBe(
    `I stopped following job aj_3f9a…4a06 here.${expected}`,
  );
});

test('names no job where none is made yet', () => {
  const { agentJobId: _, ...thread } = aThread();
  expect(reads(ephemeralMessage(thread, anEphemeral('followsAlready')))).toBe(
    'This thread follows a job that is being created. Type @Docket stop first.',
  );
});

test.each<[ThreadRun['mode'], string]>([
  ['mention', 'From now on, only replies that mention @Docket go to the agent.'],
  ['all', 'From now on, every reply goes to the agent, unless it starts with "aside".'],
  ['auto', 'From now on, replies go to the agent while only one person writes here. After that I ask first.'],
])('says what counts from now on: %s', (mode, expected) => {
  expect(says(anEphemeral('mode'), { mode })).toBe(expected);
  expect(says(anEphemeral('mode', { about: mode }))).toBe(expected);
});

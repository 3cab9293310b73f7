import { expect } from 'vitest';
import type { Call, Phase } from '../../../demo/wire.ts';
import { notified, plain, sees } from './reading.ts';
import type { Bot, World } from './world.ts';

/** A moment of an export: an outside call, before it took effect or after, its answer still unsent. */
export interface Moment {
  /** What the call is for, as `labelOf` says. */
  label: string;
  phase: Phase;
}

/** What an outside call is for; the same call of two runs has the same label. */
export function labelOf(call: Call, finished: boolean): string {
  const text = String(call.detail.text ?? '');
  const state = /— (.+)/.exec(text)?.[1];
  if (state !== undefined) return `${call.name} card ${state}`;
  if (text !== '') return `${call.name} ${text.split(' ')[0]}`;
  return call.name.startsWith('GET')
    ? `${call.name} ${finished ? 'at its end' : 'while it runs'}`
    : call.name;
}

export interface ExportStory {
  ending: 'done' | 'question';
  /** Whether the trouble happened. */
  struck: boolean;
}

/**
 * Ana asks for an export in #docs and, as a person would, asks again when she is told that it did not work. The
 * export stands at 42% until people see that, then it completes. Ends with the ending or the question.
 */
export async function tellStory(
  world: World,
  strike?: { moment: Moment; act: (bot: Bot) => Promise<void> },
): Promise<ExportStory> {
  const { slack, platform } = world;
  let finished = false;
  let struck = false;
  const failures: unknown[] = [];

  const onCall = async (call: Call, phase: Phase) => {
    if (strike === undefined || struck) return;
    if (labelOf(call, finished) !== strike.moment.label || phase !== strike.moment.phase) return;
    const bot = world.bots.find((candidate) => candidate.made(call));
    if (bot === undefined) return;
    struck = true;
    await strike.act(bot).catch((error: unknown) => failures.push(error));
  };
  slack.wire.onCall(onCall);
  platform.wire.onCall(onCall);

  const ana = slack.person('ana');
  for (;;) {
    await slack.until(() => world.bots.some((bot) => bot.running()), 60_000, 'a bot that runs');
    const answer = await ana.types('#docs', '/docs-export docs.acme.com');
    const told = answer.ephemeral === undefined ? '' : plain(slack.read(answer.ephemeral));
    if (answer.ok && told === '') break;
    if (answer.ok && told.startsWith('An export of docs.acme.com is')) break;
    if (answer.ok)
      expect(told).toMatch(
        /^(I can't keep track of work right now|My store stopped answering|Slack didn't tell me in time)/,
      );
  }

  const ending = await slack.until(
    () => {
      // A moment after the last call is still to come while that call is being answered.
      const answered = slack.wire.calls.every(({ outcome }) => outcome !== undefined);
      const texts = sees(world, '#docs');
      if (!finished && texts.some((text) => text.includes('42%'))) {
        finished = true;
        platform.finish('docs.acme.com');
      }
      if (texts.some((text) => text.startsWith('⚠️')) && texts[0]?.includes('— Start unclear'))
        return 'question';
      const all = ['— Done', 'Done · 12 pages', 'is ready'];
      return answered && all.every((part) => texts.some((text) => text.includes(part))) && 'done';
    },
    60_000,
    'an ending',
  );
  expect(failures).toEqual([]);
  return { ending, struck };
}

/** What must hold whatever happened: one start at most, each message once, one mention. */
export function expectNothingTwice(world: World, { ending }: ExportStory) {
  const { slack, platform } = world;
  const roles = slack.messages.map((message) => plain(slack.read(message)).split(/[ ·]/)[0]);
  expect(roles.toSorted()).toEqual(ending === 'done' ? ['Done', '✅', '📦'] : ['⚠️', '📦']);
  expect(platform.starts.length).toBeLessThanOrEqual(1);
  if (ending === 'done') expect(platform.starts).toHaveLength(1);
  expect(notified(world, 'ana')).toBe(1);
  const sent = platform.wire.calls.filter(({ name }) => name === 'POST /v1/static-export/jobs');
  expect(sent.length).toBeLessThanOrEqual(1);
}

/** Every outside call of an undisturbed export, each before and after. */
export async function momentsOfAnExport(world: World): Promise<Moment[]> {
  const labels = new Set<string>();
  const { slack, platform } = world;
  const known = () => platform.exports.values().some(({ status }) => status === 'completed');
  const onCall = (call: Call) => {
    if (call.name !== 'auth.test') labels.add(labelOf(call, known()));
  };
  slack.wire.onCall(onCall);
  platform.wire.onCall(onCall);
  const story = await tellStory(world);
  expectNothingTwice(world, story);
  return [...labels].flatMap((label) => [
    { label, phase: 'before' as const },
    { label, phase: 'after' as const },
  ]);
}

import { describe, expect, test } from 'vitest';
import { newLinkButton } from '../../../src/commands/link/buttons.ts';
import { type LinkRun, linkRun } from '../../../src/jobs/link/record.ts';
import { keys } from '../../../src/store/keys.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aCaller, ben } from '../../support/commands/builders.ts';
import { type CommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { aLinkRun } from '../../support/jobs/link/builders.ts';

let world: CommandWorld;
const redis = onFreshWorlds((fresh) => {
  world = fresh;
});

const click = ({ id, made }: LinkRun, caller = aCaller({ user: ben })) =>
  newLinkButton.run({ v: 1, run: id, made }, caller, world.tools);
const stored = ({ id }: LinkRun) => world.runs.load(id, linkRun);

test.each(['sent', 'over', 'failed'] as const)('has another link made of one that is %s', async (state) => {
  const run = await world.given(aLinkRun({ state, failures: 3 }));
  expect(await click(run)).toBeUndefined();
  expect(await stored(run)).toMatchObject({ state: 'making', made: 2, failures: 0, nextLookAtMs: NOW_MS });
  expect(world.woken).toEqual([run.id]);
});

test('clicked twice has one made', async () => {
  const run = await world.given(aLinkRun({ state: 'over' }));
  await Promise.all([click(run), click(run)]);
  await click(run);
  expect(await stored(run)).toMatchObject({ made: 2 });
});

test('a click on a button that was shown for an earlier link makes none', async () => {
  const run = await world.given(aLinkRun({ state: 'sent', made: 2 }));
  await click({ ...run, made: 1 });
  expect(await stored(run)).toMatchObject({ state: 'sent', made: 2 });
});

test('somebody else’s link is not theirs to renew', async () => {
  const run = await world.given(aLinkRun({ state: 'over' }));
  expect((await click(run, aCaller()))?.text).toMatch(/^This link isn't yours\./);
  expect(await stored(run)).toMatchObject({ state: 'over' });
});

test('a link that is forgotten says where to ask for a new one', async () => {
  expect((await click(aLinkRun()))?.text).toMatch(/^I no longer remember this link\./);
});

test('an old link, while a newer one is there, points to that one', async () => {
  const old = await world.given(aLinkRun({ state: 'over' }));
  await redis.client.set(keys.claim('c2b2'), 'newer');
  expect((await click(old))?.text).toBe('You have a newer link to this export: look for it here.');
  expect(await stored(old)).toMatchObject({ state: 'over' });
});

describe('on a run that changes under the click', () => {
  /** Somebody saves the run so many times, each time just after the click has read it. */
  const savedMeanwhile = (times: number) => {
    const { intake } = world.tools;
    let left = times;
    const loadVisible: typeof intake.loadVisible = async (id, kind, request) => {
      const found = await intake.loadVisible(id, kind, request);
      left -= 1;
      if (found.kind === 'found' && left >= 0) await world.runs.save(found.run);
      return found;
    };
    return { ...world.tools, intake: { ...intake, loadVisible } };
  };
  const clickWhile = (run: LinkRun, times: number) =>
    newLinkButton.run({ v: 1, run: run.id, made: run.made }, aCaller({ user: ben }), savedMeanwhile(times));

  test('it is tried again', async () => {
    const run = await world.given(aLinkRun({ state: 'sent' }));
    expect(await clickWhile(run, 4)).toBeUndefined();
    expect(await stored(run)).toMatchObject({ state: 'making', made: 2 });
  });

  test('and does not stop to, whoever clicked is answered', async () => {
    const run = await world.given(aLinkRun({ state: 'sent' }));
    expect((await clickWhile(run, 5))?.text).toMatch(/Click again\.$/);
    expect(await stored(run)).toMatchObject({ state: 'sent', made: 1 });
  });
});

test.each([
  ['sent', /^You have a newer link/],
  ['failed', /see the latest message/],
  ['over', /see the latest message/],
] as const)(
  'an old [Try again] says so where it was asked for again and is %s by now',
  async (state, text) => {
    const run = await world.given(aLinkRun({ state, made: 3 }));
    expect((await click({ ...run, made: 2 }))?.text).toMatch(text);
    expect(await stored(run)).toMatchObject({ state, made: 3 });
  },
);

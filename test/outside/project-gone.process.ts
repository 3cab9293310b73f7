import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { messageWith, plain, sees, until } from '../support/flows/reading.ts';
import { strikeAt } from '../support/flows/strike-at.ts';
import { createWorld, type World } from '../support/flows/world.ts';

const START = 'POST /v1/static-export/jobs';
const both = 'projects:\n  acme:\n    domains: [docs.acme.com]\n  beta:\n    domains: [docs.beta.com]\n';
const withoutAcme = 'projects:\n  beta:\n    domains: [docs.beta.com]\n';

let world: World;
beforeEach(async () => {
  world = await createWorld({ processes: true });
});
afterEach(() => world.close());

const ana = () => world.slack.person('ana');
const startCalls = () => world.platform.wire.calls.filter(({ name }) => name === START);

/** Ana asks again while Docket, which has just started, is too busy to learn who she is: nothing was started then. */
async function asksAndDies() {
  for (;;) {
    const { ephemeral } = await ana().types('#docs', '/docs-export docs.acme.com');
    if (!ephemeral || !world.slack.read(ephemeral).startsWith('Slack took too long')) break;
  }
  await world.slack.until(() => world.bots[0]?.running() === false, 10_000, 'the end of the bot');
}

test('a start whose answer was kept is found by a bot without the project, and watched once that is back', async () => {
  // The alias is the first thing written after what the platform answered.
  await world.startBot({ config: both, env: { TEST_KILL_BEFORE: '{docket}:alias:' } });
  await asksAndDies();
  const second = await world.startBot({ config: withoutAcme });
  await until(world, '#docs', [
    "🕒 Queued · requested TIME\nMy settings no longer have the project acme. I'll continue when it's back.\njob se_…\n[Check now] [⋯ Notify me too]",
  ]);
  expect(sees(world, '#docs').join('\n')).not.toContain('ot started');
  await second.kill();

  await world.startBot({ config: both });
  await vi.waitFor(async () => {
    await ana().clicks(messageWith(world, '[Check now]'), 'Check now');
    expect(sees(world, '#docs').join('\n')).toContain('42%');
  }, 15_000);
  world.platform.finish('docs.acme.com');
  await until(world, '#docs', [', took', '✅ Exported · docs.acme.com']);
  expect(startCalls()).toHaveLength(1);
});

test('a start whose answer nobody got is asked about by a bot without the project, and not told as not started', async () => {
  const first = await world.startBot({ config: both });
  const killed = strikeAt([world.platform], { call: START, phase: 'after' }, first.kill);
  await asksAndDies();
  await killed.done;
  await world.startBot({ config: withoutAcme });
  const texts = await until(world, '#docs', ['❔ @ana', '❔ Needs an answer · docs.acme.com']);
  expect(texts.join('\n')).toContain(
    'Did the export of docs.acme.com start?\nThe platform gave no clear answer. Look in its dashboard first.',
  );
  expect(texts.join('\n')).not.toContain('ot started');

  await ana().clicks(messageWith(world, '❔ @ana'), 'Start anyway');
  await until(world, '#docs', [
    'Not started · docs.acme.com\nMy settings no longer have the project acme. Ask your Docket admins.',
    '❌ Not started · docs.acme.com',
  ]);
  expect(startCalls()).toHaveLength(1);
});

test('one that was not yet started is told as not started', async () => {
  const first = await world.startBot({ config: both });
  world.platform.wire.order(START, { kind: 'answer', status: 429, headers: { 'retry-after': '2' } });
  await ana().types('#docs', '/docs-export docs.acme.com');
  await until(world, '#docs', ['limit is reached']);
  await first.kill();
  await world.startBot({ config: withoutAcme });
  const texts = await until(world, '#docs', ['❌ @ana', '❌ Not started · docs.acme.com']);
  expect(plain(texts.at(-1) ?? '')).toBe(
    '❌ @ana Not started · docs.acme.com\nMy settings no longer have the project acme. Ask your Docket admins.\nRequested by ana',
  );
  expect(startCalls()).toHaveLength(1);
});

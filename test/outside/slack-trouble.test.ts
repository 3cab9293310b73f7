import { describe, expect, test } from 'vitest';
import type { Call, Fault } from '../../demo/wire.ts';
import { messageWith, notified, plain, sees, until } from '../support/flows/reading.ts';
import { expectNothingTwice, labelOf, tellStory } from '../support/flows/trouble.ts';
import { createWorld, type World } from '../support/flows/world.ts';

const faults: Record<string, Fault> = {
  'answer lost before it took effect': { kind: 'reset', when: 'before' },
  'answer lost after it took effect': { kind: 'reset', when: 'after' },
  'no answer at all, before it took effect': { kind: 'hang', when: 'before' },
  'no answer at all, after it took effect': { kind: 'hang', when: 'after' },
  'an answer that is garbage, after it took effect': { kind: 'garbage', when: 'after' },
  '429 with Retry-After': {
    kind: 'answer',
    status: 429,
    headers: { 'retry-after': '1' },
    body: { ok: false, error: 'ratelimited' },
  },
  '429 without Retry-After': { kind: 'answer', status: 429, body: { ok: false, error: 'ratelimited' } },
  '503': { kind: 'answer', status: 503 },
  internal_error: { kind: 'answer', status: 200, body: { ok: false, error: 'internal_error' } },
};

const calls: Record<string, RegExp> = {
  'the card': /^chat.postMessage card/,
  'the progress': /^chat.postMessage (SITE: queued|Exporting)/,
  'the ending': /^chat.postMessage ending/,
  "the card's edit": /^chat.update card/,
  "the progress' deletion": /^chat.delete$/,
};

const is = (label: RegExp | undefined) => (call: Call) => label?.test(labelOf(call, false)) === true;

const all = Object.keys(calls).flatMap((what) => Object.keys(faults).map((fault) => ({ what, fault })));

async function story({ what, fault }: { what: string; fault: string }, bots: number) {
  const world = await createWorld();
  for (let started = 0; started < bots; started += 1) await world.startBot();
  const ordered = faults[fault];
  if (ordered === undefined) throw new Error(fault);
  world.slack.wire.order(is(calls[what]), ordered);
  const told = await tellStory(world);
  expectNothingTwice(world, told);
  expect(told.ending).toBe('done');
  expect(world.slack.wire.waiting).toBe(0);
  await world.close();
}

describe.concurrent('one bot', () => {
  test.for(all)('$what: $fault', (trouble) => story(trouble, 1));
});

describe.concurrent('two bots', () => {
  test.for(all.filter(({ fault }) => fault.includes('after it took effect')))('$what: $fault', (trouble) =>
    story(trouble, 2),
  );
});

async function withExport(run: (world: World) => Promise<void>) {
  const world = await createWorld();
  await world.startBot();
  await world.slack.person('ana').types('#docs', '/docs-export docs.acme.com');
  await until(world, '#docs', ['42%', '⏳ Exporting · docs.acme.com']);
  await run(world);
  await world.close();
}

describe('message_not_found on an edit', () => {
  test('a card that somebody deleted is posted once more with its last state', () =>
    withExport(async (world) => {
      const card = messageWith(world, 'Requested by');
      world.slack.workspace.remove(card);
      world.platform.finish('docs.acme.com');
      await until(world, '#docs', ['✅ Exported · docs.acme.com', ', took']);
      const cards = world.slack.messages.filter(
        ({ deleted, threadTs }) => !deleted && threadTs === undefined,
      );
      expect(cards.map((message) => plain(world.slack.read(message)).split('\n')[0])).toEqual([
        '✅ Exported · docs.acme.com · 12 pages',
      ]);
    }));

  test('deleted progress is not posted again', () =>
    withExport(async (world) => {
      world.slack.workspace.remove(messageWith(world, '42%'));
      world.platform.hold('docs.acme.com', 0.8);
      await world.slack.until(() =>
        world.slack.wire.calls.some(({ detail }) => String(detail.text).includes('80 percent')),
      );
      const live = () => sees(world, '#docs').filter((text) => !/\nRequested by ana($|\n)/.test(text));
      expect(live()).toEqual([]);
      world.platform.finish('docs.acme.com');
      await until(world, '#docs', [', took', '✅ Exported · docs.acme.com']);
      await expect.poll(live).toHaveLength(1);
    }));
});

describe('invalid_blocks', () => {
  test.for(['the card', 'the progress', 'the ending', "the card's edit"])(
    '%s: the text alone, once, with its link',
    async (what) => {
      const world = await createWorld();
      await world.startBot();
      const refused = { kind: 'answer', status: 200, body: { ok: false, error: 'invalid_blocks' } } as const;
      world.slack.wire.order(
        (call) => is(calls[what])(call) && JSON.stringify(call.detail).includes('rich_text'),
        refused,
        100,
      );
      const story = await tellStory(world);
      expectNothingTwice(world, story);
      if (what === 'the ending') {
        const { text, blocks } = messageWith(world, ', took');
        expect(blocks).toEqual([]);
        const link = /<(http[^|>]+)\|Download>/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? '';
        expect((await fetch(link)).status).toBe(200);
      }
      await world.close();
    },
  );
});

test('a Slack that is away when the bot starts: requests are answered, and all is well once it is back', async () => {
  const world = await createWorld();
  world.slack.wire.order('auth.test', { kind: 'answer', status: 503 }, 3);
  await world.startBot();
  const answer = await world.slack.person('ana').types('#docs', '/docs-export docs.acme.com');
  expect(answer.ephemeral?.text).toContain("I can't reach Slack's API right now, so nothing was started.");
  await world.slack.until(
    () => world.slack.wire.calls.filter(({ name }) => name === 'auth.test').length === 4,
  );
  await expect
    .poll(
      async () =>
        (await world.slack.person('ana').types('#docs', '/docs-export docs.acme.com')).ephemeral?.text ?? '',
    )
    .not.toContain("can't reach Slack");
  await until(world, '#docs', ['42%']);
  expect(notified(world, 'ana')).toBe(0);
  await world.close();
});

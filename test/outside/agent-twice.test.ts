import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { SentMessage } from '../../demo/slack/workspace.ts';
import { agentsOn } from '../support/flows/agent-stage.ts';
import { stage } from '../support/flows/stage.ts';

const folder = new URL('../fixtures/slack-messages/', import.meta.url);

/** Recorded events that no person wrote, or that are about other messages. */
const NOT_WRITTEN = ['own-edit', 'own-post', 'line-of-slack', 'unfurled', 'deleted', 'deleted-with-replies'];

describe('in a followed thread', () => {
  const scene = stage();
  const { person } = scene;
  const { follows, plan, finish, replies, reacted, sent, untilBelow, below, notes } = agentsOn(scene);

  /** The newest event of this type about a message. */
  const eventOf = (type: string, { ts }: SentMessage) =>
    scene.slack.events.findLast(({ event }) => event.type === type && event.ts === ts);

  /** A recorded event as if it had come from this thread. */
  function recorded(name: string, root: SentMessage): Record<string, unknown> {
    const text = readFileSync(new URL(`${name}.json`, folder), 'utf8')
      .replaceAll('C0DOCS', root.channel)
      .replaceAll('1789904000.000100', root.ts);
    return JSON.parse(text).event;
  }

  /** What is written last proves that all before it was heard. */
  async function endsWith(root: SentMessage, before: string[]) {
    await replies(root, 'this is the last word');
    expect(await sent(before.length + 1)).toEqual([...before, 'this is the last word']);
  }

  test('a mention comes as two events, and is one instruction', async () => {
    const { card: root } = await follows();
    const reply = await replies(root, '@Docket add a diagram');
    expect(eventOf('message', reply)?.accepted).toBe(true);
    expect(eventOf('app_mention', reply)?.accepted).toBe(true);
    await endsWith(root, ['add a diagram']);
  });

  test('a repeat of an event is not a second instruction, whatever its id, also when all is over', async () => {
    const { jobId, card: root } = await follows();
    plan(jobId);
    const reply = await replies(root, '@Docket add a diagram');
    const told = eventOf('message', reply);
    const again = async () => {
      expect(await scene.slack.resend(told?.request)).toMatchObject({ ok: true });
      for (const options of [{}, { eventId: told?.eventId ?? '' }])
        expect(await scene.slack.sendEvent(told?.event ?? {}, options)).toMatchObject({ accepted: true });
    };
    await again();
    await untilBelow(root, '⏳');
    await again();
    finish(jobId, 'no_pr');
    await untilBelow(root, '➖ @');
    await again();
    await endsWith(root, ['add a diagram']);
    expect(below(root).filter((text) => text.includes('➖ @'))).toHaveLength(1);
  });

  test('repeats at once are one instruction', async () => {
    const { card: root } = await follows();
    const reply = await replies(root, 'add one diagram');
    const told = eventOf('message', reply);
    await Promise.all([1, 2, 3, 4, 5].map(() => scene.slack.sendEvent(told?.event ?? {})));
    await endsWith(root, ['add one diagram']);
  });

  test('a repeat of a deletion or of an edit changes nothing more', async () => {
    const { card: root } = await follows();
    const held = await replies(root, 'hold on a moment', { who: 'ben' });
    await reacted(held, 'double_vertical_bar');
    await person('ben').edits(held, '@Docket go on, please');
    await sent(1);
    const edit = scene.slack.events.findLast(({ event }) => event.subtype === 'message_changed');
    await scene.slack.sendEvent(edit?.event ?? {});
    await replies(root, '@Docket the last word');
    expect(await sent(2)).toEqual(['go on, please', 'the last word']);
    expect(notes('ben').filter((text) => text.includes('already has this'))).toEqual([]);
  });

  test("Docket's own messages and edits, Slack's lines, previews and joins are no instructions", async () => {
    const { jobId, card: root } = await follows();
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(NOT_WRITTEN.map((name) => `${name}.json`)));
    for (const name of NOT_WRITTEN) await scene.slack.sendEvent(recorded(name, root));
    const line = { type: 'message', channel: root.channel, thread_ts: root.ts, channel_type: 'channel' };
    for (const [index, special] of [
      { subtype: 'channel_join', user: 'U0ANA', text: '<@U0ANA> has joined the channel' },
      { subtype: 'channel_topic', user: 'U0ANA', text: 'set the channel topic: docs' },
      { subtype: 'bot_message', bot_id: 'B0OTHER', text: 'Build 12 of the docs is green' },
      { user: 'U0ROBOT', bot_id: 'B0OTHER', text: '<@U0DOCKET> build 13 is green' },
      { user: 'USLACKBOT', text: 'Reminder: review the quickstart' },
      { subtype: 'message_replied', hidden: true, user: 'U0ANA', text: 'a thread got a reply' },
    ].entries())
      await scene.slack.sendEvent({ ...line, ...special, ts: `${Number(root.ts).toFixed(0)}.90000${index}` });
    plan(jobId);
    await endsWith(root, []);
    await untilBelow(root, '⏳');
    expect(notes('ana')).toEqual([]);
    await person('ana').reacts(root, 'tada');
    finish(jobId, 'new_pr');
    await untilBelow(root, '✅ @');
    await endsWith(root, ['this is the last word']);
  });

  test('what a recorded person wrote counts', async () => {
    const { card: root } = await follows();
    await scene.slack.sendEvent(recorded('thread-broadcast', root));
    expect(await sent(1)).toEqual(['Everybody should see this']);
    await scene.slack.sendEvent({ ...recorded('file-share', root), ts: '1789905000.000300' });
    expect(await sent(2)).toEqual(['Everybody should see this', 'The new diagram']);
  });
});

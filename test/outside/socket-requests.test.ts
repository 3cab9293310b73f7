import { describe, expect, test } from 'vitest';
import { agentsOn } from '../support/flows/agent-stage.ts';
import { stage } from '../support/flows/stage.ts';
import { statusDetails } from '../support/flows/status.ts';

/** What Slack calls the envelope of a request. */
type Envelope = 'slash_commands' | 'interactive' | 'events_api';

/** All else is tested over HTTP alone: the way of a request ends before anybody reads it. */
describe('over a socket', () => {
  const scene = stage({ transport: 'socket' });
  const { asks, told, toldLast, person, clicks, until } = scene;
  const { follows, replies, reacted, takes, sent, instructions, note, clicksNote, read, untilBelow } =
    agentsOn(scene);
  const ana = () => person('ana');

  async function exported() {
    await asks();
    await until(['42%']);
    scene.platform.finish('docs.acme.com');
    await until(['is exported', '✅ docs.acme.com exported']);
  }

  test.for<[string, Envelope, () => Promise<void>]>([
    [
      'a command that is answered in its acknowledgement',
      'slash_commands',
      async () => {
        const answer = await asks('/docs-export help');
        expect(answer.ephemeral).toMatchObject({ via: 'ack' });
        expect(told(answer)).toContain('/docs-export');
      },
    ],
    ['a command that starts work', 'slash_commands', exported],
    [
      'a command that is sent twice',
      'slash_commands',
      async () => {
        await asks();
        expect(await scene.slack.resend()).toMatchObject({ ok: true });
        await until(['42%']);
        expect(scene.platform.starts).toHaveLength(1);
      },
    ],
    [
      'a button of a message',
      'interactive',
      async () => {
        await exported();
        await clicks('ana', 'is exported', 'New link');
        await until(['The link works until']);
        expect(await scene.audit()).toContainEqual(expect.stringMatching(/^ana export\.new_link/));
      },
    ],
    [
      'a button of a private answer, which is answered privately',
      'interactive',
      async () => {
        await asks();
        await until(['42%']);
        await asks('/docs-export docs.acme.com', { who: 'ben' });
        const last = scene.slack.ephemerals.at(-1);
        if (last) await person('ben').clicks(last, 'Start another');
        await scene.slack.until(() => scene.platform.starts.length === 2);
      },
    ],
    [
      'a button that is a link',
      'interactive',
      async () => {
        await exported();
        expect(await clicks('ana', 'is exported', 'Download bundle')).toMatchObject({ ok: true });
      },
    ],
    [
      'a button whose click is refused',
      'interactive',
      async () => {
        await exported();
        await clicks('gus', 'is exported', 'New link');
        expect(toldLast('gus')).toContain("You can't start exports here");
        expect(scene.slack.ephemerals.at(-1)).toMatchObject({ via: 'chat.postEphemeral' });
      },
    ],
    [
      'a modal with problems at its fields, mended and submitted',
      'interactive',
      async () => {
        await asks('/docs-export');
        await ana().submits({ Domain: 'localhost' });
        expect(ana().fields()[0]?.error).toBe("localhost isn't a host name. Type it like docs.acme.com.");
        await ana().submits({ Domain: 'docs.acme.com' });
        expect(ana().modal()).toBeUndefined();
        await until(['42%']);
      },
    ],
    [
      'a modal that is answered with another',
      'interactive',
      async () => {
        await asks('/docs-export');
        await scene.world.redis.kill();
        await ana().submits({ Domain: 'docs.acme.com' });
        expect(ana().reads(ana().modal())).toContain("I can't keep track of work right now");
        await scene.world.redis.start();
        // The next request must not come before the bot has found it.
        const ready = async () =>
          (await fetch(`http://127.0.0.1:${scene.world.bots.at(-1)?.port}/readyz`)).json();
        await expect.poll(ready).toMatchObject({ parts: { redis: 'up' } });
      },
    ],
    [
      'a shortcut on a message',
      'interactive',
      async () => {
        const message = await person('ben').says('#docs', 'The limits are not documented');
        await ana().usesShortcut('Send to the docs agent', message);
        await ana().submits();
        await untilBelow(message, 'The agent opened a pull request for "The limits are not documented"');
      },
    ],
    [
      'a shortcut that is refused',
      'interactive',
      async () => {
        await follows();
        const message = await person('ben').says('#docs', 'The limits are not documented');
        await person('gus').usesShortcut('Send to the docs agent', message);
        await scene.slack.until(() => toldLast('gus'));
        expect(toldLast('gus')).toContain("You can't");
      },
    ],
    [
      'a reply in a followed thread, and a mention, which comes as two events',
      'events_api',
      async () => {
        const { card: root } = await follows();
        await takes(await replies(root, 'Add a diagram'));
        await replies(root, '@Docket and a table', { who: 'ben' });
        expect(await sent(2)).toEqual(['Add a diagram', 'and a table']);
      },
    ],
    [
      'an edit of a reply, and a deletion',
      'events_api',
      async () => {
        const { card: root } = await follows();
        const held = await replies(root, 'use more exmaples', { who: 'ben' });
        await reacted(held, 'double_vertical_bar');
        const deleted = await replies(root, 'what an odd paragraph', { who: 'ben' });
        await reacted(deleted, 'double_vertical_bar');
        await person('ben').deletes(deleted);
        await until(['1 reply held']);
        await person('ben').edits(held, 'use more examples');
        await clicksNote('ben', 'Is this for the agent?', 'Send');
        expect(await sent(1)).toEqual(['use more examples']);
      },
    ],
    [
      'a mention outside of any thread',
      'events_api',
      async () => {
        await ana().says('#docs', '@Docket help');
        expect(read(await note('ana', 'agent'))).not.toBe('');
        expect(instructions()).toEqual([]);
      },
    ],
    [
      'an opened Home',
      'events_api',
      async () => {
        await ana().opensHome();
        await scene.slack.until(() => ana().home());
      },
    ],
  ])('%s', async ([, type, play]) => {
    const before = scene.slack.sockets.envelopes.length;
    await play();
    const own = scene.slack.sockets.envelopes.slice(before).filter((envelope) => envelope.type === type);
    expect(own.length).toBeGreaterThan(0);
    await scene.slack.until(() => own.every(({ outcome }) => outcome === 'acknowledged'));
  });

  test('/docs-status says that the socket is connected', async () => {
    expect(await statusDetails(scene)).toContain('Slack — answering, last seen TIME · socket connected');
  });
});

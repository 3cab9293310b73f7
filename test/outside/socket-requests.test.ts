import { describe, expect, test } from 'vitest';
import { agentsOn } from '../support/flows/agent-stage.ts';
import { stage } from '../support/flows/stage.ts';
import { statusDetails } from '../support/flows/status.ts';

/** What Slack calls the envelope of a request. */
type Envelope = 'slash_commands' | 'interactive' | 'events_api';

/** All else is tested over HTTP alone: the way of a request ends before anybody reads it. */
describe('over a socket', () => {
  const scene = stage({ transport: 'socket' });
  const { asks, exporting, told, person, clicks, until } = scene;
  const { follows, replies, takes, sent, untilBelow } = agentsOn(scene);
  const ana = () => person('ana');

  async function exported() {
    await exporting();
    scene.platform.finish('docs.acme.com');
    await until([', took', '✅ Exported · docs.acme.com']);
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
      'a button of a message',
      'interactive',
      async () => {
        await exported();
        await clicks('ana', ', took', 'New link');
        await until(['the link works until']);
        expect(await scene.audit()).toContainEqual(expect.stringMatching(/^ana export\.new_link/));
      },
    ],
    [
      'a button of a private answer, which is answered privately',
      'interactive',
      async () => {
        await exporting();
        await asks('/docs-export docs.acme.com', { who: 'ben' });
        const last = scene.slack.ephemerals.at(-1);
        if (last) await person('ben').clicks(last, 'Start another');
        await scene.slack.until(() => scene.platform.starts.length === 2);
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
      'a shortcut on a message',
      'interactive',
      async () => {
        const message = await person('ben').says('#docs', 'The limits are not documented');
        await ana().usesShortcut('Send to the docs agent', message);
        await ana().submits();
        await untilBelow(message, 'For "The limits are not documented" · requested by ana');
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

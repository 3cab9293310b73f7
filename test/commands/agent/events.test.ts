import { describe, expect, test } from 'vitest';
import { createOwnPostStore } from '../../../src/store/own-posts.ts';
import { aMessage, aReply, changed, eventsForTests, ROOT } from '../../support/commands/events.ts';
import { aThread } from '../../support/jobs/agent/builders.ts';

const events = eventsForTests();
const { redis, hear, mentions, nothingKept } = events;

describe('in a followed thread', () => {
  test('a reply is kept for its run, as small as can be, which is woken at once', async () => {
    const thread = await events.world.followed(aThread());
    await hear(aReply({ blocks: [], client_msg_id: 'x', reactions: [] }));
    expect(await events.world.inbox(thread)).toEqual([
      {
        kind: 'reply',
        channel: 'C0DOCS',
        ts: '1789912900.000200',
        user: 'U0BEN',
        external: false,
        mentionsBot: false,
        mentionsOthers: false,
        content: { text: 'Also the api', blocks: [] },
        files: false,
      },
    ]);
    expect(events.world.woken).toEqual([thread.id]);
  });

  test('sent again, and as an app mention too, it is kept once', async () => {
    const thread = await events.world.followed(aThread());
    const reply = aReply({ text: '<@U0BOT> Also the api' });
    await hear(reply);
    await hear({ ...reply, type: 'app_mention' });
    await hear(reply);
    expect(await events.world.inbox(thread)).toHaveLength(1);
    expect(await mentions()).toEqual([]);
  });

  test('each edit is kept once, and a deletion', async () => {
    const thread = await events.world.followed(aThread());
    await hear(changed(aReply({ text: 'Not the api' }), '5.1'));
    await hear(changed(aReply({ text: 'Not the api' }), '5.1'));
    await hear(changed(aReply({ text: 'Only the api' }), '5.2'));
    await hear({
      type: 'message',
      subtype: 'message_deleted',
      channel: 'C0DOCS',
      deleted_ts: '1789912900.000200',
      previous_message: aReply(),
    });
    expect(await events.world.inbox(thread)).toMatchObject([
      { kind: 'edited', content: { text: 'Not the api' } },
      { kind: 'edited', content: { text: 'Only the api' } },
      { kind: 'deleted', channel: 'C0DOCS', ts: '1789912900.000200' },
    ]);
  });

  test('the text of a new follow is for the thread', async () => {
    const thread = await events.world.followed(aThread());
    await hear(aReply({ text: '<@U0BOT> follow job_2' }));
    expect(await events.world.inbox(thread)).toHaveLength(1);
    expect(await events.world.threadRuns()).toHaveLength(1);
  });

  test('what is kept counts, also when no worker can be woken', async () => {
    const thread = await events.world.followed(aThread());
    await hear(aReply(), { enqueue: () => Promise.reject(new Error('away')) });
    expect(await events.world.inbox(thread)).toHaveLength(1);
    expect(events.kept.text()).toContain('the sweeper does it');
  });
});

describe('an export of a site, in a followed thread too,', () => {
  test('is offered to whoever asked, and not sent to the agent', async () => {
    const thread = await events.world.followed(aThread());
    const event = aReply({ text: '<@U0BOT> export <http://docs.acme.com|docs.acme.com>' });
    await hear(event);
    await hear({ ...event, type: 'app_mention' });
    expect(await events.world.inbox(thread)).toEqual([]);
    expect(await mentions()).toMatchObject([{ threadTs: ROOT, early: false }]);
  });

  test.each(['export docs.acme.com', '<@U0BOT> export changelog'])(
    'but %j is for the agent',
    async (text) => {
      const thread = await events.world.followed(aThread());
      await hear(aReply({ text }));
      expect(await events.world.inbox(thread)).toHaveLength(1);
      expect(await mentions()).toEqual([]);
    },
  );
});

describe('elsewhere', () => {
  test.each<[string, object]>([
    ['a reply', aReply()],
    ['a reply under a message of ours', aReply({ parent_user_id: 'U0BOT' })],
    ['a message', aMessage()],
    ['an edit that mentions the app', changed(aReply({ text: '<@U0BOT> go' }), '5.1')],
    ['an aside to the app', aReply({ text: '<@U0BOT> aside: not you' })],
    ['a reply in direct messages', aReply({ channel: 'D1' })],
    ['what a bot wrote', aMessage({ text: '<@U0BOT> go', bot_id: 'B1' })],
  ])('%s comes to nothing', async (_, event) => {
    await hear(event);
    await nothingKept();
  });

  test('what is ignored leaves why in the log', async () => {
    await hear(aMessage({ bot_id: 'B1' }));
    expect(events.kept.text()).toContain('from a bot');
  });

  test('a reply under a message of ours waits for the run that may come to follow it', async () => {
    await hear(aReply({ parent_user_id: 'U0BOT' }));
    const thread = await events.world.followed(aThread());
    expect(await events.world.inbox(thread)).toMatchObject([{ content: { text: 'Also the api' } }]);
  });

  test.each<[string, object]>([
    ['a reply', aReply({ parent_user_id: undefined })],
    [
      'one that is also sent to the channel',
      aReply({ parent_user_id: undefined, subtype: 'thread_broadcast', root: { ts: ROOT, bot_id: 'B0' } }),
    ],
  ])('%s that does not say what it answers waits under a message that we posted', async (_, event) => {
    const posts = createOwnPostStore(redis.client);
    const other = { ...event, thread_ts: '1789912700.000100' };
    await hear(other);
    // Before Slack's answer says which message is ours, any may be.
    await posts.markPosting('T0ACME', 'C0DOCS', 'card');
    await hear(event);
    await posts.markPosted('T0ACME', 'C0DOCS', 'card', ROOT);
    await hear({ ...event, ts: '1789912901.000200' });
    await hear({ ...other, ts: '1789912902.000200' });
    const thread = await events.world.followed(aThread());
    expect(await events.world.inbox(thread)).toMatchObject([
      { ts: '1789912900.000200' },
      { ts: '1789912901.000200' },
    ]);
    const elsewhere = { channel: 'C0DOCS', rootTs: '1789912700.000100' };
    expect(
      await events.world.inbox(await events.world.followed(aThread({ id: 'other', place: elsewhere }))),
    ).toEqual([]);
  });

  test.each<[string, object, object]>([
    ['a mention', aMessage({ text: '<@U0BOT> go' }), { early: false }],
    ['a mention in a thread', aReply({ text: '<@U0BOT> go' }), { threadTs: ROOT, early: false }],
    [
      'a mention under a message of ours',
      aReply({ text: '<@U0BOT> go', parent_user_id: 'U0BOT' }),
      { threadTs: ROOT, early: true },
    ],
    ['a word about threads', aMessage({ text: '<@U0BOT> stop' }), { early: false }],
    ['a direct message', aMessage({ channel: 'D1' }), { early: false }],
  ])('%s is answered, once for both of its events', async (_, event, what) => {
    await hear(event);
    await hear({ ...event, type: 'app_mention' });
    const [mention, ...more] = await mentions();
    expect(more).toEqual([]);
    expect(mention).toMatchObject({ ...what, botUserId: 'U0BOT', reply: { user: 'U0BEN' } });
    expect(events.world.woken).toEqual([mention?.id]);
    expect(await events.world.threadRuns()).toEqual([]);
  });
});

describe('rejects, so that Slack sends it again,', () => {
  test('while a reply or a mention cannot be kept', async () => {
    const away = () => Promise.reject(new Error('away'));
    await expect(
      hear(aReply(), { threads: { ...events.world.threads, appendToThread: away } }),
    ).rejects.toThrow('away');
    const mention = aMessage({ text: '<@U0BOT> go' });
    await expect(hear(mention, { runs: { ...events.world.runs, accept: away } })).rejects.toThrow('away');
    await nothingKept();
  });
});

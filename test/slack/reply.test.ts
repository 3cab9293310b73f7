import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Reply, readReply } from '../../src/slack/reply.ts';

type Fields = Record<string, unknown>;
interface Body extends Fields {
  event: Fields;
}

const sent = (name: string): Body =>
  JSON.parse(readFileSync(new URL(`../fixtures/slack-messages/${name}.json`, import.meta.url), 'utf8'));
const own = { botUserId: 'U0DOCKET', teamId: 'T0ACME' };
const read = (body: Body, ofGrid = own) => readReply(body.event, body, ofGrid);
/** The same message with other fields in its event. */
const changed = (name: string, event: Fields, envelope: Fields = {}) => {
  const body = sent(name);
  return read({ ...body, ...envelope, event: { ...body.event, ...event } });
};
/** The same change with other fields in the message as it is now. */
const changedTo = (name: string, message: Fields) =>
  changed(name, { message: { ...(sent(name).event.message as Fields), ...message } });

const ignored = (why: string) => ({ kind: 'ignored', why });

describe('a reply', () => {
  test('says who wrote what where', () => {
    const { text, blocks } = sent('mention').event;
    expect(read(sent('mention'))).toEqual({
      kind: 'reply',
      channel: 'C0DOCS',
      ts: '1789905000.000200',
      threadTs: '1789904000.000100',
      parentUser: 'U0DOCKET',
      user: 'U0ANA',
      external: false,
      mentionsBot: true,
      mentionsOthers: true,
      content: { text, blocks },
      files: false,
    });
  });

  test('that mentions the bot arrives as two events which read the same', () => {
    expect(read(sent('mention-as-app-mention'))).toEqual(read(sent('mention')));
  });

  test('with files says so', () => {
    expect(read(sent('file-share'))).toMatchObject({ kind: 'reply', files: true });
  });

  test('that was also sent to the channel says so', () => {
    expect(read(sent('thread-broadcast'))).toMatchObject({
      kind: 'reply',
      threadTs: '1789904000.000100',
    });
  });

  test('by /me counts', () => {
    expect(changed('formatted', { subtype: 'me_message' })).toMatchObject({ kind: 'reply' });
  });

  test('that begins a thread is in none', () => {
    expect(changed('formatted', { thread_ts: '1789905000.000200' })).not.toHaveProperty('threadTs');
    expect(changed('formatted', { thread_ts: undefined })).not.toHaveProperty('threadTs');
  });

  test.each([
    ['nobody', 'look here', false, false],
    ['the bot', '<@U0DOCKET> look', true, false],
    ['its author', '<@U0ANA> look', false, false],
    ['somebody else', '<@U0BEN> look', false, true],
    ['a user group', '<!subteam^S0ADMIN> look', false, true],
    ['everybody', '<!here> look', false, true],
    ['the bot and somebody else', '<@U0DOCKET> <@U0BEN>', true, true],
    ['only seemingly somebody', '&lt;@U0BEN&gt; @ben', false, false],
  ])('that mentions %s', (_, text, mentionsBot, mentionsOthers) => {
    expect(changed('formatted', { text, blocks: undefined })).toMatchObject({ mentionsBot, mentionsOthers });
  });
});

describe('whether a person is from another organization', () => {
  const envelope = { is_ext_shared_channel: true };

  test('their workspace tells', () => {
    expect(read(sent('from-another-organization'))).toMatchObject({ external: true });
    expect(changed('formatted', {}, envelope)).toMatchObject({ external: false });
  });

  test('one foreign workspace among those that Slack names is enough', () => {
    expect(changed('formatted', { source_team: 'T0OTHER' }, envelope)).toMatchObject({ external: true });
  });

  test('without any workspace it counts as so where the channel is shared, or may be', () => {
    expect(changed('formatted', { team: undefined }, envelope)).toMatchObject({ external: true });
    expect(changed('formatted', { team: undefined })).toMatchObject({ external: false });
    const unsaid = { is_ext_shared_channel: undefined };
    expect(changed('formatted', { team: undefined }, unsaid)).toMatchObject({ external: true });
  });

  test('nothing around the message tells of its author', () => {
    const ours = { team_id: 'T0ACME', enterprise_id: 'E0ACME', user_id: 'U0DOCKET', is_bot: true };
    const grid = { ...own, enterpriseId: 'E0ACME' };
    const around = {
      ...envelope,
      team_id: 'T0ACME',
      context_team_id: 'T0ACME',
      enterprise_id: 'E0ACME',
      context_enterprise_id: 'E0ACME',
      authorizations: [ours],
    };
    const stranger = sent('from-another-organization');
    expect(read({ ...stranger, ...around }, grid)).toMatchObject({ external: true });
    const { team: _, user_team: __, source_team: ___, ...nowhere } = stranger.event;
    expect(read({ ...stranger, ...around, event: nowhere }, grid)).toMatchObject({ external: true });
    const elsewhere = { ...around, team_id: 'T0OTHER', context_team_id: 'T0OTHER', authorizations: [] };
    expect(changed('formatted', {}, elsewhere)).toMatchObject({ external: false });
  });

  test('of the same Enterprise Grid is whoever has its id, where ours is known', () => {
    const grid = { ...own, enterpriseId: 'E0ACME' };
    const by = (team: string, ofGrid = grid) =>
      read({ ...sent('formatted'), ...envelope, event: { ...sent('formatted').event, team } }, ofGrid);
    expect(by('E0ACME')).toMatchObject({ external: false });
    expect(by('E0OTHER')).toMatchObject({ external: true });
    expect(by('T0SISTER')).toMatchObject({ external: true });
    expect(by('E0ACME', own as typeof grid)).toMatchObject({ external: true });
  });

  test('nobody is so in a channel that is not shared, as in a Grid of several workspaces', () => {
    expect(changed('formatted', { team: 'T0OTHER' })).toMatchObject({ external: false });
  });

  test('it is so when Slack does not say whether the channel is shared, and the workspaces differ', () => {
    const unsaid = { is_ext_shared_channel: undefined };
    expect(changed('formatted', { team: 'T0OTHER' }, unsaid)).toMatchObject({ external: true });
  });
});

describe('an edit', () => {
  test('by a person tells the message as it is now', () => {
    const body = sent('edited');
    const { text, blocks } = body.event.message as Fields;
    expect(read(body)).toMatchObject({
      kind: 'edited',
      editedTs: '1789905100.000000',
      channel: 'C0DOCS',
      ts: '1789905000.000200',
      threadTs: '1789904000.000100',
      user: 'U0ANA',
      external: false,
      content: { text, blocks },
    });
  });

  test('is none when only a preview came or went, also after an edit', () => {
    expect(read(sent('unfurled'))).toEqual(ignored('not edited'));
    const edited = { edited: { user: 'U0ANA', ts: '1' } };
    const { message, previous_message: previous } = sent('unfurled').event as Record<string, Fields>;
    const event = { message: { ...message, ...edited }, previous_message: { ...previous, ...edited } };
    expect(changed('unfurled', event)).toEqual(ignored('not edited'));
  });

  test('by a bot is none', () => {
    expect(read(sent('own-edit'))).toEqual(ignored('our own'));
    expect(changedTo('own-edit', { user: 'U0OTHERBOT' })).toEqual(ignored('from a bot'));
    expect(changedTo('edited', { edited: { user: 'B0OTHER', ts: '1' } })).toEqual(
      ignored('not edited by a person'),
    );
    expect(changedTo('edited', { edited: { user: 'U0DOCKET', ts: '1' } })).toEqual(
      ignored('not edited by a person'),
    );
  });

  test('counts when Slack does not tell what was there before', () => {
    expect(changed('edited', { previous_message: undefined })).toMatchObject({ kind: 'edited' });
  });
});

describe('a deletion', () => {
  test('names the message', () => {
    expect(read(sent('deleted'))).toEqual({
      kind: 'deleted',
      channel: 'C0DOCS',
      ts: '1789905000.000200',
      threadTs: '1789904000.000100',
      parentUser: 'U0DOCKET',
    });
  });

  test('of a message with replies comes as an edit', () => {
    expect(read(sent('deleted-with-replies'))).toEqual({
      kind: 'deleted',
      channel: 'C0DOCS',
      ts: '1789904000.000100',
    });
  });

  test('of what a bot posted is none of ours', () => {
    const previous_message = sent('own-post').event;
    expect(changed('deleted', { previous_message })).toEqual(ignored('our own'));
  });
});

describe('ignored', () => {
  test.each<[string, () => Reply, string]>([
    ['what Docket posts', () => read(sent('own-post')), 'our own'],
    ['what other bots post', () => changed('own-post', { user: 'U0OTHERBOT' }), 'from a bot'],
    ['bots without an id', () => changed('formatted', { bot_profile: { id: 'B0OTHER' } }), 'from a bot'],
    ['bots without a profile', () => changed('formatted', { bot_id: 'B0OTHER' }), 'from a bot'],
    ['lines of Slack', () => read(sent('line-of-slack')), 'from Slack'],
    ['lines of Slackbot', () => changed('line-of-slack', { user: 'USLACKBOT' }), 'from Slack'],
    ['joins', () => changed('formatted', { subtype: 'channel_join' }), 'another subtype'],
    [
      'lines of assistants',
      () => changed('formatted', { subtype: 'assistant_app_thread' }),
      'another subtype',
    ],
    [
      'posts of bots with a subtype',
      () => changed('formatted', { subtype: 'bot_message' }),
      'another subtype',
    ],
    ['what is hidden', () => changed('formatted', { hidden: true }), 'hidden'],
    ['messages of nobody', () => changed('formatted', { user: undefined }), 'unreadable'],
    ['messages without a ts', () => changed('formatted', { ts: 17 }), 'unreadable'],
    ['other events', () => changed('formatted', { type: 'reaction_added' }), 'unreadable'],
  ])('%s', (_, reply, why) => {
    expect(reply()).toEqual(ignored(why));
  });

  test('empty fields of a bot do not make one', () => {
    expect(changed('formatted', { bot_id: null, bot_profile: null })).toMatchObject({ kind: 'reply' });
    expect(changed('formatted', { bot_id: '' })).toMatchObject({ kind: 'reply' });
  });
});

describe('any event', () => {
  const body = fc.constantFrom('mention', 'edited', 'unfurled', 'deleted', 'deleted-with-replies').map(sent);
  const kinds = ['reply', 'edited', 'deleted', 'ignored'];

  test('is read without an error', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (event, envelope) => {
        expect(readReply(event, envelope, own)).toEqual(ignored('unreadable'));
      }),
    );
  });

  test('whatever one of its fields is', () => {
    fc.assert(
      fc.property(body, fc.nat(), fc.boolean(), fc.jsonValue(), (sentBody, index, inner, value) => {
        const event = { ...sentBody.event };
        const target = inner && event.message ? { ...(event.message as Fields) } : event;
        const keys = Object.keys(target);
        target[keys[index % keys.length] ?? 'text'] = value;
        const whole = target === event ? event : { ...event, message: target };
        expect(kinds).toContain(readReply(whole, sentBody, own).kind);
        expect(kinds).toContain(readReply(sentBody.event, value, own).kind);
      }),
    );
  });
});

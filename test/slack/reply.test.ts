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
const grid = { ...own, enterpriseId: 'E0ACME' };

test('a reply says who wrote what where, and reads the same in both events of a mention', () => {
  const { text, blocks } = sent('mention').event;
  const reply = {
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
  };
  expect(read(sent('mention'))).toEqual(reply);
  expect(read(sent('mention-as-app-mention'))).toEqual(reply);
});

test.each<[string, Reply, object]>([
  ['with files', read(sent('file-share')), { files: true }],
  ['that was also sent to the channel', read(sent('thread-broadcast')), { threadTs: '1789904000.000100' }],
  ['by /me', changed('formatted', { subtype: 'me_message' }), {}],
  ['with the empty fields of a bot', changed('formatted', { bot_id: '', bot_profile: null }), {}],
])('a message %s is a reply', (_, reply, fields) => {
  expect(reply).toMatchObject({ kind: 'reply', ...fields });
});

test.each(['1789905000.000200', undefined])('a message with the thread %s is in none', (thread_ts) => {
  expect(changed('formatted', { thread_ts })).not.toHaveProperty('threadTs');
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
])('a reply that mentions %s', (_, text, mentionsBot, mentionsOthers) => {
  expect(changed('formatted', { text, blocks: undefined })).toMatchObject({ mentionsBot, mentionsOthers });
});

test.each<[boolean, string, Fields, boolean | undefined, typeof own]>([
  [false, 'its own workspace', {}, true, own],
  [true, 'another one among those named', { source_team: 'T0OTHER' }, true, own],
  [true, 'none, in a shared channel', { team: undefined }, true, own],
  [true, 'none, if nobody says whether it is shared', { team: undefined }, undefined, own],
  [false, 'none, in a channel that is not shared', { team: undefined }, false, own],
  [false, 'another one, in a channel that is not shared', { team: 'T0OTHER' }, false, own],
  [true, 'another one, if nobody says whether it is shared', { team: 'T0OTHER' }, undefined, own],
  [false, 'its own Grid', { team: 'E0ACME' }, true, grid],
  [true, 'another Grid', { team: 'E0OTHER' }, true, grid],
  [true, 'another workspace of the Grid', { team: 'T0SISTER' }, true, grid],
  [true, 'a Grid, without one of its own', { team: 'E0ACME' }, true, own],
])('external: %s, for %s', (external, _, team, shared, bot) => {
  const body = { ...sent('formatted'), is_ext_shared_channel: shared };
  expect(read({ ...body, event: { ...body.event, ...team } }, bot)).toMatchObject({ external });
});

test('nothing around the message says that its author is not external', () => {
  const [team, enterprise] = ['T0ACME', 'E0ACME'];
  const around = {
    is_ext_shared_channel: true,
    team_id: team,
    context_team_id: team,
    enterprise_id: enterprise,
    context_enterprise_id: enterprise,
    authorizations: [{ team_id: team, enterprise_id: enterprise, user_id: 'U0DOCKET', is_bot: true }],
  };
  const stranger = sent('from-another-organization');
  expect(read({ ...stranger, ...around }, grid)).toMatchObject({ external: true });
  const { team: _, user_team: __, source_team: ___, ...nowhere } = stranger.event;
  expect(read({ ...stranger, ...around, event: nowhere }, grid)).toMatchObject({ external: true });
});

test('an edit by a person tells the message as it is now', () => {
  const body = sent('edited');
  const { text, blocks } = body.event.message as Fields;
  const edited = {
    kind: 'edited',
    editedTs: '1789905100.000000',
    channel: 'C0DOCS',
    ts: '1789905000.000200',
    threadTs: '1789904000.000100',
    user: 'U0ANA',
    external: false,
    content: { text, blocks },
  };
  expect(read(body)).toMatchObject(edited);
  expect(changed('edited', { previous_message: undefined })).toMatchObject(edited);
});

test('a preview that came or went is no edit, also after one', () => {
  expect(read(sent('unfurled'))).toEqual(ignored('not edited'));
  const edited = { edited: { user: 'U0ANA', ts: '1' } };
  const { message, previous_message: previous } = sent('unfurled').event as Record<string, Fields>;
  const event = { message: { ...message, ...edited }, previous_message: { ...previous, ...edited } };
  expect(changed('unfurled', event)).toEqual(ignored('not edited'));
});

test('a deletion names the message; of one with replies, it comes as an edit', () => {
  const deleted = { kind: 'deleted', channel: 'C0DOCS' };
  const inThread = { ts: '1789905000.000200', threadTs: '1789904000.000100', parentUser: 'U0DOCKET' };
  expect(read(sent('deleted'))).toEqual({ ...deleted, ...inThread });
  expect(read(sent('deleted-with-replies'))).toEqual({ ...deleted, ts: '1789904000.000100' });
});

const editedBy = (user: string) => changedTo('edited', { edited: { user, ts: '1' } });

test.each<[string, Reply, string]>([
  ['an edit of Docket', read(sent('own-edit')), 'our own'],
  ['an edit of a bot', changedTo('own-edit', { user: 'U0OTHERBOT' }), 'from a bot'],
  ["a bot's edit", editedBy('B0OTHER'), 'not edited by a person'],
  ["Docket's edit", editedBy('U0DOCKET'), 'not edited by a person'],
  ['a deletion of Docket', changed('deleted', { previous_message: sent('own-post').event }), 'our own'],
  ['what Docket posts', read(sent('own-post')), 'our own'],
  ['what other bots post', changed('own-post', { user: 'U0OTHERBOT' }), 'from a bot'],
  ['bots without an id', changed('formatted', { bot_profile: { id: 'B0OTHER' } }), 'from a bot'],
  ['bots without a profile', changed('formatted', { bot_id: 'B0OTHER' }), 'from a bot'],
  ['lines of Slack', read(sent('line-of-slack')), 'from Slack'],
  ['lines of Slackbot', changed('line-of-slack', { user: 'USLACKBOT' }), 'from Slack'],
  ['joins', changed('formatted', { subtype: 'channel_join' }), 'another subtype'],
  ['posts of bots with a subtype', changed('formatted', { subtype: 'bot_message' }), 'another subtype'],
  ['what is hidden', changed('formatted', { hidden: true }), 'hidden'],
  ['messages of nobody', changed('formatted', { user: undefined }), 'unreadable'],
  ['messages without a ts', changed('formatted', { ts: 17 }), 'unreadable'],
  ['other events', changed('formatted', { type: 'reaction_added' }), 'unreadable'],
])('%s: ignored', (_, reply, why) => {
  expect(reply).toEqual(ignored(why));
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

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Ephemeral, SentMessage, User } from '../../demo/slack/workspace.ts';
import type { Timing } from '../../src/runtime/timing.ts';
import { createAuditStore } from '../../src/store/audit.ts';
import { plain, sees } from '../support/flows/reading.ts';
import { createWorld, temporaryFolder, type World } from '../support/flows/world.ts';

type PersonName = Parameters<World['slack']['person']>[0];

const START = 'POST /v1/static-export/jobs';
const BUNDLE = 'POST /v1/static-export/jobs/{jobId}/bundle';
const REFUSED = "You can't start exports here, so nothing was started. Ask @docs-admins.";
const NOT_KNOWN = 'Slack took too long to say who you are, so nothing was started. Try again in a moment.';

let world: World;
const person = (name: PersonName) => world.slack.person(name);

describe('people', () => {
  /** A bot for which `allow.export` is this list. */
  function inOneWorld(allowed: string[], timing: Partial<Timing> = {}) {
    const folder = temporaryFolder();
    beforeAll(async () => {
      const config = join(folder.path, 'docket.yml');
      writeFileSync(
        config,
        `allow: { export: [${allowed.join(', ')}] }\nlimits: { exportStatusPerSecond: 100 }\n`,
      );
      world = await createWorld();
      await world.startBot({ env: { DOCKET_CONFIG: config }, timing });
    });
    afterAll(async () => {
      await world.close();
      folder.remove();
    });
  }

  describe('somebody who may not', () => {
    inOneWorld(['S0DOCS']);
    const shown: Record<string, SentMessage> = {};

    beforeAll(async () => {
      // Deactivated people and bots may nothing, whatever list they are on.
      setGroup(['U0ANA', 'U0DEE', 'U0ROB']);
      const { wire } = world.platform;
      const unclear = ({ name, detail }: { name: string; detail: Record<string, unknown> }) =>
        name === START && (detail.body as { domain: string }).domain === 'unclear.acme.com';
      wire.order(unclear, { kind: 'reset', when: 'before' });
      const [question, failed, running, done, own] = await Promise.all([
        exported('unclear', '❔ @ana'),
        exported('failed', '@ana Export failed', () => world.platform.fail('failed.acme.com')),
        exported('running', '42%'),
        exported('done', ', took', () => world.platform.finish('done.acme.com')),
        exported('own', ', took', () => world.platform.finish('own.acme.com'), ' --private'),
      ]);
      wire.order(BUNDLE, { kind: 'answer', status: 404 });
      const noLink = await exported('nolink', 'get a download link', () =>
        world.platform.finish('nolink.acme.com'),
      );
      Object.assign(shown, { question, failed, running, done, own, noLink });
    });

    test.each<[string, PersonName, Partial<User>]>([
      ['a full member', 'ben', {}],
      ['a guest', 'gus', {}],
      ['a single-channel guest', 'sue', {}],
      ['somebody of another organization', 'eve', {}],
      ['somebody deactivated', 'ben', { id: 'U0DEE', name: 'dee', deleted: true }],
      ['a bot', 'ben', { id: 'U0ROB', name: 'rob', isBot: true }],
    ])('%s is refused with whom to ask, on every command and button', async (_, name, special) => {
      const user = userOf(name);
      const before = { ...user };
      Object.assign(user, special);
      onTestFinished(() => void Object.assign(user, before));
      for (const { members } of world.slack.workspace.channels) members.add(user.id);
      const asked = posts();

      for (const text of ['docs.acme.com', 'docs.acme.com --private', 'watch se_1', 'status', 'help', '']) {
        const { ephemeral } = await person(name).types('#running', `/docs-export ${text}`);
        expect(ephemeral && plain(world.slack.read(ephemeral))).toBe(REFUSED);
      }
      expect(person(name).modal()).toBeUndefined();

      for (const [which, button] of [
        ['question', 'It started: watch it'],
        ['question', 'Start anyway'],
        ['question', "Don't start again"],
        ['failed', 'Try again'],
        ['noLink', 'New link'],
        ['running', 'Check now'],
        ['running', 'Notify me too'],
        ['done', 'New link'],
        ['done', 'Helm values'],
        ['own', 'Get my own link'],
      ] as const) {
        const message = shown[which] as SentMessage;
        const read = world.slack.ephemerals.length;
        expect(await person(name).clicks(message, button)).toMatchObject({ ok: true });
        const [answer] = world.slack.ephemerals.slice(read);
        expect(answer).toMatchObject({ to: user.id, channel: message.channel });
        expect(answer && world.slack.read(answer)).toBe(REFUSED);
      }
      expect(person(name).modal()).toBeUndefined();
      expect(posts()).toEqual(asked);

      const lines = await audited(user.id);
      expect(lines.map(({ what, result }) => `${what} ${result}`)).toEqual(
        [
          ...Array.from({ length: 6 }, () => '/docs-export'),
          ...['watch_it', 'start_again', 'leave', 'try_again', 'new_link', 'refresh', 'notify'].map(action),
          ...['new_link', 'settings', 'own_link'].map(action),
        ].map((what) => `${what} refused: not permitted`),
      );
      expect(lines.every(({ channel }) => channel.startsWith('C'))).toBe(true);
    });

    test('somebody of another workspace is refused, on a command and on a button', async () => {
      const asked = posts();
      await person('ana').types('#running', '/docs-export help');
      expect(await sentFrom('T0OTHER', 'help', 'docs.acme.com')).toContain('belongs to another workspace');
      await person('ana').clicks(shown.running as SentMessage, 'Check now');
      const read = world.slack.ephemerals.length;
      await sentFrom('T0OTHER');
      const answer = world.slack.ephemerals[read];
      expect(answer && world.slack.read(answer)).toBe(
        'This Docket belongs to another workspace. Nothing was started.',
      );
      expect(posts()).toEqual(asked);
      const lines = (await audited('U0ANA')).filter(({ result }) => result.startsWith('refused'));
      expect(lines.map(({ what, result }) => `${what} ${result}`)).toEqual([
        '/docs-export refused: another workspace',
        'export.refresh refused: another workspace',
      ]);
    });

    test('what Slack did not sign just now is not even looked at', async () => {
      await person('ana').types('#running', '/docs-export help');
      const body = (world.slack.lastRequest?.body ?? '').replace('text=help', 'text=docs.acme.com');
      const nowSec = Math.floor(Date.now() / 1000);
      const statusOf = async (how: object) => (await world.slack.sendRaw({ body, ...how })).status;
      const before = { posts: posts(), lines: (await audited('U0ANA')).length };
      expect(await statusOf({ headers: { 'x-slack-signature': 'v0=00' } })).toBe(401);
      expect(await statusOf({ headers: { 'x-slack-signature': '' } })).toBe(401);
      expect(await statusOf({ secret: 'some-other-signing-secret' })).toBe(401);
      expect(await statusOf({ timestampSec: nowSec - 360 })).toBe(401);
      expect(await statusOf({ timestampSec: nowSec + 360 })).toBe(401);
      expect(await statusOf({ headers: { 'x-slack-request-timestamp': 'soon' } })).toBe(401);
      expect({ posts: posts(), lines: (await audited('U0ANA')).length }).toEqual(before);
    });
  });

  describe('somebody who is taken off the list', () => {
    inOneWorld(['S0DOCS'], { permissionCacheMs: 0 });

    test('is refused on what was there already: private answers, direct messages, dialogs', async () => {
      const { slack, platform } = world;
      setGroup(['U0ANA', 'U0BEN', 'U0EVE']);
      const running = await exported('running', '42%');
      const answered = async (text: string) => {
        const { ephemeral } = await person('ana').types('#running', `/docs-export ${text}`);
        if (ephemeral === undefined) throw new Error(`no private answer to ${text}`);
        return ephemeral;
      };
      const unclear = await answered('https://docs.acme.com/v2');
      const again = await answered('running.acme.com');
      const thread = await exported('own', ', took', () => platform.finish('own.acme.com'), ' --private');
      const direct = await inDirectMessages('ana', ', took');
      await person('ben').clicks(thread, 'Get my own link');
      const ownLink = await inDirectMessages('ben', 'Your own link');
      await person('ana').types('#running', '/docs-export');
      await person('eve').types('#running', '/docs-export');
      const before = posts();

      setGroup(['U0SUE']);
      for (const name of ['ana', 'eve'] as const) {
        await person(name).submits({ Domain: 'docs.acme.com' });
        expect(person(name).reads(person(name).modal())).toContain(REFUSED);
        await person(name).closes();
      }
      const clicks: [PersonName, SentMessage | Ephemeral, string][] = [
        ['ana', unclear, 'Export docs.acme.com'],
        ['ana', again, 'Start another'],
        ['ana', again, 'Notify me too'],
        ['ana', direct, 'New link'],
        ['ana', direct, 'Helm values'],
        ['ana', running, 'Check now'],
        ['ben', ownLink, 'New link'],
      ];
      for (const [name, target, button] of clicks) {
        const read = slack.ephemerals.length;
        expect(await person(name).clicks(target, button)).toMatchObject({ ok: true });
        const answer = slack.ephemerals[read];
        expect(answer && slack.read(answer)).toBe(REFUSED);
      }
      expect(person('ana').modal()).toBeUndefined();
      expect(posts()).toEqual(before);
      const refused = [...(await audited('U0ANA')), ...(await audited('U0BEN'))].filter(({ result }) =>
        result.startsWith('refused'),
      );
      expect(refused.map(({ what, result }) => `${what} ${result}`)).toEqual(
        ['export.start', 'export.use_domain', 'export.start_another', 'export.notify', 'export.new_link']
          .concat('export.settings', 'export.refresh', 'link.again')
          .map((what) => `${what} refused: not permitted`),
      );
    });
  });

  describe('guests and people of other organizations', () => {
    inOneWorld(['S0DOCS', 'U0GUS', 'U0EVE'], { permissionCacheMs: 0 });
    afterEach(() => world.slack.wire.clear());

    test('may when they are named, and get their link privately', async () => {
      const { platform } = world;
      await exported('guest', ', took', () => platform.finish('guest.acme.com'), '', 'gus');
      expect(sees(world, '#guest').join('\n')).toContain('link sent privately\n[Get my own link]');
      await inDirectMessages('gus', ', took');
      await exported('extern', ', took', () => platform.finish('extern.acme.com'), '', 'eve');
      await inDirectMessages('eve', ', took');
    });

    test('may in a dialog as well, which says that they are of another workspace', async () => {
      world.platform.domains.push('dialog.acme.com');
      room('dialog');
      await person('eve').types('#dialog', '/docs-export');
      expect(await person('eve').submits({ Domain: 'dialog.acme.com' })).toMatchObject({ ok: true });
      expect(person('eve').modal()).toBeUndefined();
      await world.slack.until(() => sees(world, '#dialog').some((text) => text.includes('42%')));
    });

    test.each([
      ['fails', { kind: 'answer', status: 500 }],
      ['is slow', { kind: 'hang', when: 'before' }],
    ] as const)('nobody is let in by a group while Slack %s to tell who is in it', async (_, fault) => {
      const asked = posts();
      world.slack.wire.order('usergroups.users.list', fault, 100);
      const before = (await audited('U0ANA')).length;
      const { ephemeral } = await person('ana').types('#docs', '/docs-export docs.acme.com');
      expect(ephemeral && world.slack.read(ephemeral)).toBe(NOT_KNOWN);
      expect(posts()).toEqual(asked);
      expect((await audited('U0ANA')).slice(before)).toEqual([
        expect.objectContaining({ what: '/docs-export', result: 'refused: not known in time' }),
      ]);
    });
  });
});

const action = (name: string) => `export.${name}`;

function userOf(name: PersonName): User {
  const found = world.slack.workspace.users.find((user) => user.name === name);
  if (found === undefined) throw new Error(`Nobody is called ${name}`);
  return found;
}

const setGroup = (users: string[]) =>
  world.slack.workspace.userGroups.set('S0DOCS', { handle: 'docs-admins', users });

/** A channel with everybody in it. */
function room(name: string) {
  const { workspace } = world.slack;
  const members = new Set(workspace.users.map(({ id }) => id));
  workspace.addChannel({ label: `#${name}`, name, kind: 'public', members, archived: false, shared: false });
}

/** Asks for an export of `<name>.acme.com` in a channel called like it, and answers the message with `part`. */
async function exported(
  name: string,
  part: string,
  then: () => void = () => {},
  options = '',
  who: PersonName = 'ana',
): Promise<SentMessage> {
  const { slack, platform } = world;
  const domain = `${name}.acme.com`;
  platform.domains.push(domain);
  room(name);
  await person(who).types(`#${name}`, `/docs-export ${domain}${options}`);
  if (!part.startsWith('❔'))
    await slack.until(() => platform.starts.some((start) => start.domain === domain));
  then();
  const { id } = slack.channel(`#${name}`);
  return slack.until(() =>
    slack.messages.find((message) => message.channel === id && slack.read(message).includes(part)),
  );
}

function inDirectMessages(who: PersonName, part: string): Promise<SentMessage> {
  const { slack } = world;
  const { id } = slack.channel(`@${who}`);
  return slack.until(() =>
    slack.messages.find((message) => message.channel === id && slack.read(message).includes(part)),
  );
}

/** What was asked of the platform that changes anything there. */
const posts = () => world.platform.wire.calls.flatMap(({ name, n }) => (name.startsWith('POST') ? n : []));

/** The audit lines of a person: what was done, then what was refused; oldest first. */
async function audited(userId: string) {
  const { done, refused } = await createAuditStore(world.redis.client).latest(world.slack.team.id, 1000);
  return [...refused, ...done].filter(({ user }) => user.id === userId).toReversed();
}

/** Sends the last request once more as if it came from another workspace; answers what came back with it. */
async function sentFrom(teamId: string, was = '', becomes = ''): Promise<string> {
  const { slack } = world;
  const request = slack.lastRequest;
  if (request === undefined) throw new Error('nothing was sent yet');
  const foreign = (text: string) => text.replaceAll(slack.team.id, teamId).replace(was, becomes);
  const { envelope } = request;
  if (slack.sockets.open === 0) return (await slack.sendRaw({ body: foreign(request.body) })).body;
  if (envelope === undefined) throw new Error('the last request was a raw one');
  const payload = JSON.parse(foreign(JSON.stringify(envelope.payload)));
  const { ephemeral } = await slack.resend({ ...request, envelope: { ...envelope, payload } });
  return ephemeral ? slack.read(ephemeral) : '';
}

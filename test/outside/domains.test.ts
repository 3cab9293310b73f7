import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { plain } from '../support/flows/reading.ts';
import { createWorld, type World } from '../support/flows/world.ts';

const label = 'a'.repeat(63);
/** 253 characters, the longest that DNS takes. */
const longest = `${label}.${label}.${label}.${'b'.repeat(61)}`;
const tooLong = `${'a.'.repeat(148)}comm`;

let world: World;

/** One for all tests of a block. */
function inOneWorld() {
  beforeAll(async () => {
    world = await createWorld();
    await world.startBot();
  });
  afterAll(() => world.close());
}

const types = (where: string, text: string) => world.slack.person('ana').types(where, `/docs-export ${text}`);

describe('understood', () => {
  inOneWorld();
  let channels = 0;
  /** Each in a channel of its own: one takes about one message a second. */
  function newChannel() {
    channels += 1;
    const name = `site-${channels}`;
    const members = new Set([world.slack.workspace.bot.userId, world.slack.person('ana').id]);
    const more = { kind: 'public', archived: false, shared: false } as const;
    world.slack.workspace.addChannel({ label: `#${name}`, name, members, ...more });
    return `#${name}`;
  }

  // The platform refuses all of these domains, which is its own affair; a row needs a domain that no other row has.
  test.each([
    ['a1.acme.com', 'a1.acme.com'],
    ['  a2.acme.com  ', 'a2.acme.com'],
    ['A3.Acme.COM', 'a3.acme.com'],
    ['a4.acme.com.', 'a4.acme.com'],
    ['a5.b-c.co.uk', 'a5.b-c.co.uk'],
    ['1.2.3.example', '1.2.3.example'],
    [longest, longest],
    ['münchen.de', 'xn--mnchen-3ya.de'],
    ['STRASSE.日本', 'strasse.xn--wgv71a'],
    ['日本。jp', 'xn--wgv71a.jp'],
    ['документы.рф', 'xn--d1acoigc6ae0f.xn--p1ai'],
    ['xn--bcher-kva.de', 'xn--bcher-kva.de'],
    ['аcme.com', 'xn--cme-5cd.com'],
    ['<http://a6.acme.com|a6.acme.com>', 'a6.acme.com'],
    ['<https://a7.acme.com/>', 'a7.acme.com'],
    ['“a8.acme.com”', 'a8.acme.com'],
    ['«a9.acme.com»', 'a9.acme.com'],
    ['`b1.acme.com`', 'b1.acme.com'],
    ['“<http://b2.acme.com|b2.acme.com>”', 'b2.acme.com'],
    ['\u200Bb3.acme.com\u2060', 'b3.acme.com'],
    ['b6\u200Dx.acme.com', 'b6x.acme.com'],
    ['b4.acme.com —private', 'b4.acme.com'],
    ['–version “1.0” b5.acme.com', 'b5.acme.com'],
  ])('%s is %s', async (typed, domain) => {
    const where = newChannel();
    const started = () =>
      world.platform.wire.calls.flatMap(({ name, detail }) =>
        name.startsWith('POST') ? (detail.body as { domain: string }).domain : [],
      );
    const before = started().length;
    const answer = await types(where, typed);
    expect(answer).toMatchObject({ ok: true });
    expect(answer.ephemeral).toBeUndefined();
    await world.slack.until(() => started().length > before);
    expect(started().slice(before)).toEqual([domain]);
  });
});

const HOW = 'Type it like docs.acme.com.';
const suggested = 'Did you mean docs.acme.com?';

/** What is typed, what is said after "… isn't a host name. ", and how it is shown where that differs. */
const notDomains: [typed: string, fix: string, shown?: string][] = [
  ['https://docs.acme.com', suggested],
  ['HTTP://Docs.Acme.Com/v2?x=1#y', suggested],
  ['ftp://docs.acme.com/pub', suggested],
  ['docs.acme.com/', suggested],
  ['docs.acme.com/v2', suggested],
  ['docs.acme.com:443', suggested],
  ['docs.acme.com?v=2', suggested],
  ['ana@docs.acme.com', suggested],
  ['https://ana:pw@docs.acme.com:8080/v2', suggested],
  ['//docs.acme.com', suggested],
  ['docs%2Eacme.com', suggested],
  ['docs', HOW],
  ['localhost', HOW],
  ['localhost.', HOW],
  ['docs.localhost', HOW],
  ['http://localhost:3000/', HOW],
  ['192.168.0.1', HOW],
  ['１９２.１６８.０.１', HOW],
  ['127.1', HOW],
  ['0x7f.1', HOW],
  ['2130706433', HOW],
  ['http://2130706433/', HOW],
  ['169.254.169.254', HOW],
  ['http://169.254.169.254/latest/meta-data', HOW],
  ['::1', HOW],
  ['[2001:db8::1]', HOW],
  ['https://[::ffff:10.0.0.1]/', HOW],
  ['docs.acme.123', HOW],
  ['docs_v2.acme.com', HOW],
  ['*.acme.com', HOW],
  ['docs-.acme.com', HOW],
  ['docs..acme.com', HOW],
  ['.', HOW],
  ['..', HOW],
  [`${'a'.repeat(64)}.com`, HOW],
  [tooLong, HOW],
  ['<!channel>', HOW, '!channel'],
  ['<@U0ANA>', HOW, '@U0ANA'],
  ["docs.acme.com'--", HOW],
];

const cut = (text: string, max: number) => (text.length <= max ? text : `${text.slice(0, max - 1)}…`);

describe('refused with the fix', () => {
  inOneWorld();
  // Without a run nothing calls the platform, now or later.
  const runs = () => world.redis.client.keys('{docket}:run:*');
  let before: string[];
  beforeEach(async () => {
    before = await runs();
  });
  afterEach(async () => expect((await runs()).toSorted()).toEqual(before.toSorted()));
  afterAll(() => {
    expect(world.platform.wire.calls).toEqual([]);
    expect(world.slack.messages).toEqual([]);
  });

  const told = async (text: string) => {
    const { ok, ephemeral } = await types('#docs', text);
    expect(ok).toBe(true);
    return ephemeral && plain(world.slack.read(ephemeral));
  };

  test.each(notDomains)('%s', async (typed, fix, shown = typed) => {
    const button = fix === suggested ? '\n[Export docs.acme.com]' : '';
    expect(await told(typed)).toBe(`${cut(shown, 100)} isn't a host name. ${fix}${button}`);
  });

  test('an address of a page, as Slack links it', async () => {
    expect(await told('<http://docs.acme.com/v2|docs.acme.com/v2>')).toBe(
      `docs.acme.com/v2 isn't a host name. ${suggested}\n[Export docs.acme.com]`,
    );
  });

  test.each(['', '“”', '""', '   '])('nothing (%j): a dialog asks', async (typed) => {
    const ana = world.slack.person('ana');
    expect(await told(typed)).toBeUndefined();
    expect(ana.fields()[0]).toMatchObject({ label: 'Domain', value: '' });
    await ana.closes();
  });

  describe('at the field of the dialog', () => {
    const submits = async (typed: string) => {
      const ana = world.slack.person('ana');
      await types('#docs', '');
      const { ok, errors } = await ana.submits({ Domain: typed });
      expect(ok).toBe(true);
      await ana.closes();
      return errors;
    };

    test.each(notDomains)('%s', async (typed, fix, shown = typed) => {
      expect(await submits(typed)).toEqual({
        domain: `${cut(shown, 40)} isn't a host name. ${fix}`,
      });
    });

    test('white space', async () => {
      expect(await submits('  ')).toEqual({
        domain: 'Type the domain of the docs site, such as docs.acme.com.',
      });
    });
  });
});

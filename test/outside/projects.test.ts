import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { startsElsewhere } from '../support/flows/site.ts';
import { stage } from '../support/flows/stage.ts';

const BETA_KEY = `adm_${randomUUID()}`;

/** Two projects with a key each, and one domain that both have. #private is the channel of the second. */
const config = (privateChannel: string) => `
projects:
  acme:
    domains: [docs.acme.com, shared.acme.com]
  beta:
    domains: [docs.beta.com, shared.acme.com]
    apiKey: { env: BETA_KEY }
    channels: [${privateChannel}]
`;

describe('with several projects', () => {
  const scene = stage({
    platform: {
      domains: ['docs.acme.com', 'shared.acme.com'],
      others: [{ apiKey: BETA_KEY, domains: ['docs.beta.com', 'shared.acme.com'] }],
    },
    bot: ({ slack }) => ({ config: config(slack.channel('#private').id), env: { BETA_KEY } }),
  });
  const { asks, exporting, person, told, until } = scene;
  const ana = () => person('ana');

  /** Which project's key a start came with. */
  const startedBy = () =>
    scene.platform.starts.map(({ domain, jobId }) => {
      const key = scene.platform.keysOfExports.get(jobId);
      return `${domain} ${key === BETA_KEY ? 'beta' : 'acme'}`;
    });

  test.each([
    ['the only one that has the domain', '/docs-export docs.acme.com', '#docs', 'docs.acme.com acme'],
    ['the only one that has the domain', '/docs-export docs.beta.com', '#docs', 'docs.beta.com beta'],
    ["the channel's", '/docs-export shared.acme.com', '#private', 'shared.acme.com beta'],
    [
      'the one that is named, in any capitals',
      '/docs-export shared.acme.com --project ACME',
      '#private',
      'shared.acme.com acme',
    ],
    [
      "the domain's, in another one's channel",
      '/docs-export docs.acme.com',
      '#private',
      'docs.acme.com acme',
    ],
  ])('it is %s: %s in %s', async (_, line, where, started) => {
    await exporting(line, { where });
    expect(startedBy()).toEqual([started]);
    scene.platform.finish(scene.platform.starts[0]?.jobId ?? '');
    await until([', took', '[Download]'], where);
  });

  test('a domain of several asks which, and that one is used', async () => {
    expect(told(await asks('/docs-export shared.acme.com --version 2'))).toBeUndefined();
    expect(ana().fields()).toMatchObject([
      {
        label: 'Domain',
        value: 'shared.acme.com',
        options: ['docs.acme.com', 'shared.acme.com', 'docs.beta.com'],
      },
      { label: 'Project', value: '', options: ['acme', 'beta'] },
      { label: 'Version', value: '2' },
      { label: 'Paths' },
      { label: 'Who gets the download link' },
    ]);
    await ana().submits({ Project: 'beta' });
    await until(['⏳ Exporting · shared.acme.com 2\nRequested by ana', '42%']);
    expect(startedBy()).toEqual(['shared.acme.com beta']);
  });

  test('a domain of another project than the chosen one is told at its field', async () => {
    await asks('/docs-export');
    await ana().submits({ Domain: 'docs.beta.com', Project: 'acme' });
    expect(ana().fields()[0]).toMatchObject({
      error: "docs.beta.com isn't in project acme. Its domains: docs.acme.com, shared.acme.com.",
    });
    expect(scene.platform.starts).toEqual([]);
  });

  test('the same domain in two projects is two exports', async () => {
    await asks('/docs-export shared.acme.com --project acme');
    expect(told(await asks('/docs-export shared.acme.com --project beta'))).toBeUndefined();
    await scene.slack.until(() => scene.platform.starts.length === 2);
    expect(startedBy().toSorted()).toEqual(['shared.acme.com acme', 'shared.acme.com beta']);
  });

  test.each([
    [
      'docs.other.com',
      "docs.other.com isn't set up for exports. Set up here: docs.acme.com, shared.acme.com, docs.beta.com.",
    ],
    [
      'docs.beta.com --project acme',
      "docs.beta.com isn't in project acme. Its domains: docs.acme.com, shared.acme.com.",
    ],
    ['docs.acme.com --project gamma', 'No project "gamma". Available: acme, beta.'],
    ['--project gamma', 'No project "gamma". Available: acme, beta.'],
  ])('%s is refused, with what is set up', async (words, text) => {
    expect(told(await asks(`/docs-export ${words}`))).toBe(text);
    expect(scene.slack.messages).toEqual([]);
    expect(scene.platform.wire.calls).toEqual([]);
  });

  test('watch asks which project a job is in, and takes the one that is named or chosen', async () => {
    const jobId = await startsElsewhere(scene, { domain: 'docs.beta.com', apiKey: BETA_KEY });
    expect(told(await asks(`/docs-export watch ${jobId}`))).toBeUndefined();
    expect(ana().fields()).toMatchObject([{ label: 'Project', value: '', options: ['acme', 'beta'] }]);
    expect(scene.slack.messages).toEqual([]);
    expect(told(await asks(`/docs-export watch ${jobId} --project gamma`))).toBe(
      'No project "gamma". Available: acme, beta.',
    );
    await asks(`/docs-export watch ${jobId} --project acme`);
    await until([`No export with the ID "${jobId}".`]);
    await ana().submits({ Project: 'beta' });
    expect(ana().modal()).toBeUndefined();
    await until(['⏳ Exporting · ▰▰▰▰▱▱▱▱▱▱ 42%']);
    expect(told(await asks(`/docs-export watch ${jobId} --project beta`))).toContain(
      'job se_… is already being exported: 42%, watched by you.\n[Open thread] [Notify me too]',
    );
    await asks(`/docs-export watch ${jobId}`, { where: '#private', who: 'ben' });
    expect(scene.toldLast('ben', '#private')).toContain(
      'job se_… is already being exported: 42%, watched by ana.\n[Open thread] [Notify me too]',
    );
  });

  test('where no form can be opened, the answer says how to type the project', async () => {
    scene.slack.wire.order('views.open', { kind: 'answer', status: 503 }, 5);
    const jobId = await startsElsewhere(scene, { domain: 'docs.beta.com', apiKey: BETA_KEY });
    expect(told(await asks(`/docs-export watch ${jobId}`))).toBe(
      `Which project is it in: acme, beta? For example: \n/docs-export watch ${jobId} --project acme`,
    );
    expect(scene.slack.messages).toEqual([]);
  });
});

describe('with one project', () => {
  const scene = stage({
    bot: { config: 'projects:\n  acme:\n    domains: [docs.acme.com]\n' },
  });
  const { asks, told, until } = scene;

  test('its only domain need not be typed', async () => {
    expect(told(await asks('/docs-export --version 3'))).toBeUndefined();
    await until(['⏳ Exporting · docs.acme.com 3\nRequested by ana', '42%']);
  });

  test('another domain is refused before the platform is asked', async () => {
    expect(told(await asks('/docs-export docs.foo.com'))).toBe(
      "docs.foo.com isn't set up for exports. Set up here: docs.acme.com.",
    );
    expect(scene.platform.wire.calls).toEqual([]);
  });
});

describe('with DOCS_DOMAIN', () => {
  const scene = stage({ bot: { env: { DOCS_DOMAIN: 'docs.acme.com' } } });

  test('that domain need not be typed', async () => {
    await scene.asks('/docs-export');
    await scene.until(['⏳ Exporting · docs.acme.com', '42%']);
  });
});

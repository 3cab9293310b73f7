import { describe, expect, test } from 'vitest';
import { stage } from '../support/flows/stage.ts';

describe('what is typed after the domain', () => {
  const scene = stage();
  const { asks, told, until } = scene;

  test.each([
    ['straight', '--version "spring release" --paths "/guides, /api"'],
    ['curly and long', '—version “spring release” —paths /guides, /api'],
    ['German and short', '–version „spring release“ –paths=‚/guides,/api‘'],
    ['without quotes but with equals signs', "--VERSION='spring release' --paths=guides,api"],
  ])('is understood with quotes and dashes that are %s', async (_, options) => {
    await asks(`/docs-export ${options} docs.acme.com`);
    await until(['⏳ Exporting · docs.acme.com spring release\nRequested by ana · only /guides and 1 more']);
    expect(scene.platform.starts).toMatchObject([
      { domain: 'docs.acme.com', version: 'spring release', paths: ['guides', 'api'] },
    ]);
  });

  test('pages of the site may be typed as addresses, and the home page as a slash or as index', async () => {
    await asks(
      '/docs-export docs.acme.com --paths https://DOCS.acme.com/guides/start/?tab=1#top,/,index,guides/start',
    );
    await until(['⏳ Exporting · docs.acme.com\nRequested by ana · only /guides/start and 1 more']);
    expect(scene.platform.starts).toMatchObject([{ paths: ['guides/start', 'index'] }]);
    await until(['42%']);
    expect(told(await asks('/docs-export docs.acme.com --paths guides/start,index'))).toContain(
      'docs.acme.com, only /guides/start and 1 more, is already being exported: ',
    );
  });

  test('a page that the platform does not take: people read its details', async () => {
    await asks('/docs-export docs.acme.com --paths /api,/a:b');
    await until([
      'The platform said: "Invalid request body: paths must be page paths without a leading slash, the home page as index"',
    ]);
  });

  test.each([
    [
      '--paths /api,https://docs.other.com/guides',
      "“https://docs.other.com/guides” isn't a page of docs.acme.com.",
    ],
    ['--fast', "I don't know --fast. Available: --project, --version, --paths, --private."],
    ['--verison 2', "I don't know --verison. Did you mean --version?"],
    ['--version', '--version needs a value, such as --version "spring release".'],
    ['--version 1 --version 2', 'Type --version only once.'],
    ['--private=yes', '--private takes no value. Type it alone, or leave it out.'],
    [
      '--version spring release',
      'Type one domain, and quotes around a version of several words: --version "spring release"',
    ],
    [
      'docs.acme.org',
      'Type one domain, and two dashes before each option, such as /docs-export docs.acme.com --private.',
    ],
    [
      '--paths guides/../api',
      "--paths: “guides/../api” isn't a page path. Type the whole path, starting with a slash: /guides/start.",
    ],
    ['--project beta', 'No project "beta". Available: default.'],
  ])('%s is refused, with the fix', async (options, text) => {
    expect(told(await asks(`/docs-export docs.acme.com ${options}`))).toBe(text);
    expect(scene.slack.messages).toEqual([]);
    expect(scene.platform.wire.calls).toEqual([]);
  });
});

describe('/docs-export status', () => {
  const scene = stage();
  const { asks, exporting, told, until } = scene;
  const status = async (who: 'ana' | 'ben' | 'gus', where = '#docs') =>
    told(await asks('/docs-export status', { who, where }))?.replaceAll(' \nTIME', ' TIME');
  const line = (site: string, who: string, open = ' · Open thread') =>
    `⏳ Exporting · ${site} · ▰▰▰▰▱▱▱▱▱▱ 42% · 5 pages so far · requested by ${who} TIME${open}`;

  test("lists one's own and the visible ones, and nobody's private ones", async () => {
    await asks('/docs-export docs.acme.com --version 1');
    await asks('/docs-export docs.acme.com --version 2', { where: '#private' });
    await asks('/docs-export docs.acme.com --version 3', { where: '@ben', who: 'ben' });
    await until(['42%']);
    await until(['42%'], '#private');
    await until(['42%'], '@ben', 'ben');
    expect(await status('ana')).toBe(
      [line('docs.acme.com 1', 'you'), line('docs.acme.com 2', 'you')].join('\n'),
    );
    expect(await status('ben')).toBe(
      [line('docs.acme.com 1', 'ana'), line('docs.acme.com 3', 'you')].join('\n'),
    );
    expect(await status('ben', '#private')).toContain('docs.acme.com 2');
  });

  test('no longer lists what has ended', async () => {
    await exporting();
    scene.platform.finish('docs.acme.com');
    await until([', took', '✅ Exported · docs.acme.com']);
    expect(await status('ana')).toBe(
      'No export that you can see here is running. Start one with /docs-export.',
    );
  });
});

import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readSettings, SettingsError, secretsOf } from '../src/config.ts';

const sound = {
  SLACK_BOT_TOKEN: 'xoxb-1-2-abc',
  SLACK_SIGNING_SECRET: '0123456789abcdef0123456789abcdef',
  DOCS_API_URL: 'https://api.docs.example/v1',
  DOCS_API_KEY: 'adm_0123456789',
};

function problemsOf(env: NodeJS.ProcessEnv): string[] {
  try {
    readSettings(env);
    return [];
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return error.problems;
  }
}

const source = readFileSync(new URL('../src/config.ts', import.meta.url), 'utf8');
const known = [...source.matchAll(/^ {2}([A-Z][A-Z0-9_]+): /gm)].map(([, name = '']) => name);
/** Variables of the design that this version only refuses. */
const refused = known.filter((name) => /but this version/.test(problemsOf({ ...sound, [name]: 'x' }).join()));

describe('settings', () => {
  test('that are needed and no others: the rest has defaults', () => {
    expect(readSettings(sound)).toEqual({
      role: 'all',
      slackBotToken: 'xoxb-1-2-abc',
      slackSigningSecret: '0123456789abcdef0123456789abcdef',
      slackApiUrl: 'https://slack.com/api/',
      port: 3000,
      docsApiUrl: 'https://api.docs.example/v1',
      docsApiKey: 'adm_0123456789',
      docsDomain: undefined,
      redisUrl: undefined,
      dataDir: './data',
      logLevel: 'info',
    });
  });

  test('are all read', () => {
    expect(
      readSettings({
        ...sound,
        DOCKET_ROLE: 'worker',
        SLACK_API_URL: 'http://127.0.0.1:4000/api',
        PORT: '0',
        DOCS_API_KEY_PREFIX: 'adm_',
        DOCS_DOMAIN: 'docs.acme.com',
        REDIS_URL: 'rediss://:pw@redis.example:6380',
        DATA_DIR: '/var/lib/docket',
        LOG_LEVEL: 'debug',
      }),
    ).toMatchObject({
      role: 'worker',
      slackApiUrl: 'http://127.0.0.1:4000/api/',
      port: 0,
      docsDomain: 'docs.acme.com',
      redisUrl: 'rediss://:pw@redis.example:6380',
      dataDir: '/var/lib/docket',
      logLevel: 'debug',
    });
  });

  test('that are empty count as not set', () => {
    const blank = Object.fromEntries(known.map((name) => [name, ' ']));
    expect(readSettings({ ...blank, ...sound })).toEqual(readSettings(sound));
    expect(problemsOf(blank)).toEqual(problemsOf({}));
  });

  test('of other programs do no harm', () => {
    expect(readSettings({ ...sound, PATH: '/bin', NODE_ENV: 'production' })).toEqual(readSettings(sound));
  });
});

describe('what no log may hold', () => {
  const of = (env: NodeJS.ProcessEnv) => secretsOf(readSettings({ ...sound, ...env }));
  const own = [sound.SLACK_BOT_TOKEN, sound.SLACK_SIGNING_SECRET, sound.DOCS_API_KEY];

  test.each<[string | undefined, string[]]>([
    [undefined, own],
    ['redis://redis.example:6379', own],
    ['redis://:pass%40word@redis.example:6379', [...own, 'pass%40word', 'pass@word']],
    ['rediss://docket:password@redis.example', [...own, 'password']],
    // A password that was not encoded: it is what it is.
    ['redis://:50%off@redis.example', [...own, '50%off']],
  ])('with the Redis %s', (redisUrl, secrets) => {
    expect(of(redisUrl === undefined ? {} : { REDIS_URL: redisUrl })).toEqual(secrets);
  });
});

describe('settings that cannot work', () => {
  test('are told all at once, each with its fix', () => {
    expect(problemsOf({})).toEqual([
      'SLACK_BOT_TOKEN is missing. Copy it from your Slack app, "OAuth & Permissions", Bot User OAuth Token.',
      'SLACK_SIGNING_SECRET is missing. Copy it from your Slack app, "Basic Information", App Credentials.',
      "DOCS_API_URL is missing. Set it to the base address of the docs platform's API.",
      'DOCS_API_KEY is missing. Create an admin API key on the API keys page of the docs platform.',
    ]);
  });

  test('are told in one message, a line each', () => {
    expect(() => readSettings({ ...sound, DOCS_API_KEY: '', PORT: 'x' })).toThrow(
      new SettingsError([
        'PORT must be a port number.',
        'DOCS_API_KEY is missing. Create an admin API key on the API keys page of the docs platform.',
      ]),
    );
    expect(new SettingsError(['A is wrong.', 'B too.']).message).toBe(
      "Docket can't start with these settings:\n  - A is wrong.\n  - B too.",
    );
  });

  test.each([
    ['DOCKET_ROLE', 'both', 'must be all, web or worker.'],
    ['SLACK_BOT_TOKEN', 'xoxp-1', 'must be a bot token, which begins with xoxb-. See "OAuth & Permissions".'],
    [
      'SLACK_SIGNING_SECRET',
      'short',
      'is too short to be one. Copy it from "Basic Information", App Credentials.',
    ],
    ['PORT', '65536', 'must be a port number.'],
    ['PORT', '-1', 'must be a port number.'],
    ['PORT', '80.5', 'must be a port number.'],
    ['PORT', '70000.5', 'must be a port number.'],
    ['PORT', 'http', 'must be a port number.'],
    ['DOCS_DOMAIN', 'https://docs.acme.com', 'must be a host name such as docs.example.com.'],
    ['REDIS_URL', 'localhost:6379', 'must begin with redis:// or rediss://.'],
    ['REDIS_URL', 'http://localhost', 'must begin with redis:// or rediss://.'],
    [
      'DOCKET_CONFIG',
      './docket.yml',
      'is set, but this version of Docket does not read a YAML file. Unset it.',
    ],
    ['LOG_LEVEL', 'loud', 'must be one of fatal, error, warn, info, debug, trace, silent.'],
  ])('%s=%s %s', (name, value, problem) => {
    expect(problemsOf({ ...sound, [name]: value })).toEqual([`${name} ${problem}`]);
  });

  test.each([
    ['DOCS_API_URL', "Set it to the base address of the docs platform's API."],
    ['SLACK_API_URL', "Unset it to use Slack's own."],
  ])('%s that keys would cross a network to in the clear is refused', (name, fix) => {
    for (const address of [
      'http://api.docs.example',
      'http://localhost.evil.example',
      'http://127.0.0.1.evil.example',
      'http://127.evil.example',
      'http://localhost@evil.example',
      'http://192.168.0.1',
      'ftp://localhost',
      'redis://localhost',
      'api.docs.example',
      '//api.docs.example',
      'https://',
    ]) {
      expect(problemsOf({ ...sound, [name]: address })).toEqual([
        `${name} must be an https address (http only for this machine). ${fix}`,
      ]);
    }
  });

  test.each([
    'https://api.docs.example',
    'HTTPS://API.docs.example/base/',
    'http://localhost:4000',
    'http://127.0.0.1',
    'http://127.1.2.3:80',
    'http://[::1]:4000/v1',
  ])('an address like %s is taken', (address) => {
    expect(problemsOf({ ...sound, DOCS_API_URL: address, SLACK_API_URL: address })).toEqual([]);
  });

  test.each(['web', 'worker'])('the role %s needs a Redis to share', (role) => {
    expect(problemsOf({ ...sound, DOCKET_ROLE: role })).toEqual([
      'REDIS_URL is missing. Processes with the roles web and worker share one Redis: set its address.',
    ]);
    expect(problemsOf({ ...sound, DOCKET_ROLE: role, REDIS_URL: 'redis://r' })).toEqual([]);
  });

  test('a key of another platform is refused', () => {
    expect(problemsOf({ ...sound, DOCS_API_KEY_PREFIX: 'live_' })).toEqual([
      'DOCS_API_KEY does not begin with DOCS_API_KEY_PREFIX. Take an admin key of the right platform.',
    ]);
  });

  test('what two settings do to each other is told along with what is wrong in one', () => {
    expect(
      problemsOf({ ...sound, DOCKET_ROLE: 'web', PORT: 'x', DOCS_API_KEY_PREFIX: 'live_' }),
    ).toHaveLength(3);
  });

  test('never are told with a value, each names its variable first, and no line comes twice', () => {
    const value = fc
      .tuple(
        fc.constantFrom('', 'xoxb-', 'https://', 'http://', 'redis://', 'redis://:', 'adm_', '-', '1'),
        fc.stringMatching(/^zq[0-9a-f]{6,20}$/),
      )
      .map((parts) => parts.join(''));
    const env = fc.dictionary(fc.constantFrom(...known), value);
    fc.assert(
      fc.property(env, (some) => {
        const problems = problemsOf(some);
        for (const problem of problems) {
          expect(problem).not.toContain('zq');
          expect(known).toContain(problem.split(' ')[0]);
          expect(problem).toMatch(/^\S+ [^\n]+\.$/);
        }
        expect(new Set(problems).size).toBe(problems.length);
      }),
      { numRuns: 500 },
    );
  });
});

describe('.env.example', () => {
  const example = readFileSync(new URL('../.env.example', import.meta.url), 'utf8');
  const lines = [...example.matchAll(/^#? ?([A-Z][A-Z0-9_]+)=(.*)$/gm)];
  const listed = lines.map(([, name = '']) => name);

  test('lists every variable that is read, once, and no other', () => {
    expect(known).toContain('SLACK_BOT_TOKEN');
    expect(listed.toSorted()).toEqual(known.filter((name) => !refused.includes(name)).sort());
  });

  test('holds no secret', () => {
    expect(example).not.toMatch(/x(?:ox[a-z]|app)-\w{4,}/);
  });
});

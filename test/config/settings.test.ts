import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { settingNames as known, readSettings, secretsOf } from '../../src/config/settings.ts';
import { configFolder, problemsOf, sound } from '../support/config/builders.ts';

const { fileWith } = configFolder();

describe('settings', () => {
  test('proxies: small letters count first, their passwords are secrets, and no value stands in a problem', () => {
    const set = { HTTPS_PROXY: 'http://one:1', https_proxy: 'http://bob:secret@two:2', NO_PROXY: 'a.test' };
    const settings = readSettings({ ...sound, ...set });
    expect(settings.proxies).toEqual({
      httpProxy: '',
      httpsProxy: 'http://bob:secret@two:2',
      noProxy: 'a.test',
    });
    expect(secretsOf(settings)).toContain('secret');
    const wrong = { ...sound, HTTPS_PROXY: 'proxy:3128', NODE_EXTRA_CA_CERTS: '/not/there.pem' };
    expect(() => readSettings(wrong)).toThrow(
      /HTTPS_PROXY must be the address of a proxy.*\n.*NODE_EXTRA_CA_CERTS does not name a readable/,
    );
  });

  test('that are empty count as not set', () => {
    const blank = Object.fromEntries(known.map((name) => [name, ' ']));
    expect(readSettings({ ...blank, ...sound })).toEqual(readSettings(sound));
    expect(problemsOf(blank)).toEqual(problemsOf({}));
  });
});

describe('what no log may hold', () => {
  const of = (env: NodeJS.ProcessEnv) => secretsOf(readSettings({ ...sound, ...env }));
  const own = [sound.SLACK_BOT_TOKEN, sound.SLACK_SIGNING_SECRET, sound.DOCS_API_KEY];

  test.each<[string | undefined, string[]]>([
    [undefined, own],
    ['rediss://redis.example:6379', own],
    [
      'rediss://:pass%40word@redis.example:6379',
      [...own, 'rediss://:pass%40word@redis.example:6379', 'pass%40word', 'pass@word'],
    ],
    [
      'rediss://docket:password@redis.example',
      [...own, 'rediss://docket:password@redis.example', 'password'],
    ],
    // A password that was not encoded: it is what it is.
    ['rediss://:50%off@redis.example', [...own, 'rediss://:50%off@redis.example', '50%off']],
    ['rediss://:p@ss@redis.example', [...own, 'rediss://:p@ss@redis.example', 'p@ss', 'p%40ss']],
    ['rediss://docket@redis.example', own],
  ])('with the Redis %s', (redisUrl, secrets) => {
    expect(of(redisUrl === undefined ? {} : { REDIS_URL: redisUrl })).toEqual(secrets);
  });

  test('are the keys of all projects, each once', () => {
    const path = fileWith('projects: { a: { apiKey: { env: A_KEY } }, b: {}, c: {} }');
    expect(of({ DOCKET_CONFIG: path, A_KEY: 'adm_a' })).toEqual([...own.slice(0, 2), 'adm_a', own[2]]);
  });
});

describe('a value as docker keeps it', () => {
  const quotes = 'has quotes around it. Remove them: docker --env-file keeps them in the value.';
  const inside = 'contains a quote, a space or a line break. Copy it again without them.';
  const secrets = ['SLACK_BOT_TOKEN', 'SLACK_SIGNING_SECRET', 'SLACK_APP_TOKEN', 'DOCS_API_KEY'];

  test.each(secrets)('%s with quotes, blanks or other letters is refused with the fix alone', (name) => {
    const env = { ...sound, SLACK_APP_TOKEN: 'xapp-1-A0-1-abc' };
    const value = env[name as keyof typeof env];
    const said = (changed: string) => problemsOf({ ...env, [name]: changed });
    for (const quote of ['"', "'", '`'])
      expect(said(`${quote}${value}${quote}`)).toEqual([`${name} ${quotes}`]);
    expect(said(`${value}"`)).toEqual([`${name} ${quotes}`]);
    for (const blank of [' ', '\n', '\t', '"', '\u00a0'])
      expect(said(`${value.slice(0, 9)}${blank}${value.slice(9)}`)).toEqual([`${name} ${inside}`]);
    expect(said(`${value}\r`)).toEqual([`${name} ${inside}`]);
    expect(said(`${value}é`)).toEqual([`${name} contains a character outside ASCII. Copy it again.`]);
  });
});

describe('settings that cannot work', () => {
  test('are told all at once, each with its fix', () => {
    expect(problemsOf({})).toEqual([
      'SLACK_BOT_TOKEN is missing. Copy it from your Slack app, "OAuth & Permissions", Bot User OAuth Token.',
      "DOCS_API_URL is missing. Set it to the base address of the docs platform's API.",
      'SLACK_APP_TOKEN is missing. Create one in your Slack app, "Basic Information", App-Level Tokens, with the scope connections:write. If Slack reaches a public address of yours, set SLACK_SIGNING_SECRET instead.',
      'DOCS_API_KEY is missing. Create an admin API key on the API keys page of the docs platform.',
    ]);
  });

  const refused: [string, string[], string][] = [
    ['DOCKET_ROLE', ['both'], 'must be all, web or worker.'],
    [
      'SLACK_BOT_TOKEN',
      ['xoxp-1'],
      'must be a bot token, which begins with xoxb-. See "OAuth & Permissions".',
    ],
    ['SLACK_SIGNING_SECRET', ['short'], 'is too short. Copy it from "Basic Information", App Credentials.'],
    ['PORT', ['65536', '-1', '80.5', '70000.5', 'http'], 'must be a port number.'],
    ['HEALTH_PORT', ['http'], 'must be a port number.'],
    ['DOCS_DOMAIN', ['https://docs.acme.com', 'localhost'], 'must be a host name such as docs.example.com.'],
    [
      'DOCS_PROJECT_ID',
      ['https://docs.example/prj_1'],
      "must be the project's id, without spaces and slashes. Copy it from the docs platform.",
    ],
    [
      'REDIS_URL',
      ['localhost:6379', 'http://localhost'],
      'must begin with redis:// or rediss://. For several hosts, +sentinel or +cluster comes before the colon.',
    ],
    ['REDIS_ALLOW', ['everything'], 'may list plaintext, eviction and volatile, separated by commas.'],
    ['LOG_LEVEL', ['loud'], 'must be one of fatal, error, warn, info, debug, trace, silent.'],
  ];
  test.each(
    refused.flatMap(([name, values, problem]) => values.map((value) => [name, value, problem] as const)),
  )('%s=%s %s', (name, value, problem) => {
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

  test.each([
    'https://user:s3cr3t@api.docs.example',
    'https://api.docs.example?key=s3cr3t',
    'https://api.docs.example/#s3cr3t',
  ])('a secret in the address of the platform is refused, and not shown: %s', (address) => {
    expect(problemsOf({ ...sound, DOCS_API_URL: address })).toEqual([
      expect.stringMatching(/^DOCS_API_URL has a user, a query or a fragment\. Use(?!.*s3cr3t)/),
    ]);
  });

  test.each(['web', 'worker'])('the role %s needs a Redis to share', (role) => {
    expect(problemsOf({ ...sound, DOCKET_ROLE: role })).toEqual([
      'REDIS_URL is missing. Processes with the roles web and worker share one Redis: set its address.',
    ]);
    expect(problemsOf({ ...sound, DOCKET_ROLE: role, REDIS_URL: 'rediss://r' })).toEqual([]);
  });

  test('never are reported with a value, each names its variable first, and no line comes twice', () => {
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

describe('settings of Socket Mode', () => {
  const { SLACK_SIGNING_SECRET: _, ...env } = sound;

  test('need no signing secret with an app token, which is a secret too', () => {
    const settings = readSettings({ ...env, SLACK_APP_TOKEN: 'xapp-1-A0-2' });
    expect(settings).toMatchObject({ slackAppToken: 'xapp-1-A0-2', slackSigningSecret: undefined });
    expect(secretsOf(settings)).toContain('xapp-1-A0-2');
    expect(problemsOf(env)).toEqual([
      expect.stringMatching(/^SLACK_APP_TOKEN is missing.* set SLACK_SIGNING_SECRET instead/),
    ]);
  });
});

describe('.env.example', () => {
  const example = readFileSync(new URL('../../.env.example', import.meta.url), 'utf8');
  const lines = [...example.matchAll(/^#? ?([A-Z][A-Z0-9_]+)=(.*)$/gm)];
  const listed = lines.map(([, name = '']) => name);

  test('lists every variable that is read, once, and no other', () => {
    expect(known).toContain('SLACK_BOT_TOKEN');
    expect(listed.toSorted()).toEqual([...new Set(known)].toSorted());
  });
});

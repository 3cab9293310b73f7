import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createProblemLog, createThrottledWarn, type LogLevel, scrub } from '../../src/runtime/log.ts';
import { keptLog } from '../support/runtime/log.ts';

const KEY = 'adm_5ecretKey0123';

const aLog = (level: LogLevel = 'trace', secrets: string[] = [KEY]) => keptLog(level, secrets);

describe('scrubbing', () => {
  test.each([
    ['a bot token', 'token xoxb-12-34-AbC_d.e refused', 'token xox… refused'],
    ['a rotated token', 'xoxe.xoxb-1-abc', 'xoxe.xox…'],
    ['a bearer header', '{"authorization":"Bearer abc.DEF-1~2+3/4="}', '{"authorization":"Bearer …"}'],
    ['a basic header', 'Basic dXNlcjpwdw==', 'Basic …'],
    [
      'a presigned link',
      'GET https://bundles.example/b.zip?X-Signature=abc&e=1 failed',
      'GET https://bundles.example/… failed',
    ],
    ['a response address', '"https://hooks.slack.com/commands/T1/2/s3cret"', '"https://hooks.slack.com/…"'],
    ['an address with a fragment', 'https://a.example#s3cret', 'https://a.example/…'],
    ['a web socket', 'wss://wss.slack.com/link/?ticket=s3cret', 'wss://wss.slack.com/…'],
    ['two addresses', 'https://a.b/s3cret,https://c.d/s3cret', 'https://a.b/…'],
    ['ordinary words', 'basically a bearer of news, maxapp', 'basically a bearer … news, maxapp'],
    ['a password for Redis', 'redis://:s3cret@redis.example:6379/0', 'redis://redis.example:6379/…'],
    [
      'a password for Redis, no database named',
      'redis://:s3cret@redis.example:6379',
      'redis://redis.example:6379',
    ],
    ['a password with an @', 'redis://:s3@cret@redis.example:6379', 'redis://redis.example:6379'],
  ])('%s', (_, line, expected) => {
    expect(scrub(line, [])).toBe(expected);
    expect(scrub(`{"msg":"connect ${line} failed"}`, [])).toBe(`{"msg":"connect ${expected} failed"}`);
  });
});

describe('a log', () => {
  const SECRETS = [
    'xoxb-12-34-s3cret',
    'xapp-1-A0-s3cret',
    'Bearer s3cret',
    'https://hooks.slack.com/commands/s3cret',
    'https://bundles.example/b.zip?X-Signature=s3cret',
    'redis://:s3cret@redis.example:6379',
    'redis://:s3cret@redis.example:6379/0',
  ];

  test.each(SECRETS)('never holds %s, wherever it is said', (secret) => {
    const { log, text } = aLog();
    const cause = new Error(`because of ${secret}`);
    const error = Object.assign(new Error(`went wrong: ${secret}`, { cause }), {
      request: { headers: { authorization: secret }, url: secret },
    });
    log.info(secret);
    log.info({ deep: { list: [{ secret }] } }, 'nested');
    log.warn({ err: error }, 'an error');
    log.error(error);
    log.child({ [secret]: secret }).fatal({ err: new AggregateError([error], secret) });
    log.info('with %s in it', secret);
    log.info({ json: JSON.stringify({ secret }) }, 'quoted twice');
    expect(text()).toContain('an error');
    expect(text()).not.toContain('s3cret');
  });

  test('never holds a secret, whatever stands before and after it', () => {
    const around = fc.oneof(
      fc.constantFrom('\n', '\t', '\r\n', '\b', '"', "'", '\\', '(', '<', '=', ':', ',', '[', '\u2028', 'é'),
      fc.string({ unit: 'binary', maxLength: 5 }).filter((text) => !/\w$/.test(text)),
    );
    fc.assert(
      fc.property(fc.constantFrom(...SECRETS), around, around, (secret, before, after) => {
        const { log, text } = aLog();
        log.info({ said: `${before}${secret}${after}` }, `${before}${secret}${after}`);
        expect(text()).not.toContain('s3cret');
      }),
      { numRuns: 500 },
    );
  });

  test('stays one JSON object a line, with the words that are no secret', () => {
    const { log, lines } = aLog();
    log.info({ address: SECRETS[4], token: SECRETS[0], key: KEY, run: 'r1' }, `told "${KEY}"`);
    expect(lines).toHaveLength(1);
    expect(lines[0]?.endsWith('\n')).toBe(true);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      address: 'https://bundles.example/…',
      token: 'xox…',
      key: '…',
      run: 'r1',
      msg: 'told "…"',
    });
  });

  test('has no arguments of a command of Redis, wherever its error stands', () => {
    const { log, text } = aLog();
    const command = { name: 'evalsha', args: ['7f3c', '1', '{"text":"Delete the pricing page"}'] };
    const error = Object.assign(new Error('OOM command not allowed'), { command });
    log.error({ err: error, errors: [{ ...error }], deep: { command } }, 'job failed, will retry');
    log.error({ err: new AggregateError([error], 'several', { cause: error }) });
    log.error(error);
    const unknown =
      'ERR unknown command \'NOSUCH\', with args beginning with: \'{"text":"Delete the pricing page"}\' ';
    log.error({ err: new Error(unknown) });
    expect(text()).toContain('evalsha');
    expect(text()).toContain('with args beginning with: …');
    expect(text()).not.toContain('pricing');
  });
});

describe('repeated trouble', () => {
  const coded = (code: string) => Object.assign(new Error(`at ${Math.random()}`), { code });
  function aCalmLog() {
    const { log, lines } = aLog();
    let nowMs = 1_000_000;
    const report = createThrottledWarn(log, () => nowMs);
    const passes = (ms: number) => {
      nowMs += ms;
    };
    return { report, told: () => lines.length, passes };
  }

  test('the same trouble is logged once a minute, however often it comes', () => {
    const { report, told, passes } = aCalmLog();
    for (let times = 0; times < 1000; times++) report(coded('ECONNREFUSED'), 'trouble with Redis');
    expect(told()).toBe(1);
    passes(59_999);
    report(coded('ECONNREFUSED'), 'trouble with Redis');
    expect(told()).toBe(1);
    passes(1);
    report(coded('ECONNREFUSED'), 'trouble with Redis');
    expect(told()).toBe(2);
  });

  test('a problem is logged when it begins and when it is over, and an error once a minute', () => {
    const { log, lines } = aLog();
    let nowMs = 1_000_000;
    const report = createProblemLog(log, () => nowMs);
    const full = { name: 'full', level: 'error', text: 'Redis is full' } as const;
    const slow = { name: 'slow', level: 'warn', text: 'Redis is slow' } as const;
    // Ten minutes, and nine seconds more.
    for (let second = 0; second < 609; second += 1, nowMs += 1000) report([full, slow]);
    for (let second = 0; second < 600; second += 1, nowMs += 1000) report([]);
    report([full]);
    const shown = lines.map((line) => {
      const { level, problem, msg } = JSON.parse(line);
      return `${level} ${problem} ${msg}`;
    });
    const begun = '50 full Redis is full';
    const over = ['30 full a problem is over', '30 slow a problem is over'];
    expect(shown).toEqual([begun, '40 slow Redis is slow', ...Array(10).fill(begun), ...over, begun]);
  });
});

import { expect, test } from 'vitest';
import { defaultTiming } from '../../src/runtime/timing.ts';
import { SlackApiError } from '../../src/slack/errors.ts';
import { createTokenGate } from '../../src/slack/web-calls.ts';

function setting() {
  const clock = { ms: 1000 };
  const gate = createTokenGate({ timing: defaultTiming, monotonicMs: () => clock.ms });
  const calls: string[] = [];
  const pass = (method: string, come: () => unknown) =>
    gate
      .run(method, async () => {
        calls.push(method);
        return come();
      })
      .then(
        () => 'answered',
        (error: SlackApiError) => error.code,
      );
  const throws = (kind: SlackApiError['kind'], code: string) => () => {
    throw new SlackApiError(kind, 'chat.update', code);
  };
  return { clock, gate, calls, pass, throws };
}

test('after a refusal of the token nobody calls until its time, ever later', async () => {
  const { clock, gate, calls, pass, throws } = setting();
  const refused = throws('token', 'token_revoked');
  const pauses: number[] = [];
  for (let times = 0; times < 7; times += 1) {
    expect(await pass('chat.update', refused)).toBe('token_revoked');
    expect(await pass('chat.update', refused)).toBe('token_refused_before');
    pauses.push(gate.waitMs());
    clock.ms += gate.waitMs();
  }
  expect(calls).toHaveLength(7);
  expect(pauses).toEqual([1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
});

test('one call finds out whether it works again; the others wait for that, and then all go on', async () => {
  const { clock, gate, calls, pass, throws } = setting();
  await pass('chat.update', throws('token', 'account_inactive'));
  clock.ms += gate.waitMs();
  const { promise, resolve } = Promise.withResolvers<void>();
  const probe = pass('chat.update', () => promise);
  expect(await pass('chat.postMessage', () => {})).toBe('token_refused_before');
  resolve();
  expect(await probe).toBe('answered');
  expect(await pass('chat.postMessage', () => {})).toBe('answered');
  expect(calls).toEqual(['chat.update', 'chat.update', 'chat.postMessage']);
});

test.each([
  ['unclear', 'http_503', true],
  ['unreachable', 'ECONNREFUSED', true],
  ['limited', 'ratelimited', false],
  ['place', 'channel_not_found', false],
  ['token', 'missing_scope', false],
] as const)('what %s (%s) says of a refused token: still refused is %j', async (kind, code, isRefused) => {
  const { clock, gate, pass, throws } = setting();
  await pass('chat.update', throws(kind, code));
  expect(gate.waitMs()).toBe(0);
  await pass('chat.update', throws('token', 'invalid_auth'));
  clock.ms += gate.waitMs();
  await pass('chat.update', throws(kind, code));
  expect(gate.waitMs() > 0).toBe(isRefused);
});

test('who the bot is can always be asked', async () => {
  const { gate, pass, throws } = setting();
  await pass('auth.test', throws('token', 'invalid_auth'));
  expect(await pass('auth.test', () => {})).toBe('answered');
  expect(gate.waitMs()).toBe(0);
});

test('calls that were made at once are one refusal', async () => {
  const { gate, calls, pass, throws } = setting();
  const refused = throws('token', 'token_revoked');
  await Promise.all([
    pass('chat.update', refused),
    pass('chat.update', refused),
    pass('chat.update', refused),
  ]);
  expect(calls).toHaveLength(3);
  expect(gate.waitMs()).toBe(1000);
});

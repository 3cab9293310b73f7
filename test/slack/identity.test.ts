import { expect, onTestFinished, test } from 'vitest';
import { createLog } from '../../src/runtime/log.ts';
import type { SlackApi } from '../../src/slack/client.ts';
import { SlackApiError, type SlackErrorKind } from '../../src/slack/errors.ts';
import { createIdentity } from '../../src/slack/lookups.ts';
import { createSlackLogger } from '../../src/slack/web-calls.ts';

const WARN = 40;
const ERROR = 50;

function aLog() {
  const levels: number[] = [];
  const log = createLog('warn', [], {
    write: (line: string) => void levels.push(JSON.parse(line).level),
  });
  return { log, levels };
}

/** The levels of what is said while Slack fails so often, and then tells. */
async function levelsOf(kind: SlackErrorKind, failures: number): Promise<number[]> {
  const { log, levels } = aLog();
  const told = Promise.withResolvers<void>();
  let asked = 0;
  const slack = {
    async identity() {
      asked += 1;
      if (asked <= failures) throw new SlackApiError(kind, 'auth.test', kind);
      told.resolve();
      return { teamId: 'T0ACME', botUserId: 'U0BOT', botId: 'B0', url: 'https://acme.example/' };
    },
  } as Partial<SlackApi> as SlackApi;
  const keeper = createIdentity(slack, { retryMinMs: 1, retryMaxMs: 1 }, log);
  onTestFinished(() => keeper.stop());
  await keeper.start();
  await told.promise;
  return levels;
}

test('that Slack does not tell for a moment is no error', async () => {
  expect(await levelsOf('unreachable', 2)).toEqual([WARN, WARN]);
  expect(await levelsOf('limited', 1)).toEqual([WARN]);
});

test('that it goes on is one', async () => {
  expect(await levelsOf('unreachable', 4)).toEqual([WARN, WARN, ERROR, ERROR]);
});

test('a token that Slack refuses is one at once', async () => {
  expect(await levelsOf('token', 2)).toEqual([ERROR, ERROR]);
});

test("what Slack's packages call an error is left to whoever called them", () => {
  const { log, levels } = aLog();
  createSlackLogger(log).error(
    'An unhandled error occurred while Bolt processed an incoming event',
    new Error('x'),
  );
  expect(levels).toEqual([WARN]);
});

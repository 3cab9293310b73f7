import { expect, test } from 'vitest';
import type { EventTools } from '../../../src/commands/registry.ts';
import { welcomeEvents } from '../../../src/commands/welcome/events.ts';
import { welcomeRun } from '../../../src/jobs/welcome/record.ts';
import { createRunStore } from '../../../src/store/runs.ts';
import { bindForTest } from '../../support/commands/bind.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();

function setting(accept?: EventTools['runs']['accept']) {
  const runs = createRunStore(redis.client);
  const woken: string[] = [];
  const wake: EventTools['wake'] = ({ id }) => void woken.push(id);
  const tools: Partial<EventTools> = { runs: { ...runs, ...(accept && { accept }) }, wake };
  const eventTools = tools as EventTools;
  return { runs, woken, ...bindForTest({ events: welcomeEvents, eventTools }) };
}
const joins = (user: unknown, channel: unknown = 'C0NEW') => ({ user, channel, channel_type: 'C' });

test('the app in a new channel is kept once, however often Slack says so', async () => {
  const { runs, woken, happens } = setting();
  for (let time = 0; time < 3; time += 1) await happens('member_joined_channel', joins('U0BOT'));
  await happens('member_joined_channel', joins('U0BOT', 'C0OTHER'));
  expect(woken).toHaveLength(2);
  const kept = await runs.loadAll(woken, welcomeRun);
  expect(kept.map(({ channel, teamId }) => [teamId, channel])).toEqual([
    ['T0ACME', 'C0NEW'],
    ['T0ACME', 'C0OTHER'],
  ]);
});

test.each([
  ['somebody else', joins('U0ANA')],
  ['nobody', joins(undefined)],
  ['nowhere', joins('U0BOT', null)],
])('%s who joins is no news', async (_, event) => {
  const { runs, woken, happens } = setting();
  await happens('member_joined_channel', event);
  expect(woken).toEqual([]);
  expect(await runs.active()).toEqual([]);
});

test('what cannot be kept fails towards Slack, which sends it again', async () => {
  const { happens } = setting(() => Promise.reject(new Error('away')));
  await expect(happens('member_joined_channel', joins('U0BOT'))).rejects.toThrow('away');
});

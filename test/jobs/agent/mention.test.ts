import { expect, test } from 'vitest';
import { mentionJob, newMention } from '../../../src/jobs/agent/mention.ts';
import { createRunStore } from '../../../src/store/runs.ts';
import { NOW_MS } from '../../support/builders.ts';
import { ana, wrote } from '../../support/jobs/agent/events.ts';
import { jobContext, stepJob } from '../../support/jobs/world.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();

test('a mention that was kept while no worker ran is answered, however late', async () => {
  const told: string[] = [];
  const context = jobContext(redis.client, {
    slack: { postEphemeralTo: async ({ user }) => void told.push(user) },
  });
  const reply = wrote(ana, 1, '<@U0DOCKET> help');
  const mention = newMention({ teamId: 'T0ACME', botUserId: 'U0DOCKET', reply }, NOW_MS - 3_600_000);
  await createRunStore(redis.client).accept(mention);
  await stepJob(mentionJob, mention.id, context);
  expect(told).toEqual([ana.id]);
});

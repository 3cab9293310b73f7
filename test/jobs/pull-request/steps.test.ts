import { expect, test } from 'vitest';
import { createStandInGitHost } from '../../../demo/git-host/git-host.ts';
import { followPullRequest } from '../../../src/jobs/pull-request/follow.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aRound, aThread } from '../../support/jobs/agent/builders.ts';
import { gitHostOn } from '../../support/jobs/pull-request/host.ts';
import { jobContext } from '../../support/jobs/world.ts';
import { redisForTests } from '../../support/redis.ts';

const server = redisForTests();

const LINK = 'https://git.acme.com/acme/docs/pull/131';

test('a pull request is of the latest round that has it, however its address is spelled', async () => {
  const context = jobContext(server.client, { gitHost: gitHostOn(createStandInGitHost()) });
  const rounds = ['', '/', '/files', '?x'].map((rest, n) =>
    aRound({ n: n + 1, ending: { kind: 'newPr', prLink: LINK + rest, atMs: NOW_MS } }),
  );
  const saved = await followPullRequest(aThread({ id: 'spelled', project: 'acme', rounds }), context);
  const thread = saved && 'run' in saved ? saved.run : expect.fail('nothing is saved');
  expect(thread.rounds.map(({ pullRequest }) => pullRequest !== undefined)).toEqual([
    ...[false, false, false, true],
  ]);
  expect(await followPullRequest(thread, context)).toBeUndefined();
});

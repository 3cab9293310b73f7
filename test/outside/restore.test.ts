import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { takeBackup } from '../../src/backup/backup.ts';
import { restoreBackup } from '../../src/backup/restore.ts';
import { agentsOn, SEND } from '../support/flows/agent-stage.ts';
import { stageOf } from '../support/flows/stage.ts';
import { createWorld, temporaryFolder, type World } from '../support/flows/world.ts';

const START = 'POST /v1/static-export/jobs';
const [WAITS, CARDLESS] = ['waits.acme.com', 'cardless.acme.com'] as const;

/** It certainly did not happen. */
const TOO_MANY = { kind: 'answer', status: 429, headers: { 'retry-after': '3' } } as const;

/** A bot with a Redis of its own, of which a backup can be taken and put back. */
async function given() {
  const world = await createWorld({ processes: true });
  const folder = temporaryFolder();
  const parts = {
    dataDir: join(folder.path, 'data'),
    searchPath: process.env.PATH ?? '',
    log: { info() {}, warn() {}, error() {} },
  };
  const file = join(folder.path, 'backup');
  return {
    world,
    scene: stageOf(() => world),
    start: () => world.startBot({ dataDir: parts.dataDir }),
    backUp: () => takeBackup(file, parts),
    restore: () => restoreBackup(createReadStream(file), parts),
    async close() {
      await world.close();
      folder.remove();
    },
  };
}

/** The texts that stand more than once in one place. */
function doubled(world: World): string[] {
  const posts = world.slack.messages
    .filter(({ from, deleted }) => from === 'docket' && !deleted)
    .map(({ channel, threadTs, text }) => JSON.stringify([channel, threadTs, text]));
  return posts.filter((post, index) => posts.indexOf(post) !== index);
}

test('what was started after the backup is asked about, and nothing is posted twice', async () => {
  const { world, scene, start, backUp, restore, close } = await given();
  world.platform.domains.push(WAITS, CARDLESS);
  for (const domain of [WAITS, CARDLESS]) world.platform.plan({ domain, durationMs: 10 });
  const first = await start();
  world.platform.wire.order(START, TOO_MANY, 1000);
  await scene.asks(`/docs-export ${WAITS}`);
  await world.slack.until(() => world.platform.wire.calls.some(({ outcome }) => outcome === '429'));
  world.slack.wire.order('chat.postMessage', TOO_MANY, 1000);
  await scene.asks(`/docs-export ${CARDLESS}`);
  await world.slack.until(() => world.slack.wire.calls.some(({ outcome }) => outcome === '429'));
  await backUp();
  world.platform.wire.clear();
  world.slack.wire.clear();
  await scene.until([`${WAITS} is exported`]);
  await scene.until([`${CARDLESS} is exported`]);
  await first.terminate();

  const { takenAtMs, restoredAtMs } = await restore();
  expect(takenAtMs).toBeLessThanOrEqual(restoredAtMs);
  await start();
  // Were it sent at the moment of the backup, the question would have another reason.
  await scene.until([`Did the export of ${WAITS} start?`]);
  await scene.until([`Did the export of ${CARDLESS} start? A backup was restored`]);
  expect(world.platform.starts.map(({ domain }) => domain).toSorted()).toEqual([CARDLESS, WAITS]);
  const cards = world.slack.messages.filter(
    ({ from, threadTs, deleted }) => from === 'docket' && threadTs === undefined && !deleted,
  );
  expect(cards).toHaveLength(2);
  expect(doubled(world)).toEqual([]);

  // Whoever starts it again has decided so after the restore.
  await scene.clicks('ana', `Did the export of ${WAITS} start?`, 'Start again');
  await world.slack.until(() => world.platform.starts.length === 3);
  await scene.until(['ana started it again']);
  await close();
});

test('what was sent to the agent after the backup is asked about, held or not', async () => {
  const { world, scene, start, backUp, restore, close } = await given();
  const { follows, replies, untilBelow, sent, instructions, plan } = agentsOn(scene);
  const first = await start();
  const { card, jobId } = await follows();
  plan(jobId);
  world.platform.wire.order(SEND, TOO_MANY);
  await replies(card, 'Rewrite the quickstart');
  await untilBelow(card, "The platform's limit is reached");
  await backUp();
  world.platform.wire.clear();
  await sent(1);
  await first.terminate();

  await restore();
  await start();
  await untilBelow(card, 'reach the agent?');
  expect(instructions()).toEqual(['Rewrite the quickstart']);
  const question = await world.slack.until(() =>
    world.slack.messages.findLast((message) => world.slack.read(message).includes('reach the agent?')),
  );
  await world.slack.person('ana').clicks(question, 'Send again');
  await sent(2);
  await replies(card, 'This one is new');
  await sent(3);
  expect(doubled(world)).toEqual([]);
  await close();
});

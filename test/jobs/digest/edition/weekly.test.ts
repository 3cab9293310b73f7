import { describe, expect, test } from 'vitest';
import type { JobContext } from '../../../../src/jobs/context.ts';
import { editionJob } from '../../../../src/jobs/digest/edition/job.ts';
import { figuresJob } from '../../../../src/jobs/digest/figures/job.ts';
import { SlackApiError } from '../../../../src/slack/errors.ts';
import type { RunBase } from '../../../../src/store/runs.ts';
import { accept, post, setUp, textOf, weekly } from '../../../support/jobs/digest/editions.ts';
import { redisForTests } from '../../../support/redis.ts';

const redis = redisForTests();

describe('the digest of a week', () => {
  test('is one digest and one file, whatever dies between any two writes', async () => {
    const { shown, world } = await setUp(redis.client, { refusesCharts: true });
    const planned = weekly();
    await accept(world, planned);
    for (const { id } of planned.figures) await world.drive(figuresJob, id);
    let saves = 0;
    const { runs } = world.context;
    const dying: JobContext = {
      ...world.context,
      runs: {
        ...runs,
        async save<R extends RunBase>(next: R, release?: boolean) {
          saves += 1;
          if (saves % 2 === 1) throw new Error('died before the save');
          return runs.save(next, release);
        },
      },
    };
    for (;;) {
      const outcome = await editionJob.run({ runId: planned.edition.id }, dying).catch(() => undefined);
      if (outcome?.kind === 'done') break;
      if (outcome?.kind === 'again') world.nowMs += outcome.inMs;
    }
    const completed = shown.files.filter((file) => file.completed.length > 0);
    expect(completed.map(({ filename }) => filename.split('.')[1])).toEqual(['csv']);
    for (const file of completed) expect(file.completed).toHaveLength(1);
  });

  test('a completion without an answer is looked up, and made again only where it did not happen', async () => {
    for (const happened of [true, false]) {
      await redis.client.flushall();
      const { shown, world } = await setUp(redis.client);
      const { completeUpload } = world.context.slack;
      let failures = 1;
      Object.assign(world.context.slack, {
        async completeUpload(file: Parameters<typeof completeUpload>[0]) {
          if (happened || failures === 0) await completeUpload(file);
          if (failures === 0) return;
          failures -= 1;
          throw new SlackApiError('unclear', 'files.completeUploadExternal', 'timeout');
        },
      });
      const run = await post(world, weekly());
      expect(run.csv).toMatchObject({ state: 'done' });
      expect(shown.files.flatMap(({ completed }) => completed)).toHaveLength(1);
    }
  });

  test('says when the list of pages does not add up to the totals', async () => {
    const { shown, world } = await setUp(redis.client);
    const { context } = world;
    const docs = context.docs('acme');
    if (docs === undefined) throw new Error('no client');
    const short = {
      ...docs,
      async getPageViews(...args: Parameters<typeof docs.getPageViews>) {
        const answer = await docs.getPageViews(...args);
        return { ...answer, views: answer.views.slice(1) };
      },
    };
    Object.assign(context, { docs: () => short });
    const run = await post(world, weekly());
    expect(textOf(shown, `${run.id}.pages`)).toMatch(
      /The list of pages of the days before adds up to [\d,]+ of [\d,]+ views, so changes of pages may be wrong/,
    );
    expect(textOf(shown, `${run.id}.pages`)).toMatch(/The list of pages adds up to [\d,]+ of [\d,]+ views/);
  });
});

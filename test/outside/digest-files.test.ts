import { beforeEach, describe, expect, test } from 'vitest';
import { dayAfter, digestStage } from '../support/flows/digest-stage.ts';

describe('a workspace that refuses', () => {
  const { scene, creates, reads, quiet, toBerlin, toSunday, digest, digests, below, read } = digestStage();
  beforeEach(async () => {
    const week = await toSunday();
    for (const one of [week, dayAfter(week, 7)]) {
      quiet(one);
      reads('/quickstart', one, { human: 700, ai: 70 });
    }
    Object.assign(scene.slack.refuses, { charts: undefined, tables: undefined, files: undefined });
    await creates();
  });
  const uploads = () => scene.slack.files.map(({ name }) => name.replace(/\d{4}-W\d\d/, 'WEEK'));

  test('charts: the numbers are enough', async () => {
    scene.slack.refuses.charts = true;
    await toBerlin(1, '09:00');
    const root = await digest('2026', { has: ['770 views', '.csv'] });
    expect(uploads()).toEqual(['page-views-WEEK.csv']);
    expect(root.text).toContain('People 100, 100, 100, 100, 100, 100, 100');
    expect(read(root)).not.toContain('Views by people');
  });

  test.each(['disabled', 'scope'] as const)('charts and files (%s): the tables are enough', async (files) => {
    Object.assign(scene.slack.refuses, { charts: true, files });
    await toBerlin(1, '09:00');
    const root = await digest('2026', { has: ['Top pages'] });
    await expect.poll(() => scene.audit()).toContainEqual('ana digest docs.acme.com → posted');
    expect(read(root)).not.toContain('image');
    expect(read(root)).toContain('People 700');
    expect(below(root)).toHaveLength(1);
    expect(below(root)[0]).toContain('/quickstart | 700 | 70 | 770');
    expect(uploads()).toEqual([]);
    expect(digests()).toHaveLength(1);
  });

  test('tables: lines take their place', async () => {
    scene.slack.refuses.tables = true;
    await toBerlin(1, '09:00');
    const root = await digest('2026', { has: ['.csv'] });
    await expect.poll(() => scene.audit()).toContainEqual('ana digest docs.acme.com → posted');
    expect(below(root)[0]?.split('\n')).toEqual([
      'Top pages of docs.acme.com',
      '/quickstart: people 700 · AI 70 · ±0',
      '1 page was read.',
      '[Ask the agent]',
    ]);
    expect(read(root)).toContain('Views by people and by AI');
  });
});

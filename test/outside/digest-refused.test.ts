import { beforeEach, describe, expect, test } from 'vitest';
import type { Call } from '../../demo/wire.ts';
import { dayAfter, digestStage, HOUR_MS } from '../support/flows/digest-stage.ts';

const MINUTE_MS = 60_000;

const isViews = ({ name }: Pick<Call, 'name'>) => name === 'GET /v1/analytics/{projectId}/views';
/** A request for the list of pages, in place of totals. */
const isList = (call: Call) => isViews(call) && JSON.stringify(call.detail.query).includes('"limit":"250"');

describe('a digest for which the platform gives no numbers', () => {
  const {
    scene,
    asks,
    told,
    person,
    creates,
    reads,
    quiet,
    toBerlin,
    toSunday,
    digest,
    digests,
    roots,
    read,
    post,
    note,
    begun,
    untilWoken,
    untilPassed,
    requests,
    below,
  } = digestStage();
  let week: string;
  beforeEach(async () => {
    week = await toSunday();
    quiet(dayAfter(week, -7), week);
    reads('/quickstart', week, { human: 700, ai: 70 });
  });

  const answers = (status: number, match: (call: Call) => boolean = isViews) =>
    scene.platform.wire.order(match, { kind: 'answer', status }, Infinity);
  const lines = () =>
    roots()
      .map(read)
      .filter((text) => text.includes(' Digest '));

  test.each([
    [400, "The platform won't give me numbers", 'find out why'],
    [401, 'My access to the docs platform was rejected', 'renew the key'],
    [403, "The platform won't give me numbers", 'check what the plan, the IP allowlist and my key allow'],
    [404, "The platform doesn't know this project", "check the project's id"],
  ])('%i is told at once, with the fix; mended, it comes, once', async (status, why, fix) => {
    await creates();
    answers(status);
    await toBerlin(1, '09:00');
    const late = await post('Digest late', '@ana');
    expect(read(late).split('\n')).toEqual([
      '⚠️ Digest late · docs.acme.com in #docs',
      `${why}. Ask your Docket admins to ${fix}, then choose [Run now].`,
      'I also try again every half hour, for two days.',
      expect.stringContaining(`HTTP ${status}`),
      '[Run now] [Remove]',
    ]);
    await post('Digest late');
    expect(lines()).toEqual([
      expect.stringMatching(/^⚠️ Digest late · docs\.acme\.com · [^,]+ 2026\n.*numbers\.\n/),
    ]);
    expect(lines()[0]).toContain(why);
    // [Run now] asks at once, and says what came of it.
    await person('ana').clicks(late, 'Run now');
    expect(read(await note('ana', 'No numbers yet'))).toContain(why.slice(1));
    scene.platform.wire.clear();
    await person('ana').clicks(late, 'Run now');
    await digest('2026', { has: ['770 views', '.csv'] });
    await scene.slack.until(() => lines()[0]?.startsWith('✅'));
    expect(lines()).toHaveLength(1);
    expect(digests()).toHaveLength(1);
  });

  test('5xx is told an hour after it was due; it comes by itself once the platform works', async () => {
    await creates();
    answers(500);
    await toBerlin(1, '09:00');
    await begun();
    await scene.world.jumpTo(scene.world.now() + 55 * MINUTE_MS);
    await scene.slack.until(() => requests() > 2);
    expect(lines()).toEqual([]);
    await scene.world.jumpTo(scene.world.now() + 6 * MINUTE_MS);
    await untilWoken(() => lines().length === 1);
    expect(read(await post('Digest late', '@ana'))).toContain(
      'Digest late · docs.acme.com in #docs\nThe platform has trouble. Choose [Run now] in a while.',
    );
    scene.platform.wire.clear();
    await scene.world.jumpTo(scene.world.now() + 31 * MINUTE_MS);
    const root = await digest('2026', { has: ['770 views', '.csv'] });
    expect(read(root)).toContain('Sent late.');
    await scene.slack.until(() => lines()[0]?.startsWith('✅'));
  });

  test('any dates that somebody asks for are refused at once, with the cause', async () => {
    answers(403);
    await toBerlin(1, '09:00');
    expect(told(await asks('/docs-digest last week'))).toContain('On its way');
    expect(read(await post('Digest not sent', '@ana'))).toContain(
      "Digest not sent · docs.acme.com\nThe platform won't give me numbers.",
    );
  });

  test('where the list of pages alone fails, the digest says so, and failures leave the hour to others', async () => {
    await creates();
    answers(500, isList);
    await toBerlin(1, '09:00');
    const root = await digest('2026', {
      has: ['The page list follows later. The platform has trouble.'],
    });
    const before = requests();
    for (let hours = 0; hours < 4; hours += 1) {
      const seen = requests();
      await untilPassed(HOUR_MS, () => requests() > seen);
    }
    expect(requests() - before).toBeLessThan(34);
    expect(read(root)).not.toContain('hourly limit');
    scene.platform.wire.clear();
    await untilPassed(HOUR_MS, () => below(root).some((text) => text.includes('.csv')));
    await scene.slack.until(() => !read(root).includes('follows later'));
  });

  test('where others use up the limit, nothing is promised after the second wait', async () => {
    await creates();
    answers(429, isList);
    await toBerlin(1, '09:00');
    const root = await digest('2026', { has: ['The page list follows'] });
    const looks = new Set<string>();
    for (let waits = 0; waits < 8; waits += 1) {
      const seen = requests();
      await untilPassed(40 * MINUTE_MS, () => requests() > seen);
      looks.add(read(root));
    }
    expect(read(root)).toContain(
      "The page list follows later. The platform's hourly limit is used up, partly by others.",
    );
    expect(looks.size).toBeLessThan(3);
    scene.platform.wire.clear();
    await untilPassed(HOUR_MS, () => below(root).some((text) => text.includes('.csv')));
  });
});

import { expect, test } from 'vitest';
import { digestStage } from '../support/flows/digest-stage.ts';

const { scene, asks, told, toldLast, person, creates, digest, digests, read, note, toBerlin, inBerlin } =
  digestStage();

const MONTHLY = 'Once a month, around the 1st';

const daysFrom = (from: string, days: number) =>
  Array.from({ length: days }, (_, at) => Temporal.PlainDate.from(from).add({ days: at }).toString());

test('a monthly digest beside a weekly one is set up, comes once, and compares month with month', async () => {
  const { platform, world } = scene;
  platform.readers.silence('2026-08-01', '2026-11-01');
  for (const day of daysFrom('2026-08-01', 44)) platform.views.set('/quickstart', day, { human: 10, ai: 0 });
  for (const day of daysFrom('2026-09-14', 17)) platform.views.set('/quickstart', day, { human: 40, ai: 0 });
  await creates({ Day: MONTHLY });
  expect(read(await note('ana', 'first one'))).toContain(
    `Set up · monthly digest of docs.acme.com in #docs\nfirst one ${inBerlin('2026-10-01', '09:00')} · every month 09:00 Europe/Berlin`,
  );
  await creates();
  await asks('/docs-digest create', { who: 'ben' });
  const second = await person('ben').submits({ Channel: '#docs', Day: MONTHLY });
  expect(second.errors).toEqual({
    channel:
      'That channel already has a monthly digest of docs.acme.com. Close this, type /docs-digest list, and choose [Change].',
  });
  const unusual = { 'Also include': ['A post about each unusual day'] };
  expect((await person('ben').submits({ Day: MONTHLY, ...unusual })).errors).toMatchObject({
    sections: 'Choose a day: unusual days need a weekly digest.',
  });
  // Of two, a person chooses.
  expect(told(await asks('/docs-digest run'))).toMatch(/Mondays 09:00.*every month 09:00 Europe\/Berlin/s);

  await toBerlin(1, '09:00');
  await digest('14–20 Sep 2026', { has: ['.csv'] });
  await world.jumpTo(Date.parse('2026-10-01T06:59:00Z'));
  expect(digests().map(read).join()).not.toContain('September');
  await world.jumpTo(Date.parse('2026-10-01T07:00:00Z'));
  const root = await digest('September 2026', { has: ['page-views-2026-09.csv'] });
  expect(read(root).split('\n').slice(0, 4)).toEqual([
    '📊 docs.acme.com · September 2026 (UTC)',
    '810 views ▲ 161% (310 the month before)',
    'People 810 ▲ 161%  ·  AI 0 ±0  ·  AI share 0% (was 0%)  ·  Visitors 76 +48 (approximate)',
    'Views per day 10 → 27.',
  ]);
  expect(read(root)).toContain(
    'Largest changes within the month (1 of its 3 whole weeks): 14–20 Sep /quickstart, views by people 70 → 280, ▲ 300%',
  );

  const { ephemeral: both } = await asks('/docs-digest list');
  if (both === undefined) throw new Error('nothing is listed');
  const monthly = both.blocks.slice(
    read(both).indexOf('every month') < read(both).indexOf('Mondays') ? 0 : 3,
  );
  const entry = { ...both, blocks: monthly };
  await person('ana').clicks(entry, 'Run now');
  expect(toldLast('ana')).toMatch(
    /^Already posted · .*\nNothing was posted again\.\nSeptember 2026 \(UTC\)\n/,
  );
  await person('ana').clicks(entry, 'Change');
  expect(person('ana').fields()[0]).toMatchObject({ value: MONTHLY, options: [MONTHLY] });
  await person('ana').submits({ Time: '08:00' });
  expect(toldLast('ana')).toMatch(
    /^Active · monthly digest of docs\.acme\.com .*every month 08:00 Europe\/Berlin/s,
  );
  expect(digests().filter((one) => read(one).includes('September 2026'))).toEqual([root]);
});

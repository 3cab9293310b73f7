import { beforeEach, describe, expect, test } from 'vitest';
import { BERLIN, dayAfter, digestStage } from '../support/flows/digest-stage.ts';

describe('setting up a weekly digest', () => {
  const {
    scene,
    asks,
    told,
    person,
    toldLast,
    creates,
    reads,
    quiet,
    toBerlin,
    toSunday,
    digest,
    digests,
    below,
    read,
    roots,
    note,
    post,
    inBerlin,
  } = digestStage();
  let week: string;
  beforeEach(async () => {
    week = await toSunday();
    quiet(dayAfter(week, -7), week);
    reads('/quickstart', dayAfter(week, -7), { human: 700, ai: 70 });
    reads('/quickstart', week, { human: 770, ai: 140 });
  });

  test('the modal begins with this channel, Monday morning, and the zone of the person', async () => {
    const fields = async () => {
      while (person('ben').modal()) await person('ben').closes();
      await asks('/docs-digest create', { who: 'ben' });
      return person('ben')
        .fields()
        .map(({ label, value }) => [label, value]);
    };
    // Where Slack takes long to tell the zone, the modal begins with UTC.
    await expect.poll(fields).toEqual([
      ['Channel', '#docs'],
      ['Day', 'Monday'],
      ['Time', '09:00'],
      ['Time zone', 'America/New_York'],
      ['Also include', ['What readers looked for', 'Pages', 'CSV of all pages']],
    ]);
  });

  test('a time too early is refused at the field, with the earliest one that is safe', async () => {
    await asks('/docs-digest create');
    const answer = await person('ana').submits({ Time: '00:30', 'Time zone': BERLIN });
    expect(answer.errors).toEqual({
      time: 'The week ends on Monday at 00:00 UTC, and its numbers are final an hour later. Earliest: Mondays 03:00 Europe/Berlin.',
    });
    expect(scene.slack.messages).toEqual([]);
    await person('ana').submits({ Time: '03:00' });
    expect(read(await note('ana', 'first one'))).toBe(
      `Set up · weekly digest of docs.acme.com in #docs\nfirst one ${inBerlin(dayAfter(week, 7), '03:00')} · Mondays 03:00 Europe/Berlin\n[Preview digest] [Run now] [⋯ Change] [⋯ Pause] [⋯ Remove]`,
    );
  });

  test('a channel where the app is not: nothing is set up, and the fix is told', async () => {
    await asks('/docs-digest create');
    await person('ana').submits({ Channel: '#elsewhere' });
    expect(read(await note('ana', "can't post"))).toBe(
      "I can't post in #elsewhere yet, so nothing was set up. Type /invite @Docket there, then /docs-digest create again.",
    );
    await expect
      .poll(async () => told(await asks('/docs-digest list')))
      .toContain('There are no scheduled digests that you can see here.');
    await person('ana').types('#elsewhere', '/invite @Docket');
    await creates({}, { where: '#elsewhere' });
  });

  test('a second one for the same channel is refused at the field', async () => {
    await creates();
    await asks('/docs-digest create', { who: 'ben' });
    const { errors } = await person('ben').submits({ Channel: '#docs' });
    expect(errors).toEqual({
      channel:
        'That channel already has a weekly digest of docs.acme.com. Close this, type /docs-digest list, and choose [Change].',
    });
    expect(roots()).toHaveLength(1);
  });

  test('guests and strangers may have none', async () => {
    expect(told(await asks('/docs-digest create', { who: 'gus' }))).toBe(
      "You can't set up digests here, ask for them or see the numbers of a page, so nothing was done. Ask a full member of this workspace.",
    );
    expect(told(await asks('/docs-digest last week', { who: 'sue' }))).toContain("You can't set up digests");
    expect(await scene.audit()).toEqual([
      'gus /docs-digest  → refused: not permitted',
      'sue /docs-digest  → refused: not permitted',
    ]);
  });

  test('[Preview digest] comes to the person alone, and changes nothing', async () => {
    await creates();
    await person('ana').clicks(await note('ana', 'first one '), 'Preview digest');
    expect(toldLast('ana')).toContain('as a direct message; nobody else sees it.');
    const preview = await digest('2026', { where: '@ana', has: ['/quickstart'] });
    expect(read(preview).split('\n')[0]).toMatch(/^📊 Preview · docs\.acme\.com · /);
    expect(read(preview)).toContain('Only you can see this preview.');
    expect(below(preview).join()).not.toMatch(/Ask the agent|csv/);
    expect(digests()).toEqual([]);
    // Typed, it is the same.
    expect(told(await asks('/docs-digest preview'))).toContain('as a direct message');
    await scene.slack.until(() => digests('@ana').length === 2);
    await toBerlin(1, '09:00');
    await digest('2026', { has: ['.csv'] });
  });

  test('[Run now] posts the last complete week, once', async () => {
    const created = await creates();
    const clicked = await person('ana').clicks(created, 'Run now');
    expect(clicked.ok).toBe(true);
    const last = dayAfter(week, -7);
    expect(toldLast('ana')).toMatch(/^On its way · digest of docs\.acme\.com in #docs\n/);
    const root = await digest(last.slice(0, 4), { has: ['770 views', '.csv'] });
    await post('.csv');
    expect(await scene.audit()).toContainEqual(expect.stringContaining('sent now: 2026-W'));
    await expect
      .poll(async () => told(await asks('/docs-digest run')))
      .toMatch(
        /^Already posted · digest of docs\.acme\.com in #docs\nNothing was posted again\.\n.*\n\[Open thread\]$/,
      );
    expect(digests()).toEqual([root]);
    // Whoever had it sent hears how it ended.
    expect(read(await post('Posted', '@ana'))).toMatch(
      /^Posted · digest of docs\.acme\.com in #docs\n.*2026 \(Mon–Sun, UTC\)\n\[Open thread\]$/,
    );
    // The one of the week after comes as ever.
    await toBerlin(1, '09:00');
    await digest('2026', { has: ['910 views'] });
    expect(digests()).toHaveLength(2);
  });

  test('[Change] asks what it is, and keeps the rest', async () => {
    const created = await creates();
    await person('ana').clicks(created, 'Change');
    expect(
      person('ana')
        .fields()
        .map(({ label }) => label),
    ).toEqual(['Day', 'Time', 'Time zone', 'Also include']);
    await person('ana').submits({ Day: 'Thursday', Time: '15:30', 'Also include': ['Pages'] });
    expect(toldLast('ana')).toMatch(
      /^Active · weekly digest of docs\.acme\.com in #docs\nnext TIME · Thursdays 15:30 Europe\/Berlin\n/,
    );
    await toBerlin(1, '09:00');
    expect(digests()).toEqual([]);
    await toBerlin(4, '15:30');
    const root = await digest('2026', { has: ['Top pages'] });
    await expect.poll(() => scene.audit()).toContainEqual('ana digest docs.acme.com → posted');
    expect(below(root)).toHaveLength(1);
  });

  test('two people change it: the later save counts, and its answer shows all of it', async () => {
    await creates();
    for (const who of ['ana', 'ben'] as const) {
      const { ephemeral } = await asks('/docs-digest list', { who });
      if (ephemeral === undefined) throw new Error('nothing is listed');
      await person(who).clicks(ephemeral, 'Change');
    }
    await person('ben').submits({ Time: '15:30', 'Also include': ['Pages', 'CSV of all pages'] });
    expect(toldLast('ben')).toContain('Mondays 15:30 Europe/Berlin');
    await person('ana').submits({ Day: 'Thursday' });
    expect(toldLast('ana')).toContain('Thursdays 09:00 Europe/Berlin');
    expect(told(await asks('/docs-digest list'))).toContain('Thursdays 09:00 Europe/Berlin');
  });

  test('paused, nothing comes until it is resumed; what was due meanwhile is not caught up', async () => {
    await creates();
    expect(told(await asks('/docs-digest pause', { who: 'ben' }))).toBe(
      'Paused · the weekly digest of docs.acme.com in #docs\nPaused until someone resumes it.\n[Resume] [Remove]',
    );
    await toBerlin(1, '09:00');
    expect(told(await asks('/docs-digest list'))).toBe(
      'docs.acme.com in #docs · paused by ben\nMondays 09:00 Europe/Berlin\n[Preview digest] [Resume] [⋯ Run now] [⋯ Change] [⋯ Remove]',
    );
    expect(told(await asks('/docs-digest pause'))).toBe("It's already paused.\n[Resume]");
    await person('ana').clicks(await note('ana', 'paused by ben'), 'Resume');
    expect(toldLast('ana')).toMatch(
      /^Active · weekly digest of docs\.acme\.com in #docs\nnext TIME · Mondays 09:00 Europe\/Berlin\n/,
    );
    expect(digests()).toEqual([]);
    const next = dayAfter(week, 7);
    quiet(next);
    reads('/quickstart', next, { human: 7, ai: 0 });
    await toBerlin(1, '09:00');
    await digest('2026', { has: ['7 views', '.csv'] });
    expect(digests()).toHaveLength(1);
  });

  test('[Remove] asks first, and ends it', async () => {
    const created = await creates();
    const text = 'Its channel gets no more digests. Those already posted stay.';
    // An entry of a menu asks in an answer.
    await person('ana').clicks(created, 'Remove');
    const asked = await note('ana', 'Remove the weekly digest');
    expect(read(asked)).toBe(`Remove the weekly digest of docs.acme.com in #docs?\n${text}\n[Remove]`);
    expect(told(await asks('/docs-digest list'))).toContain('docs.acme.com in #docs\nnext TIME');
    // A button asks before it is clicked.
    const { ephemeral: paused } = await asks('/docs-digest pause');
    expect(paused && person('ana').asked(paused, 'Remove')).toEqual({
      title: 'Remove this digest?',
      text,
      buttons: ['Remove', 'Keep it'],
    });
    await person('ana').clicks(asked, 'Remove');
    expect(toldLast('ana')).toBe('Removed · the weekly digest of docs.acme.com in #docs');
    await person('ana').clicks(created, 'Run now');
    expect(toldLast('ana')).toContain('This digest was already removed.');
    await toBerlin(1, '09:00');
    expect(told(await asks('/docs-digest list'))).toContain(
      'There are no scheduled digests that you can see here.',
    );
    expect(digests()).toEqual([]);
    expect(told(await asks('/docs-digest remove'))).toContain('No digest is scheduled in this channel.');
  });

  test('a list tells what one may see, with the next time', async () => {
    await creates();
    await creates({ Day: 'Tuesday' }, { where: '#private' });
    const at = (days: number) => inBerlin(dayAfter(week, days), '09:00');
    const listed = (await asks('/docs-digest list')).ephemeral;
    const BUTTONS = '[Preview digest] [Run now] [⋯ Change] [⋯ Pause] [⋯ Remove]';
    expect(listed && read(listed).split('\n')).toEqual([
      'docs.acme.com in #docs',
      `next ${at(7)} · Mondays 09:00 Europe/Berlin`,
      'docs.acme.com in #private',
      `next ${at(8)} · Tuesdays 09:00 Europe/Berlin`,
      `${BUTTONS} ${BUTTONS}`,
    ]);
    // Of a private channel, only those hear who are in it.
    expect(told(await asks('/docs-digest list', { who: 'ben' }))).not.toContain('#private');
  });
});

import { describe, expect, test } from 'vitest';
import type { Ending, ExportRun } from '../../../src/jobs/export/record.ts';
import { exportMessages } from '../../../src/jobs/export/view.ts';
import { NOW_MS } from '../../support/builders.ts';
import { anEnding, ended, type REASONS_NOT_TO_START } from '../../support/jobs/export/builders.ts';
import { messageOf } from '../../support/jobs/export/rendering.ts';
import { reads } from '../../support/slack/rendering.ts';

describe('the ending', () => {
  const looks = [{ atMs: NOW_MS, fraction: 0.61 }];
  const said = (ending: Ending, changes: Partial<ExportRun> = {}) => messageOf(ended(ending, changes), 'end');

  test.each<[string, string | undefined, string | undefined]>([
    [
      'done',
      said(anEnding.done, { pageCount: 412 }),
      '✅ @Ana docs.acme.com is exported · 412 pages · 18.4 MB · took 3 min\nThe link works until TIME{date_short_pretty} {time}. Anyone who has it can download the bundle.\n[Download bundle] [Deployment settings] [⋯ New link]',
    ],
    [
      'done, with nothing else told',
      said({ kind: 'done', link: 'x' }, { completedAtMs: undefined }),
      "✅ @Ana docs.acme.com is exported\nThe platform didn't say how long the link works. Anyone who has it can download the bundle.\n[Download bundle] [Deployment settings] [⋯ New link]",
    ],
    [
      'done, one page and one byte',
      said({ kind: 'done', link: 'x', linkEndsAtMs: NOW_MS, sizeBytes: 1 }, { pageCount: 1 }),
      '✅ @Ana docs.acme.com is exported · 1 page · 1 byte · took 3 min\nThe link works until TIME{date_short_pretty} {time}. Anyone who has it can download the bundle.\n[Download bundle] [Deployment settings] [⋯ New link]',
    ],
    [
      'failed',
      said(anEnding.failed, { looks }),
      '❌ @Ana The export of docs.acme.com failed at 61% after 3 min.\nThe platform said: "Page guides/x failed to render"\nYour live site is not affected. · ref 3f9a1c2b\n[Start again]',
    ],
    [
      'failed, without a reason',
      said({ kind: 'failed' }),
      '❌ @Ana The export of docs.acme.com failed after 3 min.\nThe platform gave no reason.\nYour live site is not affected. · ref 3f9a1c2b\n[Start again]',
    ],
    [
      'failed, with a reason that says nothing',
      said({ kind: 'failed', reason: ' \u202E\n' }),
      '❌ @Ana The export of docs.acme.com failed after 3 min.\nThe platform gave no reason.\nYour live site is not affected. · ref 3f9a1c2b\n[Start again]',
    ],
    [
      'lost',
      said(anEnding.lost),
      '❌ @Ana The platform no longer knows the export of docs.acme.com (404).\n[Start again]',
    ],
    [
      'gave up',
      said(anEnding.gaveUp),
      '💤 @Ana I stopped watching the export of docs.acme.com after 6 h. It may still finish.\n[Check now]',
    ],
    [
      'no link',
      said(anEnding.noLink),
      '⚠️ @Ana docs.acme.com is exported, but I could not get a download link yet.\n[Get the link]',
    ],
    [
      'broken',
      said(anEnding.broken),
      '❌ @Ana Something broke on my side during the export of docs.acme.com. It may still finish at the platform.\nref 7f3c1d\n[Check now]',
    ],
    [
      'broken before anybody knows whether it started',
      said(anEnding.broken, { jobId: undefined }),
      "❌ @Ana Something broke on my side during the export of docs.acme.com. It may or may not have started: look in the platform's dashboard before you start it again.\nref 7f3c1d\n[Start again]",
    ],
    ['left', said(anEnding.left), undefined],
    ['no place', said(anEnding.noPlace), undefined],
  ])('%s', (_, text, expected) => {
    expect(text).toBe(expected);
  });

  test('not started for what was asked besides the domain: its site, then what to check', () => {
    expect(messageOf(ended({ kind: 'notStarted', why: 'domain' }, { paths: ['/a'] }), 'end')).toBe(
      "❌ @Ana Nothing was started for docs.acme.com: the platform doesn't accept its domain, its label or its pages. Check them and type the command again.",
    );
  });

  test.each<[(typeof REASONS_NOT_TO_START)[number], string]>([
    [
      'domain',
      "❌ @Ana The platform doesn't accept docs.acme.com, so nothing was started. Check the spelling and type the command again.",
    ],
    [
      'plan',
      "❌ @Ana The export of docs.acme.com was not started: the platform doesn't allow it (403); ask the people who run Docket.\n[Start again]",
    ],
    [
      'key',
      '❌ @Ana The export of docs.acme.com was not started: my platform key was rejected; the people who run Docket have to renew it.\n[Start again]',
    ],
    [
      'limit',
      "❌ @Ana The export of docs.acme.com was not started: the platform's limit is reached. Try again later.\n[Start again]",
    ],
    [
      'down',
      "❌ @Ana The export of docs.acme.com was not started: the docs platform isn't answering. Try again in a little while.\n[Start again]",
    ],
    [
      'project',
      '❌ @Ana The export of docs.acme.com was not started: my settings no longer have the project default. Ask the people who run Docket.',
    ],
    [
      'other',
      '❌ @Ana The platform refused the export of docs.acme.com. Nothing was started. If this keeps happening, tell the people who run Docket.\nref 3f9a1c2b\n[Start again]',
    ],
  ])('not started: %s', (why, expected) => {
    expect(said({ kind: 'notStarted', why })).toBe(expected);
  });

  test('not started: the text of the platform is added', () => {
    expect(said(anEnding.notStarted)).toBe(
      '❌ @Ana The platform doesn\'t accept docs.acme.com, so nothing was started. Check the spelling and type the command again.\nThe platform said: "Unknown domain"',
    );
  });

  test('a long reason is cut', () => {
    expect(said({ kind: 'failed', reason: '😀'.repeat(400) })).toContain(`said: "${'😀'.repeat(299)}…"`);
  });

  test('each way to end a run that is started has a state in words, not by an emoji alone', () => {
    for (const ending of Object.values(anEnding)) {
      const text = said(ending);
      if (text !== undefined) expect(text).toMatch(/^(?:✅|❌|⚠️|💤) @Ana [A-Zd]/);
    }
  });

  test('a label stands behind the domain', () => {
    expect(said({ kind: 'failed' }, { version: '1.2\n<!here>' })).toContain(
      'The export of docs.acme.com (1.2 <!here>) failed after 3 min.',
    );
    expect(said({ kind: 'failed' }, { version: ' \u202E' })).toContain('The export of docs.acme.com failed');
  });

  test('a further link that could not be had is news of its own, and the old ending stays', () => {
    const keys = exportMessages(ended(anEnding.noLink, { relinked: 2 })).map(({ key }) => key);
    expect(keys.filter((key) => key.includes('.end.'))).toEqual(['3f9a1c2b4d5e6f708192a3b4.end.1.0.2']);
    expect(said(anEnding.noLink, { relinked: 2 })).toContain(
      '⚠️ @Ana docs.acme.com is exported, but I could not get a new download link yet.\n[Get the link]',
    );
  });
});

test('the platform does not know the job that somebody found: starting it again asks first', () => {
  const answer = { attempt: 1, by: 'ana', byId: 'U0ANA', action: 'watchIt' as const };
  const run = ended(anEnding.lost, { answer });
  expect(messageOf(run, 'end')).toContain('The platform does not know the export of docs.acme.com (404).');
  const blocks = JSON.stringify(exportMessages(run).map(({ message }) => message.blocks));
  expect(blocks).toContain('exports the same pages twice');
});

describe('the ending of an export that was not started from here', () => {
  const joined = (ending: Ending, changes: Partial<ExportRun> = {}) =>
    messageOf(ended(ending, { joined: true, ...changes }), 'end');
  const byJob = { domain: '', startedAtMs: undefined };

  test.each<[string, string | undefined, string]>([
    [
      'done, known by its job alone: how long it took only when both ends of it are known',
      joined({ kind: 'done', link: 'x' }, byJob),
      "✅ @Ana job se_3f9a…4a06 is exported\nThe platform didn't say how long the link works. Anyone who has it can download the bundle.\n[Download bundle] [Deployment settings] [⋯ New link]",
    ],
    [
      'failed, known by its job alone: nobody can try it again from here',
      joined({ kind: 'failed' }, byJob),
      '❌ @Ana The export of job se_3f9a…4a06 failed.\nThe platform gave no reason.\nYour live site is not affected. · ref 3f9a1c2b',
    ],
    [
      'failed, with a domain',
      joined({ kind: 'failed' }),
      '❌ @Ana The export of docs.acme.com failed after 3 min.\nThe platform gave no reason.\nYour live site is not affected. · ref 3f9a1c2b\n[Start again]',
    ],
    [
      'lost, known by its job alone',
      joined(anEnding.lost, byJob),
      '❌ @Ana The platform does not know the export of job se_3f9a…4a06 (404).',
    ],
    [
      'lost, with a domain: the id was probably wrong, and another export is not what was asked for',
      joined(anEnding.lost),
      '❌ @Ana The platform does not know the export of docs.acme.com (404).',
    ],
  ])('%s', (_, text, expected) => {
    expect(text).toBe(expected);
  });
});

describe('an ending whose link is for one person', () => {
  const done: Ending = { ...anEnding.done, privately: true } as Ending;
  const shown = (ending: Ending, part: string) =>
    exportMessages(ended(ending, { pageCount: 412 })).find(({ key }) => key.includes(`.${part}.`));

  test('says in the thread that it is ready, and where the link went', () => {
    expect(messageOf(ended(done, { pageCount: 412 }), 'end')).toBe(
      '✅ @Ana docs.acme.com is exported · 412 pages · 18.4 MB · took 3 min. I sent you the link privately.\n[Get my own link]',
    );
    expect(JSON.stringify(shown(done, 'end')?.message)).not.toContain('docket-link:');
  });

  test('has the link in the direct message, without a mention: that one notifies anyway', () => {
    const own = shown(done, 'private');
    expect(own).toMatchObject({
      key: '3f9a1c2b4d5e6f708192a3b4.private.1.0',
      place: { user: 'U0ANA' },
      kind: 'ending',
    });
    expect(own && reads(own.message)).toBe(
      '✅ docs.acme.com is exported\nThe link works until TIME{date_short_pretty} {time}. Anyone who has it can download the bundle.\n[Download bundle] [Deployment settings] [⋯ New link]',
    );
    expect(JSON.stringify(own?.message)).toContain('docket-link:run.1.0.0');
  });

  test('is there once: an ending for everybody has no direct message', () => {
    expect(shown(anEnding.done, 'private')).toBeUndefined();
  });

  test('loses the link in the direct message when it has ended, and is not posted again for that', () => {
    const over = { ...done, over: true } as Ending;
    const own = shown(over, 'private');
    expect([own?.kind, own?.repost]).toEqual(['state', false]);
    expect(own && reads(own.message)).toBe(
      '✅ docs.acme.com is exported\n🔒 The link ended TIME{date_short_pretty} {time}. The export is still there.\n[New link] [Deployment settings]',
    );
    expect(messageOf(ended(over), 'end')).toContain('I sent you the link privately.');
    expect(JSON.stringify(exportMessages(ended(over)))).not.toContain('docket-link:');
  });
});

describe('an ending whose link has ended', () => {
  const over = { ...anEnding.done, over: true } as Ending;

  test('says when, has no link any more, and offers another', () => {
    expect(messageOf(ended(over), 'end')).toBe(
      '✅ @Ana docs.acme.com is exported · 18.4 MB · took 3 min\n🔒 The link ended TIME{date_short_pretty} {time}. The export is still there.\n[New link] [Deployment settings]',
    );
    expect(JSON.stringify(exportMessages(ended(over)))).not.toContain('docket-link:');
  });

  test('is an edit that nobody needs where the message was deleted', () => {
    expect(exportMessages(ended(over)).at(-1)).toMatchObject({ kind: 'state', repost: false });
  });
});

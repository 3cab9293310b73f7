import { expect, test } from 'vitest';
import { failedMessage as failedEdition } from '../../../src/jobs/digest/edition/failed-view.ts';
import type { EditionEnding, EditionRun } from '../../../src/jobs/digest/edition/record.ts';
import { failedMessage as failedSchedule } from '../../../src/jobs/digest/schedule/view.ts';
import { anEdition, aSchedule } from '../../support/jobs/digest/builders.ts';

type Failure = Pick<EditionEnding, 'code' | 'ref' | 'cause'> & { why: Exclude<EditionEnding['why'], 'done'> };

/** What whoever asked for dates reads, and what the owner of a weekly digest reads. */
function told({ why, code, ref, cause }: Failure, kind: EditionRun['kind'] = 'asked') {
  const ended = { why, cause, ...(code && { code }), ...(ref && { ref }) };
  const asked = failedEdition({ ...anEdition(), project: 'acme', kind, state: 'ended', ended });
  const failure = { why, code: code ?? ref, cause, week: '2026-W38' };
  const weekly = failedSchedule(aSchedule({ project: 'acme', failure }));
  return { asked: asked?.message.text ?? '', weekly: weekly.text };
}

test.each<[Failure, string, string]>([
  [{ why: 'place', code: 'not_in_channel' }, "I'm not in that channel.", 'Type /invite @Docket there, then '],
  [{ why: 'place', code: 'channel_not_found' }, "I'm not in that channel.", 'Type /invite @Docket there, '],
  [{ why: 'place', code: 'is_archived' }, 'it is archived.', 'Unarchive it, then '],
  [
    { why: 'place', code: 'restricted_action' },
    "Slack doesn't let me post there (restricted_action).",
    'Let me post there, then ',
  ],
  [
    { why: 'project' },
    'my settings no longer have the project acme.',
    'The people who run Docket have to add it; then ',
  ],
  [
    { why: 'permission' },
    'you may no longer set up digests.',
    'Ask the people who run Docket for the permission, then ',
  ],
  [{ why: 'broken', ref: '7f3c1d' }, 'something broke on my side. ref 7f3c1d', ''],
  [{ why: 'platform' }, 'the platform gave no numbers.', ''],
  [
    { why: 'platform', cause: { kind: 'forbidden', status: 403, said: 'no "analytics"' } },
    'the platform refuses to give numbers (403): "no \'analytics\'".',
    'The people who run Docket have to check that the plan, ',
  ],
  [{ why: 'platform', cause: { kind: 'down' } }, "the platform doesn't answer.", ''],
  [
    { why: 'platform', cause: { kind: 'down', status: 200 } },
    "I can't read the platform's answers (200).",
    '',
  ],
])('a digest that failed says why, and the fix, whoever had it posted: %j', (failure, why, fix) => {
  for (const text of Object.values(told(failure))) {
    const [first = '', second = ''] = text.split('\n');
    expect(first.endsWith(`: ${why}`)).toBe(true);
    expect(second.startsWith(fix)).toBe(true);
  }
});

test('it names the channel and the way to have it posted again', () => {
  const { asked, weekly } = told({ why: 'place', code: 'is_archived' });
  expect(asked).toBe(
    'The digest of docs.acme.com in <#C0DOCS> could not be sent: it is archived.\nUnarchive it, then ask for it again.',
  );
  expect(weekly).toBe(
    "The digest of docs.acme.com couldn't be posted in <#C0DOCS>: it is archived.\nUnarchive it, then [Send now]; or remove this digest.",
  );
  expect(told({ why: 'platform' }, 'preview').asked).toBe(
    'The preview of the digest of docs.acme.com could not be sent: the platform gave no numbers.\nAsk for it again in a while.',
  );
});

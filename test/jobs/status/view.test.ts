import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkMessageBlocks } from '../../../demo/slack/block-kit/check.ts';
import { notifiedBy } from '../../../demo/slack/notifies.ts';
import type { Block } from '../../../demo/slack/workspace.ts';
import { exportLine } from '../../../src/jobs/export/progress-view.ts';
import { detailsMessage, type SystemState, statusMessage } from '../../../src/jobs/status/view.ts';
import type { Message } from '../../../src/slack/blocks.ts';
import { hostileText } from '../../support/arbitraries.ts';
import { NOW_MS } from '../../support/builders.ts';
import { anyRun } from '../../support/jobs/export/arbitraries.ts';
import { aState } from '../../support/jobs/status/builders.ts';
import { reads } from '../../support/slack/rendering.ts';

const lines = (message: Message) => reads(message).split('\n');
const status = (changes: Partial<SystemState> = {}) => lines(statusMessage(aState(changes)));
const NONE = 'Exports you can see here — none running';

test('where all is good, one line says so, above what runs', () => {
  expect(status()).toEqual(['✅ All good', NONE, '[Details]']);
  expect(status({ connected: true })).toEqual(['✅ All good', NONE, '[Details]']);
});

const away = { answered: false, atMs: NOW_MS };
const key = { variable: 'DOCS_API_KEY', names: [], sinceMs: NOW_MS, waiting: '' };

test.each<[string, Partial<SystemState>, string]>([
  [
    'Redis',
    { redisMs: undefined },
    "My database isn't answering: nothing new starts, and running work is on hold.",
  ],
  [
    'the platform',
    { docs: away },
    "The docs platform isn't answering, last tried TIME{ago}: nothing new starts, and nobody sees the progress of running jobs.",
  ],
  [
    'Slack',
    { slack: away },
    "Slack isn't answering, last tried TIME{ago}: messages are late; nothing is lost.",
  ],
  [
    "Slack's token",
    { slack: { ...away, refused: true } },
    "Slack refuses my token, last tried TIME{ago}: messages don't arrive or update. Reinstall me, or set the new token.",
  ],
  ['the socket', { connected: false }, "Slack can't reach me here right now: commands may get no answer."],
  [
    'a key',
    { rejectedKeys: [key] },
    'DOCS_API_KEY has been rejected since TIME{date_short_pretty} {time}. Nothing new starts with it until it is replaced.',
  ],
  [
    'a key of several, with work',
    { rejectedKeys: [{ ...key, names: ['acme', 'beta'], waiting: '3 exports wait' }] },
    'DOCS_API_KEY (acme, beta) has been rejected since TIME{date_short_pretty} {time}; 3 exports wait. Nothing new starts with it until it is replaced.',
  ],
  [
    'one thing that nobody does',
    { overdue: 1 },
    'Work is stuck: 1 task is more than a minute overdue. New requests are saved, but run late.',
  ],
  [
    'many things that nobody does',
    { overdue: 1200 },
    'Work is stuck: 1,200 tasks are more than a minute overdue. New requests are saved, but run late.',
  ],
  [
    'what loses work',
    { redisProblems: ['Redis drops keys. Run <this> & that.'] },
    'My database has a problem: Redis drops keys. Run <this> & that.',
  ],
  [
    'scopes that the app lacks',
    { missingScopes: ['users:read', 'files:write'] },
    'I was installed without users:read, files:write: features that need it fail. Replace my manifest and reinstall me.',
  ],
])('%s: what is wrong and what that means stands below the first line', (_, changes, line) => {
  expect(status(changes)).toEqual(['⚠️ Needs attention', line, NONE, '[Details]']);
});

test('what waits for a limit is told, and is nothing wrong', () => {
  const text = 'instructions to the docs agent: 100 of 100 used in the past hour, 3 wait';
  expect(status({ waits: [text] })).toEqual(['✅ All good', `🕒 Waiting — ${text}`, NONE, '[Details]']);
});

test('what is not known is told as such', () => {
  expect(status({ docs: undefined, slack: undefined })).toEqual([
    '✅ All good, as far as I know',
    NONE,
    'Not known right now: whether the docs platform answers, whether Slack accepts messages.',
    '[Details]',
  ]);
  expect(status({ rejectedKeys: undefined, overdue: undefined })).toContain(
    'Not known right now: whether my keys work, whether work is stuck.',
  );
  expect(status({ rejectedKeys: undefined, overdue: undefined, redisMs: undefined })).toEqual([
    '⚠️ Needs attention',
    "My database isn't answering: nothing new starts, and running work is on hold.",
    NONE,
    '[Details]',
  ]);
});

test('where nobody is admin, it says so; where something is wrong, whom to ask', () => {
  const nobody = 'No admins are set, so nobody gets a message when something goes wrong.';
  expect(status({ hasAdmins: false })).toEqual(['✅ All good', NONE, nobody, '[Details]']);
  expect(status({ contact: '@docs-admins' })).not.toContain('Ask @docs-admins.');
  expect(status({ contact: '@docs-admins', docs: away, hasAdmins: false }).slice(-3)).toEqual([
    'Ask @docs-admins.',
    nobody,
    '[Details]',
  ]);
});

test('the details have a line for each thing, its state in words', () => {
  expect(lines(detailsMessage(aState({ docs: away, connected: true }), { isAdmin: true }))).toEqual([
    '⚠️ Needs attention',
    "The docs platform isn't answering, last tried TIME{ago}: nothing new starts, and nobody sees the progress of running jobs.",
    NONE,
    'Agent threads — none followed',
    'Schedules — Nothing is scheduled.',
    'Limit — status checks of exports: up to 5 a second',
    'Limit — edits in Slack: up to 44 a minute',
    'Docs platform — not answering, last tried TIME{ago}',
    'Slack — answering, last seen TIME{ago} · socket connected',
    'My database (Redis) — answers in 1 ms',
    'Queue docs-export — 1 waiting, 2 active, 3,000 for later, 0 failed',
    'This process — Docket 1.2.3 · role all · up since TIME{date_short_pretty} {time}',
    '[Audit log]',
  ]);
});

test('details say what is not known, and offer the audit log to admins alone', () => {
  const unknown = { docs: undefined, slack: undefined, redisMs: undefined, queues: undefined };
  const details = lines(detailsMessage(aState({ ...unknown, connected: false }), { isAdmin: false }));
  expect(details).toContain('Docs platform — not called recently');
  expect(details).toContain('Slack — not called recently · socket not connected');
  expect(details).toContain('My database (Redis) — not answering');
  expect(details.join()).not.toContain('[Audit log]');
  const refused = aState({ slack: { ...away, refused: true } });
  expect(lines(detailsMessage(refused, { isAdmin: false }))).toContain(
    'Slack — refuses my token, last tried TIME{ago}',
  );
});

test('whatever the exports are called, Slack takes it and nobody is notified', () => {
  fc.assert(
    fc.property(fc.array(anyRun, { minLength: 1, maxLength: 5 }), hostileText, (runs, contact) => {
      const running = runs.map((run) => exportLine(run, 'https://acme.example/archives/C0DOCS/p1'));
      const state = aState({ running, contact, hasAdmins: false, docs: undefined });
      for (const { text, blocks } of [statusMessage(state), detailsMessage(state, { isAdmin: true })]) {
        checkMessageBlocks(blocks, (prefix) => prefix);
        expect(notifiedBy(text, blocks as unknown as Block[])).toEqual([]);
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(3000);
      }
    }),
  );
});

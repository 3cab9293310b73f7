import type { KnownBlock } from '@slack/types';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkView } from '../../../demo/slack/block-kit/view.ts';
import { notifiedBy } from '../../../demo/slack/notifies.ts';
import type { Block } from '../../../demo/slack/workspace.ts';
import { exportSiteButton } from '../../../src/jobs/export/ask-view.ts';
import { exportLine } from '../../../src/jobs/export/progress-view.ts';
import { answerButtonOf } from '../../../src/jobs/home/answer.ts';
import { type HomeParts, homeView } from '../../../src/jobs/home/view.ts';
import { contactsText } from '../../../src/jobs/wording-view.ts';
import { hostileText } from '../../support/arbitraries.ts';
import { anyRun } from '../../support/jobs/export/arbitraries.ts';
import { primariesIn, reads as readsMessage } from '../../support/slack/rendering.ts';

const aHome = (changes: Partial<HomeParts> = {}): HomeParts => ({
  needs: [],
  moreNeeds: 0,
  running: [],
  ended: [],
  begin: [{ button: exportSiteButton, how: 'Export a site: so and so.' }],
  may: ['Start exports'],
  missingScope: false,
  cannot: ['start exports', 'instruct the docs agent'],
  contacts: 'the people who run Docket',
  left: ['up to 5 at once'],
  commands: ['/docs-export', '/docs-status'],
  ...changes,
});

/** The lines of a Home, as a person reads them. */
const reads = (parts: HomeParts): string[] =>
  readsMessage({ text: '', blocks: homeView(parts).blocks as KnownBlock[] }).split('\n');

const UPDATED = 'Updates when you open it or something needs you.';
const SMALL = [
  'You may: start exports · up to 5 at once',
  'Type /docs-export help or /docs-status help in any channel.',
  UPDATED,
];
const running = (title: string, ...lines: string[]) => ({
  title,
  lines: lines.map((line) => [line]),
  more: 0,
});
const need = (line: string) => ({
  line: [line],
  button: answerButtonOf({ id: 'r1' }, { user: 'U0ANA', id: line }),
});

test('whoever has nothing yet reads what it is for and how to begin', () => {
  expect(reads(aHome({ running: [running('Running now')] }))).toEqual([
    'Exports, the docs agent and weekly numbers, from Slack.',
    'Export a site: so and so.',
    ...SMALL,
    '[Export a site]',
  ]);
  expect(primariesIn(homeView(aHome()).blocks as KnownBlock[])).toEqual(['Export a site']);
});

test('whoever may do nothing that has a button reads what they may', () => {
  const view = homeView(aHome({ begin: [], may: ['Administer Docket'], left: [] }));
  expect(checkView(view, 'home', (prefix) => prefix).blocks).toHaveLength(3);
});

test('what needs somebody comes first, then what goes on, then what ended', () => {
  const lines = reads(
    aHome({
      needs: [need('Start unclear'), need('Held')],
      moreNeeds: 1,
      running: [
        { ...running('Running now', 'a'), more: 3 },
        running('What you follow'),
        running('Scheduled', 'd'),
      ],
      ended: [['b — Done'], ['c — Failed']],
    }),
  );
  expect(lines).toEqual([
    'Needs you (3)',
    'Start unclear',
    'Held',
    'and 1more after these',
    'Running now',
    'a',
    'and 3 more',
    'Scheduled',
    'd',
    'Recently ended',
    'b — Done',
    'c — Failed',
    'Start something new',
    ...SMALL,
    '[Answer] [Answer] [Export a site]',
  ]);
});

describe('somebody who may do nothing', () => {
  const why = (changes: Partial<HomeParts>) => {
    const lines = reads(aHome({ begin: [], left: [], ...changes }));
    expect(lines.join()).not.toContain('[');
    return lines.slice(1, -2);
  };
  test('reads whom to ask', () => {
    expect(why({ may: [], contacts: '@ana or @docs-admins' })).toEqual([
      "You can't start exports or instruct the docs agent. Ask @ana or @docs-admins.",
    ]);
    expect(why({ may: [], cannot: ['do this', 'do that', 'do the rest'] })).toEqual([
      "You can't do this, do that or do the rest. Ask the people who run Docket.",
    ]);
  });
  test('and has done things before reads it, too', () => {
    const lines = reads(aHome({ begin: [], may: [], ended: [['b — Done']] }));
    expect(lines).toContain(
      "You can't start exports or instruct the docs agent. Ask the people who run Docket.",
    );
  });
  test('since Slack did not say who it is', () => {
    expect(why({ may: undefined })).toEqual([
      'Slack took too long to say who you are. Open this page again in a moment.',
    ]);
  });
  test('since the app may not see who it is', () => {
    expect(why({ may: undefined, missingScope: true })).toEqual([
      "Slack doesn't let me see who you are; the people who run Docket have to reinstall the app.",
    ]);
  });
});

test.each([
  [['/a'], 'Type /a help in any channel.'],
  [['/a', '/b'], 'Type /a help or /b help in any channel.'],
  [['/a', '/b', '/c'], 'Type /a help, /b help or /c help in any channel.'],
])('the help names every command: %j', (commands, line) => {
  expect(reads(aHome({ commands }))).toContain(line);
});

test('whatever runs are called, Slack takes the view and nobody is notified', () => {
  fc.assert(
    fc.property(
      fc.array(anyRun, { maxLength: 25 }),
      fc.array(hostileText, { maxLength: 3 }),
      (runs, names) => {
        const lines = runs.map((run) => exportLine(run, 'https://acme.example/archives/C0DOCS/p1'));
        const view = homeView(
          aHome({
            needs: lines.slice(0, 20).map((line, index) => ({ ...need(`${index}`), line })),
            moreNeeds: 2000,
            running: ['a', 'b', 'c'].map((title) => ({ title, lines: lines.slice(0, 15), more: 9 })),
            ended: lines.slice(15),
            may: [],
            contacts: contactsText({ ask: names }, true),
          }),
        );
        // Throws for a mistake in a block and for a view that is too large.
        expect(checkView(view, 'home', (prefix) => prefix).blocks.length).toBeLessThan(100);
        expect(notifiedBy('', view.blocks as unknown as Block[])).toEqual([]);
      },
    ),
  );
});

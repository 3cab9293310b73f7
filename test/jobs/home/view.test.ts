import type { KnownBlock } from '@slack/types';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { checkView } from '../../../demo/slack/block-kit/view.ts';
import { notifiedBy } from '../../../demo/slack/notifies.ts';
import type { Block } from '../../../demo/slack/workspace.ts';
import { exportLine } from '../../../src/jobs/export/progress-view.ts';
import { type HomeParts, homeView } from '../../../src/jobs/home/view.ts';
import { contactsText } from '../../../src/jobs/wording-view.ts';
import { hostileText } from '../../support/arbitraries.ts';
import { anyRun } from '../../support/jobs/export/arbitraries.ts';

const aHome = (changes: Partial<HomeParts> = {}): HomeParts => ({
  running: [],
  more: 0,
  ended: [],
  may: ['Start exports'],
  missingScope: false,
  cannot: ['start exports', 'instruct the docs agent'],
  contacts: 'whoever runs Docket',
  limits: ['up to 5'],
  commands: ['/docs-export', '/docs-status'],
  ...changes,
});

/** The lines of a Home, headings included. */
function reads(parts: HomeParts): string[] {
  return (homeView(parts).blocks as KnownBlock[]).flatMap((block) => {
    if (block.type === 'header') return [`# ${block.text.text}`];
    const sections = block.type === 'rich_text' ? block.elements : [];
    return sections
      .flatMap((section) => (section.type === 'rich_text_section' ? section.elements : []))
      .map((element) => ('text' in element ? element.text : ''))
      .join('')
      .split('\n');
  });
}

test('what runs comes before what ended', () => {
  const lines = reads(
    aHome({ running: [['a ⏳ Exporting']], more: 3, ended: [['b — Done'], ['c — Failed']] }),
  );
  expect(lines.slice(0, 5)).toEqual([
    '# What you run and follow',
    'a ⏳ Exporting',
    'and 3 more',
    'b — Done',
    'c — Failed',
  ]);
});

describe('what a person may do', () => {
  const may = (changes: Partial<HomeParts>) => {
    const lines = reads(aHome(changes));
    return lines.slice(lines.indexOf('# What you may do') + 1, lines.indexOf('# Limits'));
  };
  test('is said in plain words', () => {
    expect(may({ may: ['Start exports', 'Instruct the docs agent'] })).toEqual([
      'Start exports',
      'Instruct the docs agent',
    ]);
  });
  test('is nothing: then whom to ask', () => {
    expect(may({ may: [], contacts: '@ana or @docs-admins' })).toEqual([
      "You can't start exports or instruct the docs agent. Ask @ana or @docs-admins.",
    ]);
    expect(may({ may: [], cannot: ['do this', 'do that', 'do the rest'] })).toEqual([
      "You can't do this, do that or do the rest. Ask whoever runs Docket.",
    ]);
  });
  test('is not known', () => {
    expect(may({ may: undefined })).toEqual([
      "Slack didn't tell me in time who you are. Open this page again in a moment.",
    ]);
  });
  test('is not shown to the app', () => {
    expect(may({ may: undefined, missingScope: true })).toEqual([
      "Slack doesn't let me see who you are; whoever runs Docket has to reinstall the app.",
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
            running: lines.slice(0, 15),
            more: 9,
            ended: lines.slice(15),
            may: [],
            contacts: contactsText({ ask: names }, true),
          }),
        );
        // Throws for a mistake in a block and for a view that is too large.
        expect(checkView(view, 'home', (prefix) => prefix).blocks).toHaveLength(8);
        expect(notifiedBy('', view.blocks as unknown as Block[])).toEqual([]);
      },
    ),
  );
});

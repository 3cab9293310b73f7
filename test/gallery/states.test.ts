import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parseSync, Visitor } from 'oxc-parser';
import { describe, expect, test } from 'vitest';
import { checkMessageBlocks, mistakesIn } from '../../demo/slack/block-kit/check.ts';
import { checkView } from '../../demo/slack/block-kit/view.ts';
import { fillLinks } from '../../src/slack/blocks.ts';
import type { Unreached } from './coverage.ts';
import { states } from './states.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

test('every state has a name of its own', () => {
  const names = states.map(({ name }) => name);
  expect(names.filter((name, index) => names.indexOf(name) < index)).toEqual([]);
});

describe('every state is in the gallery:', () => {
  /** Functions of the files with views that show nothing by themselves, and those that wait, which no view does. */
  const SHOW_NOTHING = [
    'createAlerts',
    'findEntry',
    'instructionProblem',
    'isReady',
    'isRenewed',
    'keysOf',
    'projectHere',
    'readSafeTimetable',
    'readTarget',
    'siteOf',
  ];

  test('each branch of a view that has words of its own is reached', async () => {
    const coverage = fileURLToPath(new URL('coverage.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [coverage]);
    const unreached: Unreached[] = JSON.parse(stdout);
    const functions = unreached.flatMap(({ name }) => name ?? []);
    expect(SHOW_NOTHING.filter((name) => !functions.includes(name))).toEqual([]);
    const missing = unreached.filter(({ name, source }) =>
      name === undefined ? hasWords(source) : !SHOW_NOTHING.includes(name) && !source.startsWith('async '),
    );
    expect(missing).toEqual([]);
  });

  test('each text of a view is shown', () => {
    const shown = JSON.stringify(states.map(({ shown }) => shown));
    const missing = globSync('src/jobs/**/*view.ts', { cwd: root }).flatMap((file) =>
      textsOf(file)
        .filter((text) => !shown.includes(JSON.stringify(text).slice(1, -1)))
        .map((text) => `${file}: ${text}`),
    );
    expect(missing).toEqual([]);
  });
});

/** What only is compared, and what is filled in, are no words. */
function hasWords(source: string): boolean {
  const filledIn = source.replaceAll(/(?:case|===) '\w+'|\$\{[^{}]*\}/g, '');
  const literals = filledIn.match(/'[^'\n]*'|"[^"\n]*"|`[^`]*`/g) ?? [];
  return literals.some((literal) => /\p{L}/u.test(literal));
}

/** Returns the texts of a file that are meant for people: several words, or one with a capital letter. */
function textsOf(file: string): string[] {
  const texts: string[] = [];
  const collect = (text: string) => {
    if (/^\p{Lu}\p{Ll}|\p{L} \p{L}/u.test(text)) texts.push(text);
  };
  const { program } = parseSync(file, readFileSync(`${root}${file}`, 'utf8'));
  new Visitor({
    Literal({ value }) {
      if (typeof value === 'string') collect(value);
    },
    TemplateElement({ value }) {
      collect(value.cooked ?? '');
    },
  }).visit(program);
  return texts;
}

test('Slack takes every state', async () => {
  const noPrefix = (id: string) => id;
  for (const { name, shown } of states) {
    if (shown.kind !== 'message') {
      expect(() => checkView(shown.view, shown.kind, noPrefix), name).not.toThrow();
      continue;
    }
    const { blocks } = await fillLinks(shown.message, async () => 'https://bundles.example/b.zip');
    expect(mistakesIn(blocks, 'message'), name).toEqual([]);
    expect(() => checkMessageBlocks(blocks, noPrefix), name).not.toThrow();
  }
});

test('no text of a message has a bar, which cannot be read aloud', () => {
  const texts = states.flatMap(({ shown }) => (shown.kind === 'message' ? shown.message.text : []));
  expect(texts.filter((text) => /[▓░▰▱█]{2}/u.test(text))).toEqual([]);
});

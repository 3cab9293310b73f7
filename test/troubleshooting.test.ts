import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { operatorTexts } from './support/operator-texts.ts';

const page = readFileSync(new URL('../docs/troubleshooting.md', import.meta.url), 'utf8');
const rows = page.split('\n').filter((line) => line.startsWith('| '));
const texts = operatorTexts();

/** Parts of texts that have a row, and what operators do not read in the log or at the start. */
const WITHOUT_ROW = [
  'Start Docket now.',
  "Unset it to use Slack's own.",
  "Set it to the base address of the docs platform's API.",
  'Write the address that takes the message.',
  'Write it like https://github.example.com/api/v3',
  'Write it like https://gitlab.example.com/api/v4',
  'Use 1 to 40 letters from a to z, digits, - or _.',
  'Check the plan (exports need Enterprise)',
  'Put a key that it takes into its file',
  'Set a key that it takes, and restart Docket.',
  'Check …, its scope connections:write',
  'Check the network, the proxy and status.slack.com; Docket keeps trying.',
  'The metrics are for this machine',
  'Its last log lines, in …:',
  'Run "redis-cli CONFIG SET appendonly yes"',
];
const hasRow = (text: string) => !WITHOUT_ROW.some((part) => text.includes(part));

/** Its rest says what to do. */
const firstSentence = (text: string) => text.replace(/([.:?])\s[\s\S]*$/, '$1').trim();

test('what Docket prints for operators has a row in docs/troubleshooting.md', () => {
  expect(texts.length).toBeGreaterThan(150);
  const missing = texts.filter(
    ({ text }) => hasRow(text) && !rows.some((row) => row.includes(firstSentence(text))),
  );
  expect(missing).toEqual([]);
  expect(WITHOUT_ROW.filter((part) => !texts.some(({ text }) => text.includes(part)))).toEqual([]);
});

test('docs/troubleshooting.md names nothing that Docket does not print', () => {
  const printed = texts.map(({ text }) => text);
  const quoted = rows.flatMap((row) => /^\| `(.+?)` \| /.exec(row)?.[1] ?? []);
  expect(quoted.length).toBeGreaterThan(100);
  expect(quoted.filter((text) => !printed.some((one) => one.includes(text)))).toEqual([]);
});

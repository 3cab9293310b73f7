import { expect, test } from 'vitest';
import { readPaths } from '../../../src/commands/export/args.ts';
import { contentFields } from '../../../src/commands/export/modal.ts';
import { SLACK_LIMITS } from '../../../src/slack/limits.ts';

/** As many pages as a field takes, typed in a form. */
const typedPaths = (separator: string, slash: string) =>
  Array.from({ length: 100 }, (_, index) => `${slash}p${index}`.padEnd(30 - separator.length, 'x')).join(
    separator,
  );

test.each([
  [', ', '/'],
  [',', '/'],
  [',', ''],
  ['\n', ''],
])('paths that were saved fit into the form again: between them %j, before them "%s"', (separator, slash) => {
  const typed = typedPaths(separator, slash);
  expect(typed.length).toBeGreaterThan(2980);
  const read = readPaths(typed);
  const paths = read.kind === 'ok' ? read.value : undefined;
  const [, field] = contentFields({ version: undefined, paths }, '');
  const initial = (field?.element as { initial_value?: string } | undefined)?.initial_value ?? '';
  expect(initial.length).toBeLessThanOrEqual(SLACK_LIMITS.inputInitialValue);
  expect(readPaths(initial)).toEqual(read);
});

import { expect, test } from 'vitest';
import { readOptions } from './options.ts';

test.each([
  [[], { show: 'browser' }],
  [['--keep', 'here'], { show: 'browser', keep: 'here' }],
  [['--terminal'], { show: 'terminal' }],
  [['--stand-ins'], { show: 'stand-ins' }],
  [['--stand-ins', '--env', '.env.demo'], { show: 'stand-ins', envFile: '.env.demo' }],
  [['--help'], { show: 'help' }],
])('%j', (args, options) => {
  expect(readOptions(args)).toEqual(options);
});

test.each([
  [['--browser'], "Unknown option '--browser'"],
  [['now'], "Unexpected argument 'now'"],
  [['--terminal', '--stand-ins'], '--terminal and --stand-ins do not go together.'],
  [['--terminal', '--keep', 'x'], '--keep goes with the demo in the browser alone.'],
  [['--env', 'x'], '--env goes with --stand-ins alone.'],
  [['--keep'], "Option '--keep <value>' argument missing"],
])('%j: says what is wrong', (args, problem) => {
  expect(() => readOptions(args)).toThrow(problem);
});

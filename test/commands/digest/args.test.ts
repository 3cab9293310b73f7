import { expect, test } from 'vitest';
import { readCommand } from '../../../src/commands/args.ts';
import { digestCommand } from '../../../src/commands/digest/command.ts';

const { name, subcommands } = digestCommand;
const read = (text: string) => {
  const result = readCommand(name, subcommands, text);
  return result.kind === 'subcommand' ? [result.subcommand.verb, result.input] : result;
};

test.each<[string, string | undefined, object]>([
  ['create', 'create', { project: undefined }],
  ['LIST', 'list', { project: undefined }],
  ['preview --project acme', 'preview', { project: 'acme' }],
  ['--project acme pause', 'pause', { project: 'acme' }],
  ['\n remove ', 'remove', { project: undefined }],
  ['last week', undefined, { range: 'last week', project: undefined }],
  ['last week --project acme', undefined, { range: 'last week', project: 'acme' }],
  ['--project acme last week', undefined, { range: 'last week', project: 'acme' }],
  ['14d', undefined, { range: '14d', project: undefined }],
  // A word that is a verb elsewhere begins no other subcommand here.
  ['week list', undefined, { range: 'week list', project: undefined }],
  ['', undefined, { range: undefined, project: undefined }],
])('%j is read', (text, verb, input) => expect(read(text)).toEqual([verb, input]));

test.each([
  ['list all', 'Type /docs-digest list and nothing else.'],
  ['create --private', "I don't know --private. Available: --project."],
  ['pause --project', '--project needs a value, such as --project acme.'],
])('%j is answered', (text, told) => {
  const result = readCommand(name, subcommands, text);
  const problem = result.kind === 'unclear' ? result.problem : [];
  const words = problem.map((part) => (typeof part === 'string' ? part : Object.values(part)[0]));
  expect(words.join('')).toBe(told);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { agentCommand } from '../../../src/commands/agent/command.ts';
import { readCommand } from '../../../src/commands/args.ts';
import { message } from '../../../src/slack/blocks.ts';

const said = (text: string) => {
  const read = readCommand(agentCommand.name, agentCommand.subcommands, text);
  if (read.kind === 'unclear') return message([read.problem]).text;
  return read.kind === 'subcommand' ? { verb: read.subcommand.verb, ...read.input } : read;
};

test('nothing typed asks what to do', () => {
  expect(said('  ')).toEqual({ verb: undefined });
});

const job1 = { kind: 'id', id: 'job_1' };

describe('follow', () => {
  test.each([
    ['follow job_1', { jobId: job1, instruction: undefined }],
    ['Follow   job_1\n', { jobId: job1, instruction: undefined }],
    ['follow <job_1>', { jobId: job1, instruction: undefined }],
    ['follow &lt;job_1&gt; Go on', { jobId: job1, instruction: 'Go on' }],
    ['follow job_1 Add "error handling" -- now', { jobId: job1, instruction: 'Add "error handling" -- now' }],
    ['follow job_1 one\n\n  two', { jobId: job1, instruction: 'one\n\n  two' }],
    ['follow job_1 $& and $1', { jobId: job1, instruction: '$& and $1' }],
  ])('%j', (typed, what) => {
    expect(said(typed)).toEqual({ verb: 'follow', project: undefined, ...what });
  });

  test.each([
    'follow job_1 go --project acme',
    'follow job_1 —project acme go',
    'follow --project=acme job_1 go',
    '--project "acme" follow job_1 go',
  ])('%j names a project', (typed) => {
    expect(said(typed)).toEqual({ verb: 'follow', jobId: job1, instruction: 'go', project: 'acme' });
  });

  test('a project in the middle of an instruction is a part of it', () => {
    expect(said('follow job_1 document --project acme in the guide')).toMatchObject({
      instruction: 'document --project acme in the guide',
      project: undefined,
    });
  });

  test.each([
    ['follow', 'Which job? Type its ID, such as /docs-agent follow job_41d7.'],
    ['follow ../x', "../x isn't a job ID. Copy the whole ID, such as /docs-agent follow job_41d7."],
    ['follow job_…', "job_… isn't a job ID. Copy the whole ID, such as /docs-agent follow job_41d7."],
    ['follow job_1 --project', '--project needs a value, such as --project acme.'],
    ['--project a follow job_1 --project b', 'Type --project only once.'],
  ])('%j says what is wrong', (typed, told) => {
    expect(said(typed)).toBe(told);
  });
});

describe('new, list and stop', () => {
  test.each([
    ['new Add a quickstart', { verb: 'new', instruction: 'Add a quickstart', project: undefined }],
    ['NEW stop', { verb: 'new', instruction: 'stop', project: undefined }],
    ['new it --project acme', { verb: 'new', instruction: 'it', project: 'acme' }],
    ['list', { verb: 'list', project: undefined }],
    ['list --project acme', { verb: 'list', project: 'acme' }],
    ['stop', { verb: 'stop', jobId: undefined, project: undefined }],
    ['stop job_1', { verb: 'stop', jobId: job1, project: undefined }],
    ['stop --project acme', { verb: 'stop', jobId: undefined, project: 'acme' }],
  ])('%j', (typed, words) => {
    expect(said(typed)).toEqual(words);
  });

  test.each([
    ['new', 'What should the agent do? For example: /docs-agent new Add error handling to the quickstart'],
    ['list all', 'Type /docs-agent list and nothing else.'],
    ['stop job_1 now', 'Type /docs-agent stop job_41d7 and nothing else.'],
    ['stop .', ". isn't a job ID. Copy the whole ID, such as /docs-agent follow job_41d7."],
    ['job_1', "I don't know job_1. Type follow, new, list or stop; /docs-agent help explains them."],
  ])('%j says what is wrong', (typed, told) => {
    expect(said(typed)).toBe(told);
  });
});

test('never throws, whatever is typed, and tells it in a message', () => {
  const word = fc.constantFrom('follow', 'new', '--project', '—project=', 'x', '"', '\n', '<', '=', '…');
  const typed = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(word).map((words) => words.join(' ')),
  );
  fc.assert(fc.property(typed, (text) => void said(text)));
});

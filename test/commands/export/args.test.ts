import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readCommand } from '../../../src/commands/command.ts';
import { exportCommand } from '../../../src/commands/export/command.ts';
import { isSafeId } from '../../../src/docs-api/schemas.ts';
import { message } from '../../../src/slack/blocks.ts';
import { hostileText } from '../../support/arbitraries.ts';

const read = (text: string) => readCommand(exportCommand.name, exportCommand.subcommands, text);

test('whatever is typed is read without an error, and what is unclear is one short line', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      'watch',
      'status',
      'docs.acme.com',
      '--version',
      '—paths',
      '--private',
      '--project=',
      '=',
      ' ',
    ),
    fc.constantFrom(
      ' ',
      '\n',
      '"',
      '“',
      '”',
      '’',
      ',',
      '/',
      '..',
      '<',
      '>',
      '|',
      '&amp;',
      'http://',
      '\u202E',
    ),
    fc.string({ unit: 'binary', maxLength: 8 }),
  );
  const typed = fc.oneof(
    fc.array(piece, { maxLength: 25 }).map((pieces) => pieces.join('')),
    hostileText,
  );
  fc.assert(
    fc.property(typed, (text) => {
      const command = read(text);
      if (command.kind === 'subcommand' && command.subcommand.verb === 'watch')
        expect(isSafeId(String(command.input.jobId))).toBe(true);
      if (command.kind !== 'unclear') return;
      const line = message([command.problem]).text;
      expect(line).not.toMatch(/[\n\r]/);
      expect(line.length).toBeLessThan(300);
    }),
    { numRuns: 3000 },
  );
});

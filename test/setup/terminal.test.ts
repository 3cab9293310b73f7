import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createTerminal, Interrupted } from '../../src/setup/terminal.ts';

function open() {
  const input = new PassThrough();
  const output = new PassThrough();
  const terminal = createTerminal(input, output);
  const shown = async () => {
    terminal.close();
    output.end();
    return await text(output);
  };
  return { input, terminal, shown };
}

/** Resolves once the terminal has read what was typed. */
const isRead = () => new Promise((resolve) => setImmediate(resolve));

test('an answer is shown while it is typed, and a secret is not', async () => {
  const { input, terminal, shown } = open();
  const name = terminal.ask('Name');
  input.write(' docs \r');
  expect(await name).toBe('docs');
  const token = terminal.ask('Token', { secret: true });
  input.write('xoxb-1\r');
  expect(await token).toBe('xoxb-1');
  const all = await shown();
  expect(all).toContain('docs');
  expect(all).toContain('Token: ');
  expect(all).not.toContain('xoxb-1');
});

test.each(['xapp-early\r', 'xapp-early'])(
  'what is typed while nothing is asked (%j) is neither shown nor part of an answer',
  async (early) => {
    const { input, terminal, shown } = open();
    input.write(early);
    await isRead();
    for (const secret of [true, false]) {
      const answer = terminal.ask('Next', { secret });
      input.write('typed\r');
      expect(await answer).toBe('typed');
      input.write(early);
      await isRead();
    }
    expect(await shown()).not.toContain('xapp-early');
  },
);

test.each(['\u0003', '\u0004'])('%j while nothing is asked ends the next question', async (key) => {
  const { input, terminal } = open();
  input.write(key);
  await isRead();
  await expect(terminal.ask('Next')).rejects.toThrow(Interrupted);
});

import { Writable } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { writeAtOnce } from '../../../src/store/redis/primary-connector.ts';

test('what is written in one go leaves together, in order', async () => {
  const left: string[] = [];
  const stream = writeAtOnce(
    new Writable({
      decodeStrings: false,
      write: (chunk, _, done) => done(void left.push(chunk)),
      writev: (chunks, done) => done(void left.push(chunks.map(({ chunk }) => chunk).join(' '))),
    }),
  );
  stream.write('TIME');
  await Promise.resolve().then(() => stream.write('EVALSHA'));
  expect(left).toEqual([]);
  await turn();
  expect(left).toEqual(['TIME EVALSHA']);
  stream.write('PING');
  await turn();
  expect(left).toEqual(['TIME EVALSHA', 'PING']);
});

import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { newReply, threadEvent } from '../../src/jobs/agent/thread/record.ts';
import { jobs } from '../../src/jobs/index.ts';
import { entrySchema } from '../../src/store/audit.ts';
import { keys } from '../../src/store/keys.ts';
import { deliveryFields, wantedMessage } from '../../src/store/messages.ts';
import { SCHEMA } from '../../src/store/schema.ts';
import shapes from '../fixtures/schemas.json' with { type: 'json' };

/** All that Redis keeps for longer than an hour, and that a later start reads. */
const stored = {
  ...Object.fromEntries(jobs.flatMap(({ name, schema }) => (schema ? [[name, schema]] : []))),
  threadEvent,
  newReply,
  wantedMessage,
  deliveryFields,
  entrySchema,
};

/** Returns JSON that is the same for the same shape, in whatever order a schema names its fields. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part) => {
    if (Array.isArray(part)) return part.every((one) => typeof one === 'string') ? part.toSorted() : part;
    return typeof part === 'object' && part !== null
      ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : part;
  });

function shapeOfData(): string {
  const records = Object.entries(stored).map(([name, schema]) => [
    name,
    z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }),
  ]);
  const names = Object.entries(keys).map(([name, key]) => [
    name,
    (key as (...parts: string[]) => string)('a', 'b', 'c'),
  ]);
  return hash('sha256', canonical([Object.fromEntries(records), Object.fromEntries(names)])).slice(0, 16);
}

test('a stored record or key changes only together with the number of the schema', () => {
  const known = Object.entries(shapes);
  const present = [SCHEMA, shapeOfData()];
  expect(
    known.at(-1),
    `If the data changed: raise SCHEMA in src/store/schema.ts, and add { "${Number(SCHEMA) + 1}": "${present[1]}" } to test/fixtures/schemas.json`,
  ).toEqual(present);
  expect(new Set(Object.values(shapes)).size, 'each number is for one shape of the data').toBe(known.length);
});

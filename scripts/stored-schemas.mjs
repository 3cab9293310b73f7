import { writeFileSync } from 'node:fs';
import { growing, shapeOf, versioned, versionIn } from '../test/support/stored-schemas.ts';

/** Writes the schemas of what this release stores in Redis, for the test that compares later versions with them. */
const shapes = Object.entries({ ...versioned, ...growing }).map(([name, schema]) => {
  const shape = shapeOf(schema);
  return [name, { v: versionIn(shape), shape }];
});
const file = new URL('../test/fixtures/stored-schemas.json', import.meta.url);
writeFileSync(file, `${JSON.stringify(Object.fromEntries(shapes), undefined, 1)}\n`);

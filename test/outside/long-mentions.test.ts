import { afterAll, beforeAll, expect, test } from 'vitest';
import { createWorld, type World } from '../support/flows/world.ts';

let world: World;
beforeAll(async () => {
  world = await createWorld();
  await world.startBot({});
});
afterAll(() => world.close());

/** Runs of what stands around commands and ids, of blanks, quotes and marks: a careless reader takes seconds for each. */
const floods = ['!', '" ', '…', '](', '[', "'", '.a', '\u200D', '~ ', '`a', '*a '];

test('long mentions by a guest keep nobody waiting: commands of others are answered in time', async () => {
  const { slack } = world;
  const gus = slack.person('gus');
  const written = floods.map((unit) => gus.says('#docs', `@docket a${unit.repeat(40_000 / unit.length)}a`));
  const answers = await Promise.all(
    ['ana', 'ben'].flatMap((name) =>
      Array.from({ length: 5 }, () =>
        slack.person(name as 'ana' | 'ben').types('#docs', '/docs-export status'),
      ),
    ),
  );
  expect(answers.map(({ failed }) => failed)).toEqual(answers.map(() => undefined));
  await Promise.all(written);
});

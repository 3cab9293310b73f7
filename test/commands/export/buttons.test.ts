import { describe, expect, test } from 'vitest';
import { startAnotherButton } from '../../../src/commands/export/command.ts';
import type { UseDomain } from '../../../src/jobs/export/record.ts';
import { aCaller, acme, ben } from '../../support/commands/builders.ts';
import { type CommandWorld, onFreshWorlds } from '../../support/commands/world.ts';

let world: CommandWorld;
onFreshWorlds(
  (fresh) => {
    world = fresh;
  },
  { projects: [acme] },
);

const byBen = (requestId = '1.9.z') => aCaller({ requestId, user: ben });

describe('[Start another]', () => {
  const another = (changes: Partial<UseDomain> = {}) =>
    startAnotherButton.run(
      { v: 1, domain: 'docs.acme.com', project: 'acme', privately: false, request: '1.2.b', ...changes },
      byBen(),
      world.tools,
    );

  test('with a domain that is refused when it is typed is refused as well', async () => {
    expect((await another({ domain: 'localhost' }))?.text).toMatch(/isn't a host name/);
    expect(await world.exports()).toEqual([]);
  });
});

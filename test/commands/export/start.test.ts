import { describe, expect, test } from 'vitest';
import type { Caller } from '../../../src/commands/intake.ts';
import { cardPermalink } from '../../../src/jobs/export/feature.ts';
import type { ExportRun } from '../../../src/jobs/export/record.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aCaller, ben, gus } from '../../support/commands/builders.ts';
import { createCommandWorld } from '../../support/commands/world.ts';
import { aRun } from '../../support/jobs/export/builders.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();

describe('the way to the thread', () => {
  const permalinkIn = ({ tools }: ReturnType<typeof createCommandWorld>, run: ExportRun, caller: Caller) =>
    cardPermalink(run, caller, tools, tools.workspaceUrl);
  const thread = 'https://acme.example/archives/C0DOCS/p1789914659000100';
  const from = (user: Caller['user'], channel = 'C0OTHER') =>
    aCaller({ user, channel: { id: channel, name: 'x' } });
  const privateRun = aRun({ asked: { channel: 'G0', joinable: true, isPublic: false, atMs: NOW_MS } });

  test.each([
    ['any full member, in a public channel', aRun(), from(ben), thread],
    ['no guest, in a public channel', aRun(), from(gus), undefined],
    ['guests who are in that public channel', aRun(), from(gus, 'C0DOCS'), thread],
    ['nobody else, in a private channel', privateRun, from(ben), undefined],
    ['those who are in that private channel', privateRun, from(ben, 'G0'), thread],
    ['the requester, everywhere', privateRun, from(aCaller().user), thread],
    ['nobody else, in direct messages', aRun({ inDirectMessage: true }), from(ben), undefined],
  ])('is shown to %s', async (_, run, caller, expected) => {
    expect(await permalinkIn(createCommandWorld(redis), run, caller)).toBe(expected);
  });
});

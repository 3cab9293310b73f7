import { expect, test } from 'vitest';
import { startNewButton } from '../../../src/commands/agent/buttons.ts';
import { LEFT_OUT_TEXT } from '../../../src/jobs/agent/thread/phrases.ts';
import { threadClaim } from '../../../src/store/threads.ts';
import { aCaller, aProject, ben } from '../../support/commands/builders.ts';
import { type CommandWorld, createCommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { aMention, anOffer, aThread } from '../../support/jobs/agent/builders.ts';

let world: CommandWorld;
const redis = onFreshWorlds(
  (fresh) => {
    world = fresh;
  },
  { projects: [aProject({ projectId: 'prj_1' })] },
);

const click = (mention: string, caller = aCaller()) =>
  startNewButton.run({ v: 1, mention }, caller, world.tools);

test('starts a job with the text of the mention, in its thread, once', async () => {
  const mention = await world.given(aMention({ answer: anOffer }));
  // In place of the offer, which could be clicked again.
  const text = `A new job starts in this thread. ${LEFT_OUT_TEXT}`;
  const started = { text, replace_original: true };
  expect(await click(mention.id)).toMatchObject(started);
  expect(await click(mention.id, aCaller({ requestId: '1.2.b' }))).toMatchObject(started);
  const threads = await world.threadRuns();
  expect(threads).toHaveLength(1);
  expect(threads[0]).toMatchObject({
    claim: threadClaim({ teamId: 'T0ACME', channel: 'C0DOCS', rootTs: '1789905000.000200' }),
    asked: { channel: 'C0DOCS', rootTs: '1789905000.000200', joinable: true, external: false },
    owner: { id: 'U0ANA' },
    checked: true,
    lasting: true,
    instructions: [
      {
        id: '1789905000.000200',
        isReply: true,
        creates: true,
        state: 'waiting',
        text: anOffer.text,
        atMs: 1_789_905_000_000,
        files: true,
      },
    ],
  });
  expect(threads[0]?.agentJobId).toBeUndefined();
});

test('in a thread makes that the one', async () => {
  const mention = await world.given(aMention({ answer: anOffer, threadTs: '1.1' }));
  await click(mention.id);
  expect(await world.threadRuns()).toMatchObject([{ asked: { rootTs: '1.1' } }]);
});

test('of a thread that is followed by now says so', async () => {
  await world.followed(aThread({ place: { channel: 'C0DOCS', rootTs: '1.1' } }));
  const mention = await world.given(aMention({ answer: anOffer, threadTs: '1.1' }));
  const told = await click(mention.id);
  expect(told?.text).toMatch(/^This thread already follows a job/);
  expect(told).not.toHaveProperty('replace_original');
});

test('is for the author alone, and needs the text', async () => {
  const mention = await world.given(aMention({ answer: anOffer }));
  expect((await click(mention.id, aCaller({ user: ben })))?.text).toMatch(/^Only the author of this/);
  const other = await world.given(aMention({ id: 'other', answer: { kind: 'help' } }));
  expect((await click(other.id))?.text).toMatch(/^I no longer remember this message/);
  expect((await click('nobody'))?.text).toMatch(/^I no longer remember this message/);
  expect(await world.threadRuns()).toEqual([]);
});

test('needs to know the project', async () => {
  const projects = [aProject({ name: 'acme', projectId: 'p1' }), aProject({ name: 'beta', projectId: 'p2' })];
  world = createCommandWorld(redis, { projects });
  const mention = await world.given(aMention({ answer: anOffer }));
  expect((await click(mention.id))?.text).toMatch(
    /^Which project is it for: acme, beta\?[\s\S]*docs-agent new … --project acme$/,
  );
  world = createCommandWorld(redis);
  expect((await click(mention.id))?.text).toMatch(/DOCS_PROJECT_ID\.$/);
  expect(await world.threadRuns()).toEqual([]);
});

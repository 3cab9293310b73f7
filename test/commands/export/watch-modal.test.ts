import { describe, expect, test } from 'vitest';
import { checkView } from '../../../demo/slack/block-kit/view.ts';
import { watchItButton, watchModal } from '../../../src/commands/export/watch-modal.ts';
import type { ModalDetails } from '../../../src/commands/registry.ts';
import type { CommandTools } from '../../../src/commands/tools.ts';
import { runButtonOf } from '../../../src/jobs/export/phrases.ts';
import { type ExportRun, exportRun, jobAlias } from '../../../src/jobs/export/record.ts';
import { transitions } from '../../../src/jobs/export/transitions.ts';
import { SLACK_LIMITS } from '../../../src/slack/limits.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aCaller, acme, ben } from '../../support/commands/builders.ts';
import { type CommandWorld, createCommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { aRun } from '../../support/jobs/export/builders.ts';

const JOB = 'se_0a1b2c3d4e5f60718293a4b5c6d7e8f9';
const NOT_VISIBLE = "This export is somebody else's, in a conversation that you can't see. Ask them.";

let world: CommandWorld;
const redis = onFreshWorlds(
  (fresh) => {
    world = fresh;
  },
  { projects: [acme] },
);

const byBen = () => aCaller({ requestId: '1.9.z', user: ben });
const question: Partial<ExportRun> = {
  state: 'unknown',
  project: 'acme',
  jobId: undefined,
  startedAtMs: undefined,
  status: undefined,
};
const given = (changes: Partial<ExportRun> = {}) => world.given(aRun({ rev: 1, ...question, ...changes }));
const stored = (id: string) => world.runs.load(id, exportRun);
const aboutRun = (run: ExportRun) => runButtonOf(run, '', '').value ?? '';

const click = (run: ExportRun, tools: CommandTools = world.tools) =>
  watchItButton.run(watchItButton.value.parse(JSON.parse(aboutRun(run))), byBen(), tools);
const submit = (run: ExportRun, job: string | undefined = JOB, about = aboutRun(run), by = byBen()) => {
  const details: ModalDetails = { ticked: {}, about };
  return watchModal.submit({ job }, by, world.tools, details);
};
const says = (text: string) => ({ kind: 'message', message: expect.objectContaining({ text }) });

describe("[It's there: watch it]", () => {
  test('opens a modal that asks for the job id, about the question that was clicked', async () => {
    const run = await given();
    const abouts: (string | undefined)[] = [];
    const { tools, opened } = createCommandWorld(redis, {
      projects: [acme],
      openModal: async (_caller, view, about) => {
        opened.push(view);
        abouts.push(about);
      },
    });
    expect(await click(run, tools)).toBeUndefined();
    expect(opened).toMatchObject([{ callback_id: watchModal.callbackId }]);
    for (const view of opened) expect(() => checkView(view, 'modal', (prefix) => prefix)).not.toThrow();
    expect(abouts.map((about) => JSON.parse(about ?? ''))).toEqual([JSON.parse(aboutRun(run))]);
    expect(await stored(run.id)).toEqual(run);
  });

  test.each(['startAgain', 'leave'] as const)('tells who answered first (%s)', async (action) => {
    const run = await given({
      rev: 2,
      ...transitions[action](aRun(question), { id: 'U0ANA', name: 'ana' }, NOW_MS),
    });
    const did = { startAgain: 'started it again', leave: 'chose to leave it' };
    expect((await click({ ...run, attempt: 1 }))?.text).toBe(`ana already ${did[action]}.`);
    expect(world.opened).toEqual([]);
  });

  test('opens nothing for those who cannot see the export', async () => {
    const run = await given({
      asked: { channel: 'C0PRIVATE', joinable: true, isPublic: false, atMs: NOW_MS },
    });
    expect((await click(run))?.text).toBe(NOT_VISIBLE);
    expect(world.opened).toEqual([]);
  });

  test('of an export that nobody remembers says what to type', async () => {
    expect((await click(aRun(question)))?.text).toBe(
      'I no longer remember this export. To start a new one, type /docs-export docs.acme.com.',
    );
  });
});

describe('the modal', () => {
  test.each([
    ['as it is', JOB],
    ['with spaces', ` ${JOB} `],
    ['in pointed brackets', `<${JOB}>`],
    ['in an address', `https://dash.example/acme/exports/${JOB}?tab=log`],
    ['in an address of Slack', `<https://dash.example/acme/exports/${JOB}|dash.example>`],
  ])('has the export go on with the job whose id was typed %s', async (_, typed) => {
    const run = await given();
    expect(await submit(run, typed)).toEqual({ kind: 'closed' });
    expect(await stored(run.id)).toMatchObject({
      state: 'watching',
      jobId: JOB,
      startedAtMs: run.attemptAtMs,
      attempt: 1,
      answer: { attempt: 1, by: 'ben', byId: 'U0BEN', action: 'watchIt' },
    });
    expect(world.woken).toEqual([run.id]);
    expect(world.audited).toEqual([{ subject: 'docs.acme.com', job: JOB, result: 'accepted' }]);
  });

  test.each([
    ['nothing', '', "Copy the job's whole ID."],
    ['several words', 'the second one', "Copy the job's whole ID."],
    [
      'a short form that nobody knows',
      'se_0a1b…e8f9',
      'No job that you can see here matches that. Copy its whole ID.',
    ],
    [
      'an address without an id',
      'https://dash.example/exports',
      "I can't tell which part of that address is the job's ID. Copy its whole ID.",
    ],
    [
      'an address with what may be two',
      `https://dash.example/org_12345/${JOB}`,
      `Copy one of these IDs: org_12345, ${JOB}`,
    ],
  ])('refuses %s at the field', async (_, typed, problem) => {
    const run = await given();
    expect(problem.length).toBeLessThanOrEqual(SLACK_LIMITS.modalFieldError);
    expect(await submit(run, typed)).toEqual({ kind: 'problems', problems: { job: problem } });
    expect(await stored(run.id)).toEqual(run);
  });

  test('keeps to the length of a problem, however long and many the ids are', async () => {
    const run = await given();
    const ids = Array.from({ length: 5 }, (_, index) => `se_${index}${'0'.repeat(100)}`);
    const result = await submit(run, `https://dash.example/${ids.join('/')}`);
    const problem = result.kind === 'problems' ? (result.problems.job ?? '') : '';
    expect(problem).toMatch(/^Copy one of these IDs: se_00/);
    expect(problem.length).toBeLessThanOrEqual(SLACK_LIMITS.modalFieldError);
  });

  test('submitted after somebody answered changes nothing, and says who did', async () => {
    const asked = await given();
    const left = transitions.leave(asked, { id: 'U0ANA', name: 'ana' }, NOW_MS);
    await world.runs.save(left as ExportRun, true);
    expect(await submit(asked)).toEqual(says('ana already chose to leave it.'));
    const kept = await stored(asked.id);
    expect(kept).toMatchObject({ state: 'ended', ending: { kind: 'left' } });
    expect(kept?.jobId).toBeUndefined();
    expect([world.woken, world.audited]).toEqual([[], []]);
  });

  test('submitted twice at once, with two ids, has one of them', async () => {
    const run = await given();
    const results = await Promise.all([submit(run), submit(run, 'se_2')]);
    expect(results).toContainEqual({ kind: 'closed' });
    expect(results).toContainEqual(says('You already answered this: see the latest message in this thread.'));
    const watched = (await stored(run.id))?.jobId;
    expect([JOB, 'se_2']).toContain(watched);
    expect(world.audited).toEqual([{ subject: 'docs.acme.com', job: watched, result: 'accepted' }]);
  });

  test('submitted at once by two people, with two ids, has one of them, and tells the other', async () => {
    const run = await given();
    const cleo = { id: 'U0CLEO', name: 'cleo', fullMember: true };
    const results = await Promise.all([
      submit(run),
      submit(run, 'se_2', aboutRun(run), aCaller({ requestId: '1.9.y', user: cleo })),
    ]);
    const kept = await stored(run.id);
    const [first, other] = kept?.jobId === JOB ? results : results.toReversed();
    expect([JOB, 'se_2']).toContain(kept?.jobId);
    expect(first).toEqual({ kind: 'closed' });
    expect(other).toEqual(says(`${kept?.answer?.by} already found it.`));
    expect(world.audited).toHaveLength(1);
  });

  test('after one has left it at that oneself says so, and does not look as if it worked', async () => {
    const by = byBen().user;
    const run = await given({ rev: 2, ...transitions.leave(aRun(question), by, NOW_MS) });
    expect(await submit(run)).toEqual(
      says('You already answered this: see the latest message in this thread.'),
    );
  });

  test('with the job of an export that has ended watches it', async () => {
    const run = await given();
    const other = await world.given(
      aRun({ id: 'b'.repeat(24), rev: 1, project: 'acme', jobId: JOB, claim: 'other', state: 'ended' }),
    );
    await world.runs.alias(jobAlias('T0ACME', 'acme', JOB), other.id);
    expect(await submit(run)).toEqual({ kind: 'closed' });
    expect(await stored(run.id)).toMatchObject({ state: 'watching', jobId: JOB });
  });

  test('with the job of another export names that one', async () => {
    const run = await given();
    const other = await world.given(
      aRun({ id: 'b'.repeat(24), rev: 1, project: 'acme', jobId: JOB, claim: 'other' }),
    );
    await world.runs.alias(jobAlias('T0ACME', 'acme', JOB), other.id);
    const result = await submit(run);
    expect(result).toEqual({ kind: 'message', message: expect.anything() });
    expect(result.kind === 'message' && result.message?.text).toMatch(
      /^docs\.acme\.com is already being exported: /,
    );
    expect(await stored(run.id)).toEqual(run);
  });

  test('that carries nothing that we wrote says that the export is not remembered', async () => {
    const run = await given();
    expect(await submit(run, JOB, '{}')).toEqual(says('I no longer remember this export.'));
    expect(await stored(run.id)).toEqual(run);
  });
});

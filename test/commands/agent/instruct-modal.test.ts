import type { InputBlock } from '@slack/types';
import { describe, expect, test } from 'vitest';
import { checkView } from '../../../demo/slack/block-kit/view.ts';
import { instructButton, instructModal } from '../../../src/commands/agent/instruct-modal.ts';
import { instructView } from '../../../src/commands/agent/instruct-views.ts';
import { aCaller, aProject, noDetails } from '../../support/commands/builders.ts';
import { type CommandWorld, createCommandWorld, onFreshWorlds } from '../../support/commands/world.ts';

const acme = aProject({ name: 'acme', projectId: 'prj_1' });
const beta = aProject({ name: 'beta', projectId: 'prj_2', channels: ['C0BETA'] });
const withoutAgent = aProject({ name: 'gamma' });

let world: CommandWorld;
const redis = onFreshWorlds(
  (fresh) => {
    world = fresh;
  },
  { projects: [acme, withoutAgent] },
);

const caller = aCaller({ requestId: 'view V1' });
const submit = (entered: Record<string, string>) =>
  instructModal.submit(entered, caller, world.tools, noDetails);

describe('the modal', () => {
  const fieldsOf = (what: Parameters<typeof instructView>[0]) => {
    const view = instructView(what, aCaller());
    expect(() => checkView(view, 'modal', (prefix) => prefix)).not.toThrow();
    return view.blocks.filter((block): block is InputBlock => block.type === 'input');
  };

  test('asks for an instruction or a job, and for the project only where there are several', () => {
    const names = (projects: (typeof acme)[]) =>
      fieldsOf({ projects, project: undefined }).map(({ block_id: block }) => block);
    expect(names([acme])).toEqual(['text', 'job']);
    expect(names([acme, beta])).toEqual(['text', 'job', 'project']);
  });

  test('has the project of the channel chosen', () => {
    const [, , field] = fieldsOf({ projects: [acme, beta], project: 'beta' });
    expect(field?.element).toMatchObject({ initial_option: { value: 'beta' } });
  });

  test('is opened by [Instruct the agent], about the projects that have an agent', async () => {
    world = createCommandWorld(redis, { projects: [acme, beta, withoutAgent] });
    const inBeta = aCaller({ channel: { id: 'C0BETA', name: 'beta' } });
    expect(await instructButton.run({ v: 1 }, inBeta, world.tools)).toBeUndefined();
    expect(world.opened[0]?.blocks.at(-1)).toMatchObject({
      block_id: 'project',
      element: { options: [{ value: 'acme' }, { value: 'beta' }], initial_option: { value: 'beta' } },
    });
  });
});

describe('submitted', () => {
  test('with an instruction starts a new job, once', async () => {
    expect(await submit({ text: ' Add a quickstart ' })).toEqual({ kind: 'closed' });
    await submit({ text: ' Add a quickstart ' });
    const [thread, ...more] = await world.threadRuns();
    expect(more).toEqual([]);
    expect(thread).toMatchObject({
      project: 'acme',
      asked: { channel: 'C0DOCS' },
      instructions: [{ text: 'Add a quickstart', creates: true, state: 'waiting' }],
    });
    expect(thread?.agentJobId).toBeUndefined();
  });

  test.each([
    ['alone follows it', {}, []],
    ['and an instruction sends it there', { text: 'Use <b>' }, [{ text: 'Use <b>', creates: false }]],
  ])('with a job %s', async (_, entered, instructions) => {
    expect(await submit({ job: ' job_1 ', ...entered })).toEqual({ kind: 'closed' });
    expect(await world.threadRuns()).toMatchObject([{ agentJobId: 'job_1', instructions }]);
  });

  test('means the project that was chosen', async () => {
    world = createCommandWorld(redis, { projects: [acme, beta] });
    await submit({ text: 'Add it', project: 'beta' });
    expect(await world.threadRuns()).toMatchObject([{ project: 'beta' }]);
  });

  test.each<[Record<string, string>, object]>([
    [{}, { text: 'Write what the agent should do, or paste a job ID below.' }],
    [{ job: 'the first one' }, { job: "Copy the job's whole ID." }],
    [{ job: 'aj_3f9a…4a06' }, { job: 'No job that you can see here matches that. Copy its whole ID.' }],
    [
      { text: 'word '.repeat(2840), job: 'job_1' },
      { text: 'That is 14,199 characters; the agent gets up to 8,000 at once.' },
    ],
  ])('with what cannot be done says so at the field', async (entered, problems) => {
    expect(await submit(entered)).toEqual({ kind: 'problems', problems });
    expect(await world.threadRuns()).toEqual([]);
  });

  test('of a project that the settings no longer have says so', async () => {
    expect(await submit({ text: 'Add it', project: 'delta' })).toMatchObject({
      kind: 'message',
      message: { text: 'No project "delta". Available: acme, gamma.' },
    });
  });
});

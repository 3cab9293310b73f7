import type { InputBlock, ModalView } from '@slack/types';
import { describe, expect, test } from 'vitest';
import { checkView } from '../../../demo/slack/block-kit/view.ts';
import { exportCommand } from '../../../src/commands/export/command.ts';
import { exportModal, exportModalView } from '../../../src/commands/export/modal.ts';
import type { CommandTools } from '../../../src/commands/intake.ts';
import type { ModalValues } from '../../../src/commands/registry.ts';
import type { Project } from '../../../src/projects.ts';
import { aCaller, acme, aProject, beta, noDetails } from '../../support/commands/builders.ts';
import { createCommandWorld } from '../../support/commands/world.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();

function viewFor(
  projects: readonly Project[],
  wanted: Parameters<typeof exportModalView>[0] = {},
  changes: Partial<CommandTools> = {},
): ModalView {
  const view = exportModalView(wanted, aCaller(), {
    projects,
    docsDomain: undefined,
    links: 'thread',
    ...changes,
  });
  expect(() => checkView(view, 'modal', (prefix) => prefix)).not.toThrow();
  return view;
}

const fields = (view: ModalView) => view.blocks.map(({ block_id: block }) => block);
const field = (view: ModalView, block: string) =>
  (view.blocks.find(({ block_id: id }) => id === block) as InputBlock | undefined)?.element as
    | {
        type: string;
        options?: { value?: string }[];
        initial_option?: { value?: string };
        initial_value?: string;
      }
    | undefined;

const manyDomains = (count: number) => Array.from({ length: count }, (_, index) => `d${index}.acme.com`);
const twin = { ...beta, domains: ['docs.acme.com'], channels: [] };

describe('the modal', () => {
  test('has the project that was named chosen already, and fits any number of them', () => {
    const many = Array.from({ length: 150 }, (_, index) => aProject({ name: `p${index}` }));
    expect(field(viewFor([acme, twin], { project: 'BETA' }), 'project')?.initial_option?.value).toBe('beta');
    expect(field(viewFor(many), 'project')?.options).toHaveLength(100);
    expect(field(viewFor(many, { project: 'p149' }), 'project')?.initial_option).toBeUndefined();
  });
});

describe('a command that leaves something open', () => {
  const typed = async (text: string, projects: Project[]) => {
    const world = createCommandWorld(redis, { projects });
    const told = await exportCommand.run(text, aCaller(), world.tools);
    const [view] = world.opened;
    return { told, view: view as ModalView, runs: await world.exports() };
  };

  test('with more paths than fit into the modal says so, and none is forgotten', async () => {
    const paths = Array.from({ length: 100 }, (_, index) => `/${'x'.repeat(40)}${index}`).join(',');
    const { told, view, runs } = await typed(`--paths ${paths}`, [aProject()]);
    expect(told?.text).toMatch(/^That many paths don't fit in a form\./);
    expect(view).toBeUndefined();
    expect(runs).toEqual([]);
  });
});

describe('the modal, submitted', () => {
  const submit = (
    entered: ModalValues,
    world = createCommandWorld(redis, { projects: [acme, beta] }),
    caller = aCaller({ requestId: 'view V01' }),
  ) => exportModal.submit(entered, caller, world.tools, noDetails);

  const long = 'x'.repeat(400);
  test.each<[string, ModalValues, Project[], Record<string, RegExp>]>([
    ['a very long word', { domain: long }, [acme], { domain: /isn't a host name/ }],
    [
      'a domain of nobody, where there are many',
      { domain: 'docs.foo.com' },
      [{ ...acme, domains: manyDomains(200) }],
      { domain: /^docs\.foo\.com isn't set up/ },
    ],
    [
      'a domain that forty projects have',
      { domain: 'docs.acme.com' },
      Array.from({ length: 40 }, (_, index) => ({ ...twin, name: `project-${index}` })),
      { project: /have|…$/ },
    ],
    ['a long label', { domain: 'docs.acme.com', version: long }, [acme], { version: /at most 100/ }],
    [
      'something that is no path',
      { domain: 'docs.acme.com', paths: `docs.acme.com/${long}` },
      [acme],
      { paths: /./ },
    ],
  ])(
    'with %s starts nothing, and says at each field what is wrong, in 150 characters',
    async (_, entered, projects, expected) => {
      const world = createCommandWorld(redis, { projects });
      const answer = await submit(entered, world);
      if (answer.kind !== 'problems') throw new Error(`not refused: ${answer.kind}`);
      expect(Object.keys(answer.problems).sort()).toEqual(Object.keys(expected).sort());
      const there = fields(viewFor(projects));
      for (const [block, problem] of Object.entries(answer.problems)) {
        expect(problem).toMatch(expected[block] as RegExp);
        expect(problem.length).toBeLessThanOrEqual(150);
        expect(there).toContain(block);
      }
      expect(await world.exports()).toEqual([]);
    },
  );
});

import type { InputBlock, ModalView } from '@slack/types';
import { describe, expect, test } from 'vitest';
import { checkView } from '../../../demo/slack/block-kit/view.ts';
import { exportCommand } from '../../../src/commands/export/command.ts';
import { exportModal, exportModalView } from '../../../src/commands/export/modal.ts';
import type { ModalValues } from '../../../src/commands/registry.ts';
import type { CommandTools } from '../../../src/commands/tools.ts';
import type { Project } from '../../../src/projects.ts';
import { aCaller, acme, aProject, ben, beta, noDetails } from '../../support/commands/builders.ts';
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
  test('lists each domain once, with what was typed or set chosen already, and else none', () => {
    const chosen = (wanted: object, docsDomain?: string) => {
      const domain = field(viewFor([acme, twin], wanted, { docsDomain }), 'domain');
      expect(domain?.options?.map(({ value }) => value)).toEqual(['docs.acme.com', 'api.acme.com']);
      return domain?.initial_option?.value;
    };
    expect(chosen({ domain: 'api.acme.com' })).toBe('api.acme.com');
    expect(chosen({}, 'api.acme.com')).toBe('api.acme.com');
    expect(chosen({})).toBeUndefined();
    expect(chosen({ domain: 'docs.foo.com' })).toBeUndefined();
    expect(field(viewFor([aProject()], { domain: 'docs.foo.com' }), 'domain')?.initial_value).toBe(
      'docs.foo.com',
    );
  });

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

  test('has the domain chosen that was typed, however it was typed', async () => {
    const others = { ...twin, domains: ['a.beta.io', 'docs.acme.com'] };
    const { view } = await typed('<http://Docs.Acme.com|docs.acme.com>', [others, acme]);
    expect(field(view, 'domain')?.initial_option?.value).toBe('docs.acme.com');
  });

  test('with more paths than fit into the modal says so, and none is forgotten', async () => {
    const paths = Array.from({ length: 100 }, (_, index) => `/${'x'.repeat(40)}${index}`).join(',');
    const { told, view, runs } = await typed(`--paths ${paths}`, [aProject()]);
    expect(told?.text).toMatch(/^That many paths don't fit in a form\./);
    expect(view).toBeUndefined();
    expect(runs).toEqual([]);
  });
});

test('the modal of the only domain, submitted, exports that', async () => {
  const one = { ...acme, domains: ['docs.acme.com'] };
  const world = createCommandWorld(redis, {
    projects: [one, { ...one, name: 'beta', channels: [] }, aProject({ name: 'empty', domains: [] })],
  });
  const submit = (project: string) =>
    exportModal.submit(
      { project, link: 'thread' },
      aCaller({ requestId: 'view V1' }),
      world.tools,
      noDetails,
    );
  expect(await submit('empty')).toMatchObject({
    kind: 'problems',
    problems: { project: expect.any(String) },
  });
  expect(await submit('beta')).toEqual({ kind: 'closed' });
  expect(await world.exports()).toMatchObject([{ domain: 'docs.acme.com', project: 'beta' }]);
});

describe('the modal, submitted', () => {
  const submit = (
    entered: ModalValues,
    world = createCommandWorld(redis, { projects: [acme, beta] }),
    caller = aCaller({ requestId: 'view V01' }),
  ) => exportModal.submit(entered, caller, world.tools, noDetails);

  test('starts what was entered, and closes', async () => {
    const world = createCommandWorld(redis, { projects: [acme, twin] });
    const entered = {
      domain: 'docs.acme.com',
      project: 'beta',
      version: ' spring release ',
      paths: '/guides, /api\n/start',
      link: 'requester',
    };
    expect(await submit(entered, world)).toEqual({ kind: 'closed' });
    expect(await world.exports()).toMatchObject([
      {
        domain: 'docs.acme.com',
        project: 'beta',
        version: 'spring release',
        paths: ['/guides', '/api', '/start'],
        privately: true,
        asked: { channel: 'C0DOCS' },
      },
    ]);
  });

  test('with nothing but a domain starts the whole site, for everybody', async () => {
    const world = createCommandWorld(redis, { projects: [acme] });
    await submit({ domain: 'docs.acme.com', link: 'thread' }, world);
    const [run] = await world.exports();
    expect(run).toMatchObject({ privately: false });
    expect(run).not.toHaveProperty('paths');
    expect(run).not.toHaveProperty('version');
  });

  test('without a choice of who gets the link starts one for whoever asked alone', async () => {
    const world = createCommandWorld(redis, { projects: [acme] });
    await submit({ domain: 'docs.acme.com' }, world);
    expect(await world.exports()).toMatchObject([{ privately: true }]);
  });

  test('twice is one export', async () => {
    const world = createCommandWorld(redis, { projects: [acme] });
    expect(await submit({ domain: 'docs.acme.com' }, world)).toEqual({ kind: 'closed' });
    expect(await submit({ domain: 'docs.acme.com' }, world)).toEqual({ kind: 'closed' });
    expect(await world.exports()).toHaveLength(1);
  });

  test('while the same runs already says so', async () => {
    const world = createCommandWorld(redis, { projects: [acme] });
    await submit({ domain: 'docs.acme.com' }, world);
    const told = await submit(
      { domain: 'docs.acme.com' },
      world,
      aCaller({ requestId: 'view V02', user: ben }),
    );
    expect(told).toMatchObject({
      kind: 'message',
      message: { text: expect.stringMatching(/^docs\.acme\.com is already being exported/) },
    });
    expect(await world.exports()).toHaveLength(1);
  });

  const long = 'x'.repeat(400);
  test.each<[string, ModalValues, Project[], Record<string, RegExp>]>([
    ['no domain', {}, [acme, beta], { domain: /^Type the domain/ }],
    [
      'no host name',
      { domain: 'https://docs.acme.com/v2' },
      [acme],
      { domain: /Did you mean docs\.acme\.com\?$/ },
    ],
    ['a very long word', { domain: long }, [acme], { domain: /isn't a host name/ }],
    [
      'a domain of nobody, where there are many',
      { domain: 'docs.foo.com' },
      [{ ...acme, domains: manyDomains(200) }],
      { domain: /^docs\.foo\.com isn't set up/ },
    ],
    [
      'a domain that two projects have',
      { domain: 'docs.acme.com' },
      [acme, twin],
      { project: /^acme and beta have this domain/ },
    ],
    [
      'a domain that forty projects have',
      { domain: 'docs.acme.com' },
      Array.from({ length: 40 }, (_, index) => ({ ...twin, name: `project-${index}` })),
      { project: /have|…$/ },
    ],
    [
      'a project that is gone',
      { domain: 'docs.acme.com', project: 'gone' },
      [acme, twin],
      { project: /^No project "gone"/ },
    ],
    [
      'a domain of another project',
      { domain: 'api.acme.com', project: 'beta' },
      [acme, twin],
      { domain: /^api\.acme\.com isn't in project beta\./ },
    ],
    ['a label of many lines', { domain: 'docs.acme.com', version: 'a\nb' }, [acme], { version: /one line/ }],
    ['a long label', { domain: 'docs.acme.com', version: long }, [acme], { version: /at most 100/ }],
    [
      'something that is no path',
      { domain: 'docs.acme.com', paths: `docs.acme.com/${long}` },
      [acme],
      { paths: /./ },
    ],
    [
      'a page of another site',
      { domain: 'docs.acme.com', paths: 'https://docs.other.com/guides' },
      [acme],
      { paths: /isn't a page of docs\.acme\.com\.$/ },
    ],
    [
      'several of these',
      { domain: 'nothing', version: 'a\nb', paths: '?x' },
      [acme],
      { domain: /./, version: /./, paths: /./ },
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

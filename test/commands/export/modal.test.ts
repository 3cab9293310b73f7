import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { checkView } from '../../../demo/slack/block-kit/view.ts';
import { settingsView } from '../../../src/commands/export/buttons.ts';
import { exportModal, exportModalView } from '../../../src/commands/export/modal.ts';
import type { ModalValues } from '../../../src/commands/registry.ts';
import type { Project } from '../../../src/projects.ts';
import { SLACK_LIMITS } from '../../../src/slack/limits.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aCaller, acme, aProject, beta, noDetails } from '../../support/commands/builders.ts';
import { createCommandWorld } from '../../support/commands/world.ts';
import { anEnding, ended } from '../../support/jobs/export/builders.ts';
import { redisForTests } from '../../support/redis.ts';

const redis = redisForTests();
const ADDRESS = 'https://bundles.example/b.zip?X-Signature=s3cret';

test('fits any number of projects', () => {
  const projects = Array.from({ length: 150 }, (_, index) => aProject({ name: `p${index}` }));
  const view = exportModalView({}, aCaller(), { projects, docsDomain: undefined, links: 'thread' });
  expect(() => checkView(view, 'modal', (prefix) => prefix)).not.toThrow();
});

const long = 'x'.repeat(400);
const twins = Array.from({ length: 40 }, (_, index) => ({
  ...{ ...beta, domains: ['docs.acme.com'], channels: [] },
  name: `project-${index}`,
}));
const manyDomains = Array.from({ length: 200 }, (_, index) => `d${index}.acme.com`);

test.each<[string, ModalValues, Project[], Record<string, RegExp>]>([
  ['a very long word', { domain: long }, [acme], { domain: /isn't a host name/ }],
  [
    'a domain of nobody',
    { domain: 'docs.foo.com' },
    [{ ...acme, domains: manyDomains }],
    { domain: /set up/ },
  ],
  ['a domain of forty projects', { domain: 'docs.acme.com' }, twins, { project: /have|…$/ }],
  ['a long label', { domain: 'docs.acme.com', version: long }, [acme], { version: /at most 100/ }],
  ['no path', { domain: 'docs.acme.com', paths: `docs.acme.com/${long}` }, [acme], { paths: /./ }],
])(
  '%s starts nothing, and each field says what is wrong, in 150 characters',
  async (_, values, projects, expected) => {
    const world = createCommandWorld(redis, { projects });
    const answer = await exportModal.submit(values, aCaller(), world.tools, noDetails);
    const problems = answer.kind === 'problems' ? Object.entries(answer.problems) : [];
    expect(problems).toEqual(
      Object.entries(expected).map(([field, text]) => [field, expect.stringMatching(text)]),
    );
    for (const [, problem] of problems)
      expect(problem.length).toBeLessThanOrEqual(SLACK_LIMITS.modalFieldError);
    expect(await world.exports()).toEqual([]);
  },
);

test.each([
  ...[
    undefined,
    'spring release: "1.2" #3',
    'true',
    '1.10',
    '2026-09-01',
    'yes',
    '1_000',
    '0x1f',
    '12:30:45',
  ],
  ...['~', 'null', '.inf', '1e3', '010', '=', '<<', "it's", 'back\\slash', '📦', '- x', '# y'],
])('the settings of a deployment are YAML that every reader takes as meant, with the label %j', (version) => {
  for (const bundleUrl of [ADDRESS, ADDRESS + 'x'.repeat(2500)]) {
    const view = settingsView(ended(anEnding.done, { version }), bundleUrl, NOW_MS);
    expect(() => checkView(view, 'modal', (prefix) => prefix)).not.toThrow();
    const [text = ''] = JSON.stringify(view.blocks).match(/"staticExport:(?:[^"\\]|\\.)*"/) ?? [];
    const meant = { enabled: true, bundleUrl, ...(version !== undefined && { version }) };
    for (const reader of ['1.2', '1.1'] as const)
      expect(parse(JSON.parse(text), { version: reader })).toEqual({ staticExport: meant });
  }
});

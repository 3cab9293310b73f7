import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

interface Step {
  uses?: string;
  run?: string;
  env?: Record<string, string>;
  with?: Record<string, unknown>;
}

interface Job {
  uses?: string;
  needs?: string;
  permissions: Record<string, string>;
  steps?: Step[];
}

const root = new URL('../../', import.meta.url).pathname;
const files = globSync('.github/workflows/*', { cwd: root }).toSorted();
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const jobsOf = (file: string): Record<string, Job> => parse(read(file)).jobs;

/** What GitHub finds wrong with a workflow: by its published schema, also within expressions. */
async function errorsOf(content: string): Promise<string[]> {
  const { context, value } = parseWorkflow({ name: 'file.yml', content }, new NoOperationTraceWriter());
  const found = value && (await convertWorkflowTemplate(context, value));
  const said = [...context.errors.getErrors(), ...(found?.errors ?? [])];
  return said.map((error) => ('rawMessage' in error ? error.rawMessage : error.Message));
}

test('there are the workflows of CI and of a release', () => {
  expect(files).toEqual(['.github/workflows/ci.yml', '.github/workflows/release.yml']);
});

describe.each(files)('%s', (file) => {
  test('is one by the schema of GitHub', async () => {
    expect(await errorsOf(read(file))).toEqual([]);
  });

  test.each([
    ['a key that does not exist', /timeout-minutes:/, 'timeout-minute:'],
    ['an unknown right', /contents: read/, 'content: read'],
    ['a wrong expression', /\$\{\{ github\.ref \}\}/, '$' + '{{ github.ref + }}'],
    ['an unknown event', /^ {2}push:/m, '  pushed:'],
  ])('would not be one with %s', async (_, right, wrong) => {
    expect(read(file)).toMatch(right);
    expect(await errorsOf(read(file).replace(right, wrong))).not.toEqual([]);
  });

  const jobs = Object.values(jobsOf(file));
  const steps = jobs.flatMap(({ steps = [] }) => steps);

  test('names actions of others by the hash of a commit, with the release as a comment', () => {
    const lines = read(file).match(/uses: .*/g) ?? [];
    expect(lines.length).toBeGreaterThan(0);
    for (const line of lines)
      expect(line).toMatch(
        /^uses: (?:\.\/\.github\/workflows\/ci\.yml|[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/,
      );
  });

  test('gives each job only what it needs, and keeps what others write out of its commands', () => {
    expect(parse(read(file)).permissions).toEqual({});
    for (const { permissions } of jobs) expect(Object.keys(permissions).length).toBeGreaterThan(0);
    for (const { run = '' } of steps) expect(run).not.toContain('$' + '{{');
  });
});

test('the same action has the same hash everywhere', () => {
  const uses = files.flatMap((file) => read(file).match(/[\w-]+\/[\w-]+@[0-9a-f]{40}/g) ?? []);
  const names = new Set(uses.map((one) => one.split('@')[0]));
  expect(new Set(uses).size).toBe(names.size);
});

test('CI is .ci/run, which a release has to pass, too', () => {
  const commands = jobsOf('.github/workflows/ci.yml')
    .ci?.steps?.map(({ run }) => run)
    .filter(Boolean);
  expect(commands).toEqual([expect.stringMatching(/ bash \.ci\/run$/)]);
  const { ci, image, release } = jobsOf('.github/workflows/release.yml');
  expect([ci?.uses, image?.needs, release?.needs]).toEqual(['./.github/workflows/ci.yml', 'ci', 'image']);
});

test('a release has an image for two architectures, with SBOM and provenance, and names its digest', () => {
  const { image, release } = jobsOf('.github/workflows/release.yml');
  const build = image?.steps?.find(({ uses }) => uses?.startsWith('docker/build-push-action@'))?.with;
  expect(build).toMatchObject({
    platforms: 'linux/amd64,linux/arm64',
    ...{ push: true, sbom: true, provenance: 'mode=max' },
  });
  const dockerfile = read('Dockerfile');
  const given = [...String(build?.['build-args']).matchAll(/^(\w+)=/gm)].map(([, name]) => name);
  expect(given).toEqual(['VERSION', 'REVISION']);
  for (const name of given) expect(dockerfile).toMatch(new RegExp(`^ARG ${name}$`, 'm'));
  expect(release?.steps?.[0]?.env?.IMAGE).toMatch(
    /outputs\.name \}\}@\$\{\{ needs\.image\.outputs\.digest \}\}$/,
  );
});

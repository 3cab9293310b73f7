import { expect, test } from 'vitest';
import { watchExport } from '../../../src/commands/export/start.ts';
import type { Caller } from '../../../src/commands/tools.ts';
import { type ExportRun, jobAlias } from '../../../src/jobs/export/record.ts';
import { aCaller, acme, aProject, ben, beta } from '../../support/commands/builders.ts';
import { type CommandWorld, createCommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { anEnding, aRun } from '../../support/jobs/export/builders.ts';

let world: CommandWorld;
const redis = onFreshWorlds(
  (fresh) => {
    world = fresh;
  },
  { projects: [aProject({ name: 'acme' })] },
);

const watch = (jobId: string, caller: Caller = aCaller(), project?: string) =>
  watchExport({ jobId, project }, caller, world.tools);

/** An export of Ana's that was started from here. */
async function startedHere(changes: Partial<ExportRun> = {}) {
  const run = await world.given(aRun({ rev: 1, project: 'acme', jobId: 'se_1', ...changes }));
  await world.runs.alias(jobAlias('T0ACME', 'acme', 'se_1'), run.id);
  return run;
}

test('joins a job that nobody here started', async () => {
  expect(await watch('se_9')).toBeUndefined();
  const [run] = await world.exports();
  expect(run).toMatchObject({ joined: true, jobId: 'se_9', domain: '', project: 'acme', state: 'accepted' });
  expect(world.woken).toEqual([run?.id]);
});

test('of a job that somebody watches already says so, with the way to it', async () => {
  await watch('se_9');
  const told = await watch('se_9', aCaller({ requestId: '1.2.b', user: ben }));
  expect(told?.text).toBe('job se_9 is already being exported: watched by ana.');
  expect(JSON.stringify(told)).not.toContain('Start another');
  expect(JSON.stringify(told)).toContain('https://acme.example/archives/');
  expect(await world.exports()).toHaveLength(1);
});

test('of an export that runs from here says so, and joins nothing', async () => {
  await startedHere();
  expect((await watch('se_1'))?.text).toMatch(/^docs\.acme\.com is already being exported: started by you/);
  expect(await world.exports()).toHaveLength(1);
});

test('of an export from here that has ended watches it with what is known of it', async () => {
  const run = await startedHere({
    state: 'ended',
    ending: anEnding.gaveUp,
    version: '1.2',
    paths: ['/api'],
    privately: true,
  });
  expect(await watch('se_1', aCaller({ user: ben }))).toBeUndefined();
  const joined = (await world.exports()).find(({ id }) => id !== run.id);
  expect(joined).toMatchObject({
    joined: true,
    domain: 'docs.acme.com',
    version: '1.2',
    paths: ['/api'],
    privately: true,
    requester: { id: 'U0BEN' },
  });
});

test('the same job id in another project is another job', async () => {
  world = createCommandWorld(redis, { projects: [acme, beta] });
  await watch('se_1', aCaller(), 'acme');
  await watch('se_1', aCaller({ requestId: '1.2.b' }), 'beta');
  expect((await world.exports()).map(({ project }) => project).sort()).toEqual(['acme', 'beta']);
});

test('means the project of its channel, where there are several', async () => {
  world = createCommandWorld(redis, { projects: [acme, beta] });
  await watch('se_1', aCaller({ channel: { id: 'C0BETA', name: 'beta' } }));
  expect(await world.exports()).toMatchObject([{ project: 'beta' }]);
});

test('asks for the project where only a person can say', async () => {
  world = createCommandWorld(redis, { projects: [acme, beta] });
  expect((await watch('se_1'))?.text).toBe(
    'Which project is it in: acme, beta? For example: \n/docs-export watch se_1 --project acme',
  );
  expect((await watch('se_1', aCaller(), 'gamma'))?.text).toBe('No project "gamma". Available: acme, beta.');
  expect(await world.exports()).toEqual([]);
});

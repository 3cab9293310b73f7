import { describe, expect, test } from 'vitest';
import { agentCommand } from '../../src/commands/agent/command.ts';
import { exportCommand } from '../../src/commands/export/command.ts';
import { type ExportRun, jobAlias } from '../../src/jobs/export/record.ts';
import { aCaller, aProject, ben } from '../support/commands/builders.ts';
import { type CommandWorld, onFreshWorlds } from '../support/commands/world.ts';
import { aThread } from '../support/jobs/agent/builders.ts';
import { aRun } from '../support/jobs/export/builders.ts';

const JOB = 'se_3f9a77bd04c24a06';
const LIKE_IT = 'se_3f9a11111111aaaa';
const PRIVATE = { channel: 'C0PRIVATE', joinable: true, isPublic: false, atMs: 0 };
const NONE = 'No job that you can see here matches that. Type its whole ID, such as ';
const acme = aProject({ name: 'acme', projectId: 'prj_10001' });

let world: CommandWorld;
onFreshWorlds(
  (fresh) => {
    world = fresh;
  },
  { projects: [acme] },
);

describe('/docs-export watch', () => {
  const watch = (typed: string, caller = aCaller()) =>
    exportCommand.run(`watch ${typed}`, caller, world.tools);
  const EXAMPLE = '/docs-export watch se_3f9a77bd04c24a06.';

  let made = 0;
  async function anExport(changes: Partial<ExportRun> = {}) {
    made += 1;
    const id = String(made).padStart(24, 'c');
    const run = await world.given(
      aRun({ id, rev: 1, project: 'acme', claim: id, jobId: JOB, people: ['U0ANA'], ...changes }),
    );
    await world.runs.alias(jobAlias('T0ACME', run.project, run.jobId ?? ''), run.id);
    return run;
  }

  test('says the same of what is not there and of what is not yours', async () => {
    const hidden = { asked: PRIVATE, by: { id: 'U0CLEO', name: 'cleo' }, people: ['U0CLEO'] };
    const notThere = await watch('se_3f9a…4a06', aCaller({ user: ben }));
    await anExport(hidden);
    expect(await watch('se_3f9a…4a06', aCaller({ user: ben }))).toEqual(notThere);
    expect(notThere?.text).toBe(NONE + EXAMPLE);
    await anExport({ jobId: LIKE_IT });
    expect((await watch('se_3f9a…', aCaller({ user: ben })))?.text).toMatch(
      /^docs\.acme\.com is already being/,
    );
  });
});

describe('/docs-agent', () => {
  const type = (typed: string, caller = aCaller()) => agentCommand.run(typed, caller, world.tools);
  const AGENT_JOB = 'aj_3f9a77bd04c24a06';
  const followed = (changes: Parameters<typeof aThread>[0] = {}) =>
    world.followed(aThread({ project: 'acme', agentJobId: AGENT_JOB, ...changes }));

  test('says the same of what is not there and of what is not yours', async () => {
    const notThere = await type('follow aj_3f9a…4a06', aCaller({ user: ben }));
    expect(notThere?.text).toBe(`${NONE}/docs-agent follow job_41d7.`);
    const thread = await followed({
      owner: { id: 'U0CLEO', name: 'cleo' },
      asked: { channel: 'C0PRIVATE', joinable: true, isPublic: false },
      place: { channel: 'C0PRIVATE', rootTs: '1789912800.000100' },
    });
    expect(await type('follow aj_3f9a…4a06', aCaller({ user: ben }))).toEqual(notThere);
    expect((await type('stop aj_3f9a…4a06', aCaller({ user: ben })))?.text).toMatch(
      /^No thread that you can see follows this job\./,
    );
    expect(await world.inbox(thread)).toEqual([]);
  });
});

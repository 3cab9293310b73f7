import { describe, expect, test } from 'vitest';
import { agentCommand } from '../../src/commands/agent/command.ts';
import { instructModal } from '../../src/commands/agent/instruct-modal.ts';
import { exportCommand } from '../../src/commands/export/command.ts';
import { type ExportRun, jobAlias } from '../../src/jobs/export/record.ts';
import { aCaller, aProject, ben, noDetails } from '../support/commands/builders.ts';
import { type CommandWorld, createCommandWorld, onFreshWorlds } from '../support/commands/world.ts';
import { aThread } from '../support/jobs/agent/builders.ts';
import { anEnding, aRun } from '../support/jobs/export/builders.ts';

const JOB = 'se_3f9a77bd04c24a06';
const LIKE_IT = 'se_3f9a11111111aaaa';
const PRIVATE = { channel: 'C0PRIVATE', joinable: true, isPublic: false, atMs: 0 };
const NONE = 'No job that you can see here matches that. Type its whole ID, such as ';
const acme = aProject({ name: 'acme', projectId: 'prj_10001' });
const beta = aProject({ name: 'beta', projectId: 'prj_20002', channels: ['C0BETA'] });

let world: CommandWorld;
const redis = onFreshWorlds(
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
  /** One that has ended, and is listed no more. */
  async function anEndedExport(changes: Partial<ExportRun> = {}) {
    const run = await anExport({ state: 'ended', ending: anEnding.gaveUp, ...changes });
    await world.runs.markIdle(run, true);
    return run;
  }
  const joined = async () => (await world.exports()).filter((run) => run.joined);

  test.each([
    'se_3f9a…4a06',
    'se_3f9a...4a06',
    'se_3f9a77',
    `https://dash.example/acme/exports/${JOB}`,
    `<https://dash.example/acme/exports/${JOB}|dash.example>`,
    `https://dash.example/acme-2024/exports?job=${JOB}`,
  ])('%s means the export that runs', async (typed) => {
    await anExport();
    expect((await watch(typed, aCaller({ user: ben })))?.text).toMatch(
      /^docs\.acme\.com is already being exported: started by /,
    );
    expect(await joined()).toEqual([]);
  });

  test("means one's own that has ended as well", async () => {
    await anEndedExport();
    expect(await watch('se_3f9a…4a06')).toBeUndefined();
    expect(await joined()).toMatchObject([{ jobId: JOB, domain: 'docs.acme.com' }]);
  });

  test('means an ended one of others by an address, which has its whole id', async () => {
    await anEndedExport({ people: ['U0CLEO'], requester: { id: 'U0CLEO', name: 'cleo' } });
    expect(await watch(`https://dash.example/job-12345/${JOB}`, aCaller({ user: ben }))).toBeUndefined();
    expect(await joined()).toMatchObject([{ jobId: JOB, domain: 'docs.acme.com' }]);
  });

  test('shows the choice where several fit', async () => {
    await anExport();
    await anExport({ jobId: LIKE_IT, domain: 'api.acme.com' });
    expect((await watch('se_3f9a'))?.text).toBe(
      `Which one? Type the whole command:\n/docs-export watch ${LIKE_IT} · api.acme.com\n/docs-export watch ${JOB} · docs.acme.com`,
    );
    expect(await joined()).toEqual([]);
  });

  test('names the project of each where there are several', async () => {
    world = createCommandWorld(redis, { projects: [acme, beta] });
    await anExport();
    await anExport({ project: 'beta' });
    expect((await watch('se_3f9a…4a06'))?.text).toBe(
      `Which one? Type the whole command:\n/docs-export watch ${JOB} --project acme · docs.acme.com\n/docs-export watch ${JOB} --project beta · docs.acme.com`,
    );
    expect((await watch('se_3f9a…4a06 --project Beta'))?.text).toMatch(
      /^docs\.acme\.com is already being exported/,
    );
  });

  test('takes the project of the one that fits', async () => {
    world = createCommandWorld(redis, { projects: [acme, beta] });
    await anEndedExport();
    expect(await watch('se_3f9a…4a06')).toBeUndefined();
    expect(await joined()).toMatchObject([{ jobId: JOB, project: 'acme' }]);
  });

  test('says the same of what is not there and of what is not yours', async () => {
    const hidden = { asked: PRIVATE, requester: { id: 'U0CLEO', name: 'cleo' }, people: ['U0CLEO'] };
    const notThere = await watch('se_3f9a…4a06', aCaller({ user: ben }));
    await anExport(hidden);
    expect(await watch('se_3f9a…4a06', aCaller({ user: ben }))).toEqual(notThere);
    expect(notThere?.text).toBe(NONE + EXAMPLE);
    await anExport({ jobId: LIKE_IT });
    expect((await watch('se_3f9a', aCaller({ user: ben })))?.text).toMatch(
      /^docs\.acme\.com is already being/,
    );
  });

  test('a whole id that nobody knows is left to the platform, also in an address', async () => {
    expect(await watch('se_99')).toBeUndefined();
    const caller = aCaller({ requestId: '1.2.b' });
    expect(await watch(`https://dash.example/prj_10001/${JOB}`, caller)).toBeUndefined();
    expect((await joined()).map(({ jobId }) => jobId).toSorted()).toEqual([JOB, 'se_99']);
  });

  test('an address that does not say which part it is names them', async () => {
    expect((await watch(`https://dash.example/org_12345/${JOB}`))?.text).toBe(
      `Which one? Type the whole command:\n/docs-export watch org_12345\n/docs-export watch ${JOB}`,
    );
    expect((await watch('https://dash.example/exports/latest'))?.text).toBe(
      `I can't tell which part of that address is the job's ID. Type its whole ID, such as ${EXAMPLE}`,
    );
    expect(await joined()).toEqual([]);
  });
});

describe('/docs-agent', () => {
  const type = (typed: string, caller = aCaller()) => agentCommand.run(typed, caller, world.tools);
  const AGENT_JOB = 'aj_3f9a77bd04c24a06';
  const followed = (changes: Parameters<typeof aThread>[0] = {}) =>
    world.followed(aThread({ project: 'acme', agentJobId: AGENT_JOB, ...changes }));
  const added = async (than: { id: string }) => (await world.threadRuns()).filter(({ id }) => id !== than.id);

  test.each(['aj_3f9a…4a06', 'aj_3f9a77', `https://dash.example/acme-2024/jobs/${AGENT_JOB}`])(
    'follow %s follows the job that is followed here',
    async (typed) => {
      const thread = await followed();
      expect(await type(`follow ${typed} Also the api`)).toBeUndefined();
      expect(await added(thread)).toMatchObject([
        { agentJobId: AGENT_JOB, project: 'acme', instructions: [{ text: 'Also the api' }] },
      ]);
    },
  );

  test('the modal takes the short form as well', async () => {
    const thread = await followed();
    const submitted = instructModal.submit({ job: 'aj_3f9a…4a06' }, aCaller(), world.tools, noDetails);
    expect(await submitted).toEqual({ kind: 'closed' });
    expect(await added(thread)).toMatchObject([{ agentJobId: AGENT_JOB }]);
  });

  test('stop with the short form stops that one', async () => {
    const thread = await followed();
    expect((await type('stop aj_3f9a…4a06'))?.text).toMatch(/^I no longer follow .*\.$/);
    expect(await world.inbox(thread)).toMatchObject([{ kind: 'clicked', action: 'stop' }]);
  });

  test('shows the choice where several fit', async () => {
    await followed();
    const other = { channel: 'C0DOCS', rootTs: '1789912800.000900' };
    await followed({ id: 'd'.repeat(24), agentJobId: 'aj_3f9a11111111aaaa', place: other });
    for (const verb of ['follow', 'stop'])
      expect((await type(`${verb} aj_3f9a…`))?.text).toBe(
        `Which one? Type the whole command:\n/docs-agent ${verb} aj_3f9a11111111aaaa\n/docs-agent ${verb} ${AGENT_JOB}`,
      );
  });

  test('says the same of what is not there and of what is not yours', async () => {
    const notThere = await type('follow aj_3f9a…4a06', aCaller({ user: ben }));
    expect(notThere?.text).toBe(`${NONE}/docs-agent follow job_41d7.`);
    const thread = await followed({
      owner: { id: 'U0CLEO', name: 'cleo' },
      asked: { channel: 'C0PRIVATE', joinable: true, isPublic: false },
      place: { channel: 'C0PRIVATE', rootTs: '1789912800.000100' },
    });
    expect(await type('follow aj_3f9a…4a06', aCaller({ user: ben }))).toEqual(notThere);
    expect((await type('stop aj_3f9a…4a06', aCaller({ user: ben })))?.text).toBe(
      `${NONE}/docs-agent stop job_41d7.`,
    );
    expect(await world.inbox(thread)).toEqual([]);
  });
});

import { describe, expect, test } from 'vitest';
import { agentCommand } from '../../../src/commands/agent/command.ts';
import { UserFacingError } from '../../../src/commands/user-facing-error.ts';
import { message } from '../../../src/slack/blocks.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aCaller, aProject } from '../../support/commands/builders.ts';
import { type CommandWorld, createCommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { aThread } from '../../support/jobs/agent/builders.ts';

const acme = aProject({ name: 'acme', projectId: 'prj_1' });
const beta = aProject({ name: 'beta', projectId: 'prj_2', channels: ['C0BETA'] });

let world: CommandWorld;
const redis = onFreshWorlds(
  (fresh) => {
    world = fresh;
  },
  { projects: [acme], replyMode: 'mention' },
);

const type = (text: string, caller = aCaller()) => agentCommand.run(text, caller, world.tools);

describe('follow', () => {
  test('keeps a thread whose card comes here, and wakes it', async () => {
    expect(await type('follow job_1')).toBeUndefined();
    const [thread] = await world.threadRuns();
    expect(thread).toMatchObject({
      project: 'acme',
      agentJobId: 'job_1',
      owner: { id: 'U0ANA', name: 'ana' },
      checked: true,
      lasting: true,
      people: ['U0ANA'],
      asked: { channel: 'C0DOCS', joinable: true, isPublic: true },
      state: 'accepted',
      mode: 'mention',
      instructions: [],
    });
    expect(thread?.claim).toBeUndefined();
    expect(world.woken).toEqual([thread?.id]);
  });

  test.each(['follow job_1', 'new'])(
    '%s with an instruction that is too long starts nothing',
    async (words) => {
      const told = await type(`${words} ${'word '.repeat(2840)}`);
      expect(told?.text).toBe(
        'That is 14,199 characters; the agent gets up to 8,000 at once. Nothing was sent.',
      );
      expect(await world.threadRuns()).toEqual([]);
    },
  );

  test('takes an instruction along, as it was typed', async () => {
    await type('follow job_1 Use &lt;b&gt; for "bold"\nand no --flags');
    const [thread] = await world.threadRuns();
    expect(thread?.instructions).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{24}$/),
        by: { id: 'U0ANA', name: 'ana' },
        atMs: NOW_MS,
        isReply: false,
        files: false,
        creates: false,
        text: expect.stringContaining('for "bold"'),
        excerpt: expect.stringContaining('for "bold" and no --flags'),
        state: 'waiting',
        attempt: 1,
      },
    ]);
    expect(thread?.instructions[0]?.text).not.toContain('&lt;');
  });

  test('sent twice by Slack is one thread, typed twice are two', async () => {
    await type('follow job_1');
    await type('follow job_1');
    expect(await world.threadRuns()).toHaveLength(1);
    await type('follow job_1', aCaller({ requestId: '1.2.b' }));
    expect(await world.threadRuns()).toHaveLength(2);
  });

  test('where the app cannot be, says so to the job', async () => {
    await type('follow job_1', aCaller({ channel: { id: 'D1', name: 'directmessage' } }));
    expect(await world.threadRuns()).toMatchObject([{ asked: { joinable: false, isPublic: false } }]);
  });
});

test('new makes the job with its instruction', async () => {
  expect(await type('new Add a quickstart')).toBeUndefined();
  const [thread] = await world.threadRuns();
  expect(thread?.agentJobId).toBeUndefined();
  expect(thread?.instructions).toMatchObject([{ text: 'Add a quickstart', creates: true, state: 'waiting' }]);
});

describe('without words', () => {
  test('opens a modal that asks for a new job or for one to follow', async () => {
    expect(await type('')).toBeUndefined();
    expect(world.opened.map(({ callback_id: callback }) => callback)).toEqual(['agent.start']);
    expect(await world.threadRuns()).toEqual([]);
  });

  test('says what to type where no modal can be opened', async () => {
    const failure = new UserFacingError(message([['The dialog was not opened.']]));
    world = createCommandWorld(redis, { projects: [acme], openModal: () => Promise.reject(failure) });
    expect((await type(''))?.text).toContain(
      `Start a new job and follow it, if the platform can create jobs: /docs-agent new`,
    );
  });

  test('says so where no project has an agent', async () => {
    world = createCommandWorld(redis, { projects: [aProject({ name: 'acme' })] });
    expect((await type(''))?.text).toMatch(/^Project acme has no id, so nothing was sent\./);
    expect(world.opened).toEqual([]);
  });

  test('does not take words that it does not know for none', async () => {
    expect((await type('write a page'))?.text).toBe(
      "I don't know write. Type follow, new, list or stop; /docs-agent help explains them.",
    );
    expect(world.opened).toEqual([]);
  });
});

describe('the project', () => {
  test('is the one that was named, else that of the channel', async () => {
    world = createCommandWorld(redis, { projects: [acme, beta] });
    await type('follow job_1 --project ACME');
    await type('follow job_2', aCaller({ requestId: '1.2.b', channel: { id: 'C0BETA', name: 'beta' } }));
    expect((await world.threadRuns()).map(({ project }) => project).sort()).toEqual(['acme', 'beta']);
  });

  test('is asked for where only a person can say', async () => {
    world = createCommandWorld(redis, { projects: [acme, beta] });
    expect((await type('follow job_1'))?.text).toBe(
      'Which project is it in: acme, beta? Nothing was sent. For example: \n/docs-agent follow job_1 --project acme',
    );
    expect((await type('new It'))?.text).toBe(
      'Which project is it for: acme, beta? Nothing was sent. For example: \n/docs-agent new … --project acme',
    );
    expect((await type('new It --project gamma'))?.text).toBe('No project "gamma". Available: acme, beta.');
    expect(await world.threadRuns()).toEqual([]);
  });

  test.each([
    [
      'default',
      "I don't know the project's id, so nothing was sent. The people who run Docket need to set DOCS_PROJECT_ID.",
    ],
    [
      'acme',
      "Project acme has no id, so nothing was sent. The people who run Docket need to add its projectId to Docket's file of projects.",
    ],
  ])('%s without an id is told at once', async (name, told) => {
    world = createCommandWorld(redis, { projects: [aProject({ name })] });
    expect((await type('follow job_1'))?.text).toBe(told);
    expect((await type('new It'))?.text).toBe(told);
    expect(await world.threadRuns()).toEqual([]);
  });

  test('chooses among what is listed and stopped', async () => {
    world = createCommandWorld(redis, { projects: [acme, beta] });
    const thread = await world.followed(aThread({ project: 'acme' }));
    expect((await type('list --project beta'))?.text).toMatch(
      /^There are no followed agent jobs that you can see here/,
    );
    expect((await type('list --project Acme'))?.text).toMatch(/^✅ Ready · acme\/docs/);
    expect((await type('list --project gamma'))?.text).toMatch(/^No project "gamma"/);
    expect((await type('stop --project beta'))?.text).toMatch(/^This channel has no followed agent job/);
    expect(await world.inbox(thread)).toEqual([]);
  });
});

test('text that is unclear is answered, and nothing is kept', async () => {
  expect((await type('follow'))?.text).toMatch(/^Which job\?/);
  expect(await world.threadRuns()).toEqual([]);
});

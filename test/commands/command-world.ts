import type { ModalView } from '@slack/types';
import type { Caller, CommandTools } from '../../src/commands/command.ts';
import { createIntake } from '../../src/commands/intake.ts';
import { exportRun } from '../../src/jobs/export/run.ts';
import { createLog } from '../../src/log.ts';
import type { Project } from '../../src/projects.ts';
import { createLinkStore } from '../../src/store/links.ts';
import { createRunStore, type RunBase } from '../../src/store/runs.ts';
import type { TestRedis } from '../flows/redis.ts';
import { NOW_MS } from '../jobs/export/any-run.ts';

/** Ana, in a public channel. */
export const aCaller = (changes: Partial<Caller> = {}): Caller => ({
  teamId: 'T0ACME',
  user: { id: 'U0ANA', name: 'ana', fullMember: true },
  channel: { id: 'C0DOCS', name: 'docs' },
  requestId: '1.2.a',
  triggerId: '1.2.a',
  responseUrl: 'https://hooks.example/1',
  receivedAtMs: 0,
  ...changes,
});

export const ben = { id: 'U0BEN', name: 'ben', fullMember: true };
/** A guest. */
export const gus = { id: 'U0GUS', name: 'gus', fullMember: false };

export const aProject = (changes: Partial<Project> = {}): Project => ({
  name: 'default',
  projectId: undefined,
  domains: undefined,
  apiKey: 'adm_1',
  channels: [],
  ...changes,
});

export const acme = aProject({ name: 'acme', domains: ['docs.acme.com', 'api.acme.com'] });
export const beta = aProject({ name: 'beta', domains: ['docs.beta.io'], channels: ['C0BETA'] });

/** What commands work with: real stores; what they open, note and wake is kept for the test to read. */
export function createCommandWorld(redis: TestRedis, changes: Partial<CommandTools> = {}) {
  const runs = createRunStore(redis.client);
  const links = createLinkStore(redis.client);
  const opened: ModalView[] = [];
  const notes: Parameters<CommandTools['note']>[0][] = [];
  const woken: string[] = [];
  const tools: CommandTools = {
    intake: createIntake({
      runs,
      wake: async ({ id }) => void woken.push(id),
      limitMs: 5000,
      claimMs: 60_000,
      monotonicMs: () => 0,
      log: createLog('silent', []),
    }),
    delivery: async () => ({ kind: 'shown', channel: 'C0DOCS', ts: '1789914659.000100' }),
    projects: [aProject()],
    docsDomain: undefined,
    links: 'thread',
    link: links.get,
    openDialog: async (_caller, view) => void opened.push(view),
    note: async (line) => void notes.push(line),
    may: async () => {},
    auditLines: async () => [],
    system: () => Promise.reject(new Error('nobody asks here')),
    workspaceUrl: 'https://acme.example/',
    now: () => NOW_MS,
    ...changes,
  };

  return {
    tools,
    runs,
    links,
    opened,
    notes,
    woken,
    /** Every run of an export that is open, oldest first. */
    exports: () => runs.activeOf(exportRun, 'export'),
    async given<R extends RunBase>(run: R): Promise<R> {
      await runs.accept(run, (await runs.timeMs()) + 10_000, 60_000, undefined);
      return run;
    },
  };
}

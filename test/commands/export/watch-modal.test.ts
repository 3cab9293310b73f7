import { describe, expect, test } from 'vitest';
import { watchModal } from '../../../src/commands/export/modal.ts';
import type { ModalDetails } from '../../../src/commands/registry.ts';
import { runButtonOf } from '../../../src/jobs/export/progress-view.ts';
import { type ExportRun, exportRun } from '../../../src/jobs/export/record.ts';
import { aCaller, acme, ben } from '../../support/commands/builders.ts';
import { type CommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { aRun } from '../../support/jobs/export/builders.ts';

const JOB = 'se_0a1b2c3d4e5f60718293a4b5c6d7e8f9';

let world: CommandWorld;
onFreshWorlds(
  (fresh) => {
    world = fresh;
  },
  { projects: [acme] },
);

const byBen = () => aCaller({ requestId: '1.9.z', user: ben });
const question: Partial<ExportRun> = {
  state: 'unknown',
  project: 'acme',
  jobId: undefined,
  startedAtMs: undefined,
  status: undefined,
};
const given = (changes: Partial<ExportRun> = {}) => world.given(aRun({ rev: 1, ...question, ...changes }));
const stored = (id: string) => world.runs.load(id, exportRun);
const aboutRun = (run: ExportRun) => runButtonOf(run, '', '').value ?? '';

const submit = (run: ExportRun, job: string | undefined = JOB, about = aboutRun(run), by = byBen()) => {
  const details: ModalDetails = { ticked: {}, about };
  return watchModal.submit({ job }, by, world.tools, details);
};
const says = (text: string) => ({ kind: 'message', message: expect.objectContaining({ text }) });

describe('the modal', () => {
  test('submitted at once by two people, with two ids, has one of them, and tells the other', async () => {
    const run = await given();
    const cleo = { id: 'U0CLEO', name: 'cleo', fullMember: true };
    const results = await Promise.all([
      submit(run),
      submit(run, 'se_2', aboutRun(run), aCaller({ requestId: '1.9.y', user: cleo })),
    ]);
    const kept = await stored(run.id);
    const [first, other] = kept?.jobId === JOB ? results : results.toReversed();
    expect([JOB, 'se_2']).toContain(kept?.jobId);
    expect(first).toEqual({ kind: 'closed' });
    expect(other).toEqual(says(`${kept?.answer?.by} already found it.`));
    expect(world.audited).toHaveLength(1);
  });
});

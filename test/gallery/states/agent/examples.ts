import type { ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { anInstruction, aThread } from '../../../support/jobs/agent/builders.ts';

export const INSTRUCTION = 'Also add error handling';
export const PULL_REQUEST = 'https://github.com/acme/docs/pull/123';
export const ANA = { id: 'U0ANA', name: 'ana' };
export const BEN = { id: 'U0BEN', name: 'ben' };

/** The preview of its branch, asked for by ben. */
export const building = { run: '77', by: BEN, isBuilding: true };
export const built = { ...building, isBuilding: false, url: 'https://acme-agent.preview.example' };

export const seen = (changes: Partial<NonNullable<ThreadRun['seen']>>) => ({
  seen: { ...(aThread().seen as NonNullable<ThreadRun['seen']>), ...changes },
});
/** A thread whose job is to be made by its first instruction. */
export const unmade: Partial<ThreadRun> = { agentJobId: undefined, seen: undefined };
export const ended = (
  why: NonNullable<ThreadRun['ended']>['why'],
  more: Partial<ThreadRun['ended']> = {},
) => ({
  state: 'ended' as const,
  ended: { why, unsent: 0, ...more },
});

export const archived = seen({ status: 'archived', rawStatus: 'archived' });

export const first = anInstruction({ creates: true });

/** As long as Slack and the platform let them be. */
const LONG_NAME = 'Maximiliana Alexandra Theodora Wolfeschlegelsteinhausen-Bergerdorff of Hohenlohe';
const LONG_BRANCH = `agent/${'rewrite-the-guides-about-webhooks-'.repeat(6)}`.slice(0, 200);
/** Read from right to left. */
export const RTL_NAME = 'אריאלה בן־דוד';
export const long = {
  owner: { id: 'U0ANA', name: LONG_NAME },
  ...seen({ ref: LONG_BRANCH, model: 'model-'.repeat(30), prLink: 'acme/docs#7 '.repeat(20) }),
};
export const byLong = {
  id: '1',
  by: { id: 'U0BEN', name: LONG_NAME },
  excerpt: `${INSTRUCTION} ${'everywhere '.repeat(10)}`,
};
export const byRtl = { id: '1', by: { id: 'U0BEN', name: RTL_NAME }, excerpt: INSTRUCTION };

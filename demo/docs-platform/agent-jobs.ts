import { addPlan, type Planned } from './plans.ts';

/** How an instruction ends. */
export type AgentOutcome = 'new_pr' | 'same_pr' | 'no_pr' | 'failed';

/** What the next instruction does. */
export interface AgentPlan {
  /** Only an instruction to this job takes the plan; without it, the next one to any job. */
  jobId?: string;
  /** How long the job still reads as before, after the instruction was taken. Default 0. */
  idleMs?: number;
  /** From `active` to the end. Default 1000. */
  durationMs?: number;
  /** Default `new_pr`. */
  outcome?: AgentOutcome;
  /** Stays active until `finish`. */
  hold?: boolean;
  /** The branch of a job that was created without one, once it has a pull request. */
  branch?: string;
}

export interface AgentSeed {
  id?: string;
  repository?: string;
  ref?: string | null;
  model?: string;
  status?: 'active' | 'completed' | 'archived' | 'failed';
  prLink?: string | null;
}

/** An instruction that the platform really took. */
export interface AgentMessage {
  jobId: string;
  prompt: string;
  atMs: number;
  /** The job was still busy with an earlier one. */
  whileActive: boolean;
}

export interface AgentControls {
  /** Every instruction that was taken, the first of a created job included. */
  readonly messages: AgentMessage[];
  /** Jobs by id. */
  readonly jobs: ReadonlyMap<string, AgentJobNow>;
  /** Adds a job that exists already (default: completed, with a pull request) and returns its id. */
  add(seed?: AgentSeed): string;
  plan(plan: AgentPlan): Planned;
  /** Somebody asks the agent in the dashboard; it works until `finish`. */
  begin(jobId: string): void;
  /** Ends what the job is doing now. Default outcome: the planned one. */
  finish(jobId: string, outcome?: AgentOutcome): void;
  archive(jobId: string): void;
  /** The platform forgets the job: 404 from now on. */
  forget(jobId: string): void;
  /** As if there had never been any job, instruction or plan. */
  clear(): void;
}

/** A job as the API shows it. */
export interface AgentJobNow {
  id: string;
  status: 'active' | 'completed' | 'archived' | 'failed';
  source: { repository: string; ref: string | null };
  model: string;
  prLink: string | null;
  createdAt: string;
  archivedAt: string | null;
}

/** What a job does with its newest instruction. */
interface Work {
  plan: AgentPlan;
  atMs: number;
  /** Number of the pull request that a `new_pr` opens. */
  pullNumber: number;
  ended?: { atMs: number; outcome: AgentOutcome };
}

interface AgentRecord {
  id: string;
  repository: string;
  ref: string | null;
  model: string;
  createdAtMs: number;
  archivedAtMs: number | null;
  /** How the job was before its newest instruction. */
  before: { status: AgentJobNow['status']; prLink: string | null };
  /** The newest pull request that was opened at all. */
  lastPr: string | null;
  work: Work | undefined;
}

const DEFAULT_DURATION_MS = 1000;
const DEFAULT_REPOSITORY = 'https://github.com/acme/docs';

/** The part of the stand-in that keeps agent jobs. State is read from the clock, never moved by a timer. */
export interface AgentJobs extends AgentControls {
  find(jobId: string): AgentJobNow | undefined;
  /** Takes an instruction; the caller has checked that the job exists and is not archived. */
  send(jobId: string, prompt: string): AgentJobNow;
  create(prompt: string): AgentJobNow;
}

export function createAgentJobs(
  nowMs: () => number,
  newId: () => string,
  usual: Omit<AgentPlan, 'jobId'> = {},
  usualRepository = DEFAULT_REPOSITORY,
): AgentJobs {
  const records = new Map<string, AgentRecord>();
  const messages: AgentMessage[] = [];
  const plans: AgentPlan[] = [];
  let pullNumber = 100;

  function recordOf(jobId: string): AgentRecord {
    const record = records.get(jobId);
    if (!record) throw new Error(`the stand-in has no agent job ${jobId}`);
    return record;
  }

  function takePlan(jobId: string): AgentPlan {
    const index = plans.findIndex((plan) => plan.jobId === undefined || plan.jobId === jobId);
    return (index < 0 ? undefined : plans.splice(index, 1)[0]) ?? usual;
  }

  function applyOutcome(record: AgentRecord): void {
    const { status, prLink } = agentState(record, nowMs());
    record.before = { status, prLink };
    record.lastPr = prLink ?? record.lastPr;
  }

  function beginWork(record: AgentRecord, plan: AgentPlan): void {
    applyOutcome(record);
    pullNumber += 1;
    record.work = { plan, atMs: nowMs(), pullNumber };
  }

  function send(jobId: string, prompt: string): AgentJobNow {
    const record = recordOf(jobId);
    const whileActive = agentState(record, nowMs()).status === 'active';
    messages.push({ jobId, prompt, atMs: nowMs(), whileActive });
    beginWork(record, takePlan(jobId));
    return agentBody(record, nowMs());
  }

  function add(seed: AgentSeed = {}): string {
    const { id = newId(), repository = usualRepository, ref = 'agent/quickstart' } = seed;
    const { status = 'completed', prLink = status === 'completed' ? `${repository}/pull/100` : null } = seed;
    records.set(id, {
      id,
      repository,
      ref,
      model: seed.model ?? 'docs-agent-1',
      createdAtMs: nowMs(),
      archivedAtMs: status === 'archived' ? nowMs() : null,
      before: { status, prLink },
      lastPr: prLink,
      work: undefined,
    });
    return id;
  }

  return {
    messages,
    get jobs() {
      return new Map([...records].map(([id, record]) => [id, agentBody(record, nowMs())]));
    },
    find(jobId) {
      const record = records.get(jobId);
      return record && agentBody(record, nowMs());
    },
    add,
    send,
    create(prompt) {
      const id = add({ status: 'active', prLink: null, ref: null });
      messages.push({ jobId: id, prompt, atMs: nowMs(), whileActive: false });
      beginWork(recordOf(id), { ...takePlan(id), idleMs: 0 });
      return agentBody(recordOf(id), nowMs());
    },
    plan: (plan) => addPlan(plans, plan),
    begin: (jobId) => beginWork(recordOf(jobId), { hold: true }),
    finish(jobId, outcome) {
      const record = recordOf(jobId);
      if (!record.work) beginWork(record, {});
      const { work } = record;
      if (work) work.ended = { atMs: nowMs(), outcome: outcome ?? work.plan.outcome ?? 'new_pr' };
    },
    archive(jobId) {
      recordOf(jobId).archivedAtMs ??= nowMs();
    },
    forget(jobId) {
      recordOf(jobId);
      records.delete(jobId);
    },
    clear() {
      records.clear();
      messages.splice(0);
      plans.splice(0);
    },
  };
}

/** A pure function of the record and the clock. While active, `prLink` is null, as the contract says. */
function agentState(
  record: AgentRecord,
  nowMs: number,
): { status: AgentJobNow['status']; prLink: string | null } {
  const { work, before, archivedAtMs } = record;
  const now = work ? stateOfWork(record, work, nowMs) : before;
  return archivedAtMs === null ? now : { ...now, status: 'archived' };
}

function stateOfWork(record: AgentRecord, work: Work, nowMs: number): AgentRecord['before'] {
  const { plan, atMs, ended } = work;
  const activeAtMs = atMs + (plan.idleMs ?? 0);
  const endAtMs = plan.hold
    ? Number.POSITIVE_INFINITY
    : activeAtMs + (plan.durationMs ?? DEFAULT_DURATION_MS);
  if (ended) return outcomeOf(record, work, ended.outcome);
  if (nowMs < activeAtMs) return record.before;
  if (nowMs < endAtMs) return { status: 'active', prLink: null };
  return outcomeOf(record, work, plan.outcome ?? 'new_pr');
}

function outcomeOf(record: AgentRecord, work: Work, outcome: AgentOutcome): AgentRecord['before'] {
  const opened = `${record.repository}/pull/${work.pullNumber}`;
  if (outcome === 'new_pr') return { status: 'completed', prLink: opened };
  if (outcome === 'same_pr') return { status: 'completed', prLink: record.lastPr ?? opened };
  return { status: outcome === 'failed' ? 'failed' : 'completed', prLink: null };
}

function agentBody(record: AgentRecord, nowMs: number): AgentJobNow {
  const { id, repository, model, createdAtMs, archivedAtMs, work, lastPr } = record;
  const state = agentState(record, nowMs);
  const ref = record.ref ?? ((lastPr ?? state.prLink) === null ? null : (work?.plan.branch ?? null));
  return {
    id,
    ...state,
    source: { repository, ref },
    model,
    createdAt: new Date(createdAtMs).toISOString(),
    archivedAt: archivedAtMs === null ? null : new Date(archivedAtMs).toISOString(),
  };
}

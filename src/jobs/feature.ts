import type { z } from 'zod';
import type { Permission } from '../policy.ts';
import type { Timing } from '../runtime/timing.ts';
import type { Part } from '../slack/blocks.ts';
import type { Outbox } from '../slack/outbox.ts';
import type { RateLimit, RateLimitUsage } from '../store/rate-limit.ts';
import type { RunBase, RunStore } from '../store/runs.ts';
import type { ThreadStore } from '../store/threads.ts';
import type { JobContext } from './context.ts';
import type { Viewer } from './visibility.ts';

/** What a feature shows on the Home tab and in `/docs-status`. */
export interface Feature {
  /** Its command; Home points at the help of it. */
  command?: `/${string}`;
  /** What its permission allows, such as "Start exports". `cannot` says the same to those who may do nothing. */
  permission?: { name: Permission; may: string; cannot?: string };
  homeRuns?: HomeRuns;
  /** What it holds itself and this person to, and how much of it is in use. */
  limits?(person: LimitedPerson, context: FeatureContext): Promise<LimitInUse[]>;
  /** How much of its work in these projects cannot go on without their key. `what` is one of it, such as "export". */
  needsKey?(teamId: string, projects: readonly string[], context: WorkContext): Promise<Work>;
  /**
   * What it says in `/docs-status`, and what stands there when that cannot be read in time. `first`: it is what runs here,
   * and needs no click on [Details].
   */
  status?: {
    first?: true;
    lines(teamId: string, viewer: Viewer, context: FeatureContext): Promise<Part[][]>;
    unknown: Part[][];
  };
}

/** `waiting`: how much that people notice waits for it. */
export interface LimitInUse {
  text: string;
  waiting?: number;
}

export interface Work {
  count: number;
  what: string;
}

export interface WorkContext extends Pick<FeatureContext, 'threads'> {
  runs: Pick<RunStore, 'activeOf' | 'loadAll'>;
}

export interface LimitedPerson {
  teamId: string;
  userId: string;
}

/** How Home lists the runs of a feature. */
export interface HomeRuns<Run extends RunBase = RunBase> {
  job: string;
  record: z.ZodType<Run>;
  /** Returns ids of runs that may be somebody's after their list of runs has forgotten them. */
  lasting?(teamId: string, context: FeatureContext): Promise<string[]>;
  /** Returns nothing for a run that this person's Home does not list. */
  entry(run: Run, userId: string, context: FeatureContext): HomeEntry | undefined;
}

export interface HomeEntry {
  /** Epoch milliseconds; missing while it runs. */
  endedAtMs?: number;
  line(): Promise<Part[]>;
}

export const defineHomeRuns = <Run extends RunBase>(runs: HomeRuns<Run>) => runs as unknown as HomeRuns;

/** What features read. */
export interface FeatureContext
  extends Pick<JobContext, 'isPublic' | 'workspaceUrl' | 'projects' | 'limits'> {
  runs: Pick<RunStore, 'activeOf'>;
  threads: Pick<ThreadStore, 'followed'>;
  outbox: Pick<Outbox, 'deliveryState'>;
  timing: Pick<Timing, 'editsPerMinute'>;
  /** How much of a limit is in use; nothing when that cannot be read in time. */
  rateLimiter: { usage: (limit: RateLimit) => Promise<RateLimitUsage | undefined> };
}

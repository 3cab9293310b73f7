import type { Permission } from '../policy.ts';
import type { Timing } from '../runtime/timing.ts';
import type { ButtonParts, Message, Part } from '../slack/blocks.ts';
import type { Outbox } from '../slack/outbox.ts';
import type { RateLimit, RateLimitUsage } from '../store/rate-limit.ts';
import type { RunBase, RunStore } from '../store/runs.ts';
import type { ThreadStore } from '../store/threads.ts';
import type { JobContext } from './context.ts';
import type { Viewer, VisibleKind } from './visibility.ts';

/** What a feature shows on the Home tab and in `/docs-status`. */
export interface Feature {
  /** Its command; Home points at the help of it. */
  command?: `/${string}`;
  /** What its permission allows, such as "Start exports". `cannot` says the same to those who may do nothing. */
  permission?: { name: Permission; may: string; cannot?: string };
  /** How somebody with its permission begins: a button, and how it goes on from there. */
  begin?: { button: ButtonParts; how: string };
  homeRuns?: HomeRuns;
  /** What is left of the limits that this person may meet, such as "100 of 100 instructions left this hour". */
  left?(context: FeatureContext): Promise<string[]>;
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

export interface WorkContext {
  threads: Pick<ThreadStore, 'followed'>;
  runs: Pick<RunStore, 'activeOf' | 'loadAll'>;
}

export interface LimitedPerson {
  teamId: string;
  userId: string;
}

/** How Home lists the runs of a feature. */
export interface HomeRuns<Run extends RunBase = RunBase> extends VisibleKind<Run> {
  job: string;
  /** The heading of those that have not ended. */
  title: string;
  /** Returns ids of runs that may be this person's, or need them, beside those of their list of runs. */
  lasting?(teamId: string, userId: string, context: FeatureContext): Promise<string[]>;
  /** What of a run waits for an answer of somebody; Home asks them. */
  needs?: RunNeeds<Run>;
  /** Returns nothing for a run that this person's Home does not list. */
  entry(run: Run, userId: string, context: FeatureContext): HomeEntry | undefined;
}

/** One question that waits for an answer of one person. `id` is the same while it does, and of no other one of its run. */
export interface Need {
  user: string;
  id: string;
}

/** How a feature asks what its runs need of people. */
export interface RunNeeds<Run extends RunBase = RunBase> {
  of(run: Run): Need[];
  /** Returns one line that says what is asked. */
  line(run: Run, need: Need, context: Pick<FeatureContext, 'workspaceUrl'>): Part[];
  /** Returns the question with the buttons that it has where it was asked first. */
  question(run: Run, need: Need): Message;
  /** Returns what came of a question that waits no more. */
  answered(run: Run, need: Need): Message;
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
  runs: Pick<RunStore, 'activeOf' | 'someOf'>;
  threads: Pick<ThreadStore, 'followed' | 'followedIndex'>;
  outbox: Pick<Outbox, 'deliveryState'>;
  timing: Pick<Timing, 'editsPerMinute'>;
  /** How much of a limit is in use; nothing when that cannot be read in time. */
  rateLimiter: { usage: (limit: RateLimit) => Promise<RateLimitUsage | undefined> };
}

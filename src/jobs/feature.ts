import type { Permission } from '../policy.ts';
import type { ButtonParts, Message, Part } from '../slack/blocks.ts';
import type { Outbox } from '../slack/outbox.ts';
import type { RateLimit, RateLimitUsage } from '../store/rate-limit.ts';
import type { RunBase, RunStore } from '../store/runs.ts';
import type { ThreadStore } from '../store/threads.ts';
import type { JobContext } from './context.ts';
import type { Viewer, VisibleKind } from './visibility.ts';

/** A feature's part of the Home tab and of `/docs-status`. */
export interface Feature {
  /** What its permission allows, such as "Start exports". `cannot` is the same for people without permissions. */
  permission?: { name: Permission; may: string; cannot?: string };
  /** How a person with its permission begins: a button, and the next step. */
  begin?: { button: ButtonParts; how: string };
  homeRuns?: HomeRuns;
  limits?(teamId: string, context: LimitContext): FeatureLimit[];
  /** Counts the feature's work in these projects that needs their key. `what` names one unit, such as "export". */
  needsKey?(
    teamId: string,
    projects: readonly string[],
    context: WorkContext,
  ): Promise<{ count: number; what: string }>;
  /** Its lines in `/docs-status`, and a replacement if Redis is slow. `first`: shown without a click on [Details]. */
  status?: {
    first?: true;
    lines(teamId: string, viewer: Viewer, context: FeatureContext): Promise<Part[][]>;
    unknown: Part[][];
  };
}

/** A rate limit, or another limit without `limit`. Without `show`, only the metrics have it. */
interface FeatureLimit {
  limit?: RateLimit;
  /**
   * `text` is its line in `/docs-status`; `left` is the remainder on Home, such as "100 of 100 instructions left this
   * hour". `waiting`: the amount of work, noticeable to people, that waits for it. Without `usage`, it is unknown.
   */
  show?(usage: RateLimitUsage | undefined): { text?: string; left?: string; waiting?: number };
}

/** How Home lists the runs of a feature. */
export interface HomeRuns<Run extends RunBase = RunBase> extends VisibleKind<Run> {
  job: string;
  /** The heading of its active runs. */
  title: string;
  /** Returns ids of further runs that may be this person's, or need them, outside their list of runs. */
  lasting?(teamId: string, userId: string, context: FeatureContext): Promise<string[]>;
  /** The questions of a run that Home asks people. */
  needs?: RunNeeds<Run>;
  /** Returns undefined for a run that this person's Home does not list. `endedAtMs` is missing while it runs. */
  entry(
    run: Run,
    userId: string,
    context: FeatureContext,
  ): { endedAtMs?: number; line(): Promise<Part[]> } | undefined;
}

/** One open question to one person. `id` stays the same while it is open, and is unique within its run. */
export interface Need {
  user: string;
  id: string;
}

export const questionId = ({ user, id }: Need) => `${user} ${id}`;

export const isNeedOf = (need: string, userId: string) => need.startsWith(`${userId} `);

/** The questions of a feature's runs to people. */
export interface RunNeeds<Run extends RunBase = RunBase> {
  of(run: Run): Need[];
  /** Returns one line with the question. */
  line(run: Run, need: Need, context: Pick<FeatureContext, 'workspaceUrl'>): Part[];
  /** Returns the question with its original buttons. */
  question(run: Run, need: Need): Message;
  /** Returns the answer to a question that is no longer open. */
  answered(run: Run, need: Need): Message;
}

export const defineHomeRuns = <Run extends RunBase>(runs: HomeRuns<Run>) => runs as unknown as HomeRuns;

export type LimitContext = Pick<JobContext, 'projects' | 'limits' | 'timing'>;

/** The data that features read. */
export interface FeatureContext extends Pick<JobContext, 'isPublic' | 'workspaceUrl'> {
  runs: Pick<RunStore, 'activeOf' | 'latestOf' | 'loadAll'>;
  threads: Pick<ThreadStore, 'followed' | 'followedIndex'>;
  outbox: Pick<Outbox, 'deliveryState'>;
}

export type WorkContext = Pick<FeatureContext, 'runs' | 'threads'>;

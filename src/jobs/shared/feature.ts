import type { Permission } from '../../permissions.ts';
import type { Project } from '../../projects.ts';
import type { Timing } from '../../runtime/timing.ts';
import type { ButtonParts, Message, Part } from '../../slack/blocks.ts';
import type { Outbox } from '../../slack/outbox.ts';
import type { RateLimit, RateLimitUsage } from '../../store/rate-limit.ts';
import type { RunBase, RunStore } from '../../store/runs.ts';
import type { ThreadStore } from '../../store/threads.ts';
import type { Limits } from './limits.ts';
import type { ConversationReaders, Viewer, VisibleKind } from './origin.ts';

/** A feature's part of the Home tab and of `/docs-status`. */
export interface Feature {
  /** `cannot` is what people without its permission read that they can't do, such as "start exports". */
  permission?: { name: Permission; cannot?: string };
  /** How a person with its permission begins: a button, and the next step. */
  begin?: { button: ButtonParts; how: string };
  homeRuns?: HomeRuns;
  /** Returns the lines of what is live now, as far as this person may see it. */
  live?(teamId: string, viewer: Viewer, context: LiveContext): Promise<Part[][]>;
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
  /** The heading of its active runs; those of several features may stand below the same one. */
  title: string;
  /** Returns one line for several runs that need no line of their own: the `short` of each. */
  fold?(runs: readonly Part[]): Part[];
  /** Returns ids of further runs that may be this person's, or need them, outside their list of runs. */
  further?(teamId: string, userId: string, context: FeatureContext): Promise<string[]>;
  /** The questions of a run that Home asks people. */
  needs?: RunNeeds<Run>;
  /** Returns undefined for a run that this person's Home does not list. */
  entry(run: Run, userId: string, context: FeatureContext): HomeEntry | undefined;
}

/** A run on Home. `endedAtMs` is missing while it runs. With a `short`, it can be folded with others into one line. */
interface HomeEntry {
  endedAtMs?: number;
  short?: Part;
  line(): Promise<Part[]>;
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
  /** It asks for a remedy, not for an answer. */
  isTrouble?: true;
  /** Returns the question with its original buttons. */
  question(run: Run, need: Need): Message;
  /** Returns the answer to a question that is no longer open. */
  answered(run: Run, need: Need): Message;
}

export const defineHomeRuns = <Run extends RunBase>(runs: HomeRuns<Run>) => runs as unknown as HomeRuns;

export interface LimitContext {
  projects: readonly Project[];
  limits: Limits;
  timing: Timing;
}

/** The data that features read. */
export interface FeatureContext extends WorkContext, Pick<ConversationReaders, 'isPublic'> {
  outbox: Pick<Outbox, 'deliveryState'>;
  /** The workspace's address, with a final slash; undefined while it is unknown. */
  workspaceUrl: () => string | undefined;
}

export type LiveContext = Pick<FeatureContext, 'isPublic'> &
  Pick<LimitContext, 'projects'> & { runs: Pick<RunStore, 'byAlias' | 'loadAll'> };

export interface WorkContext {
  runs: Pick<RunStore, 'activeOf' | 'latestOf' | 'indexed' | 'loadAll'>;
  threads: Pick<ThreadStore, 'followed'>;
}

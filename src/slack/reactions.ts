import type { ReactionStore, ReactionSubject } from '../store/reactions.ts';

/** A reaction of the bot's own, by Slack's name; see `WantedReaction`. */
export interface Reaction {
  name: 'eyes' | 'double_vertical_bar';
  unlessShown?: string;
}

/** Which reactions messages should have now. The job `reactions` brings Slack up to date. */
export interface Reactions {
  /**
   * Records which reaction each message should have, by its `ts`; `undefined` is none. A message that is left out
   * keeps what was last wanted for it, and is forgotten once it has that. `version` grows: a late call with an older
   * one changes nothing.
   */
  publish(
    subject: ReactionSubject,
    wanted: ReadonlyMap<string, Reaction | undefined>,
    version: number,
  ): Promise<void>;
}

export interface ReactionsParts {
  store: Pick<ReactionStore, 'setWanted'>;
  /** Sees to it that the reactions of a run are delivered. */
  wake: (runId: string) => Promise<void>;
  now: () => number;
}

export function createReactions({ store, wake, now }: ReactionsParts): Reactions {
  return {
    async publish(subject, wanted, version) {
      if (await store.setWanted(subject, wanted, version, now())) await wake(subject.runId);
    },
  };
}

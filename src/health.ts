/** State of something that Docket depends on, as far as it has been seen. */
export type PartState = 'up' | 'down' | 'unknown';

/** What the last call to each of the others came to. */
export interface Health {
  /** `answered`: it answered at all, if only with a refusal. */
  saw(part: 'slack' | 'docs', answered: boolean): void;
  states(): { slack: PartState; docs: PartState };
}

export function createHealth(): Health {
  const states: { slack: PartState; docs: PartState } = { slack: 'unknown', docs: 'unknown' };
  return {
    saw(part, answered) {
      states[part] = answered ? 'up' : 'down';
    },
    states: () => ({ ...states }),
  };
}

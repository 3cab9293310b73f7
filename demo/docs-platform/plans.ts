/** A plan for one thing that is to come. */
export interface Planned {
  /** Nothing has taken it so far. */
  readonly waits: boolean;
  takeBack(): void;
}

/** Adds a plan to those that wait. */
export function addPlan<Plan>(plans: Plan[], plan: Plan): Planned {
  plans.push(plan);
  return {
    get waits() {
      return plans.includes(plan);
    },
    takeBack() {
      if (plans.includes(plan)) plans.splice(plans.indexOf(plan), 1);
    },
  };
}

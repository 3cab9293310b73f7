import { z } from 'zod';
import { SLACK_LIMITS } from '../slack/limits.ts';

/** `range` says in words what fits. */
function numberWithin(fits: (value: number) => boolean, range: string, defaultValue: number) {
  const problem = `must be ${range}. The default is ${defaultValue}.`;
  return z.number(problem).refine(fits, problem).default(defaultValue);
}

const wholeNumber = (max: number, defaultValue: number) =>
  numberWithin(
    (value) => Number.isInteger(value) && value >= 1 && value <= max,
    `a whole number from 1 to ${max}`,
    defaultValue,
  );

/** What Docket holds itself and people to, under `limits` in the settings file. A new limit is a row here. */
export const LIMITS = {
  /** Polls of exports, and as many of agent jobs, with one API key. */
  exportStatusPerSecond: numberWithin(
    (value) => value > 0 && value <= 100,
    'a number above 0 and up to 100',
    5,
  ),
  /** Instructions to the agent of a project in any hour. */
  followUpsPerHour: wholeNumber(10_000, 100),
  analyticsPerHour: wholeNumber(10_000, 100),
  /** How long a job is watched. */
  watchHours: numberWithin((value) => value >= 0.1 && value <= 168, 'a number from 0.1 to 168', 6),
  /** Exports that may run at once. */
  exportsPerPerson: wholeNumber(1000, 10),
  exportsPerChannel: wholeNumber(1000, 30),
  /** Threads that one person may have follow jobs. */
  threadsPerPerson: wholeNumber(1000, 100),
  /** How long an instruction may be. */
  instructionCharacters: wholeNumber(SLACK_LIMITS.messageText, 8000),
  /** How many instructions of a thread may wait, and how many may be held. */
  instructionsWaiting: wholeNumber(1000, 100),
};

export type Limits = { [Name in keyof typeof LIMITS]: z.output<(typeof LIMITS)[Name]> };

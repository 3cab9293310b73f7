import { z } from 'zod';
import { SLACK_LIMITS } from '../../slack/limits.ts';

/** `range` describes the allowed values. */
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

/** The limits of Docket and of people, under `limits` in the settings file. A new limit is a row here. */
export const LIMITS = {
  /** Polls of exports with one API key; as many again for agent jobs. */
  exportStatusPerSecond: numberWithin(
    (value) => value > 0 && value <= 100,
    'a number above 0 and up to 100',
    5,
  ),
  /** Instructions to a project's agent in any hour. */
  followUpsPerHour: wholeNumber(10_000, 100),
  analyticsPerHour: wholeNumber(10_000, 100),
  /** How long a job is watched. */
  watchHours: numberWithin((value) => value >= 0.1 && value <= 168, 'a number from 0.1 to 168', 6),
  /** Exports that may run at once. */
  exportsPerPerson: wholeNumber(1000, 10),
  exportsPerChannel: wholeNumber(1000, 30),
  exportSchedulesPerPerson: wholeNumber(1000, 50),
  /** Threads of one person that may follow jobs. */
  threadsPerPerson: wholeNumber(1000, 100),
  /** How long an instruction may be. */
  instructionCharacters: wholeNumber(SLACK_LIMITS.messageText, 8000),
  /** Instructions of a thread that may wait, and that may be held. */
  instructionsWaiting: wholeNumber(1000, 100),
};

export type Limits = { [Name in keyof typeof LIMITS]: z.output<(typeof LIMITS)[Name]> };

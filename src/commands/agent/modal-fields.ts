import type { InputBlock } from '@slack/types';
import { jobName, tooLongText, tooManyText } from '../../jobs/agent/thread/phrases.ts';
import { type ThreadRun, waitingOf } from '../../jobs/agent/thread/record.ts';
import { stateLabel } from '../../jobs/agent/thread/view.ts';
import { isTalk, parseThreadText } from '../../jobs/agent/thread-text.ts';
import { personName } from '../../jobs/wording-view.ts';
import type { Project } from '../../projects.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import { cleanText } from '../../slack/markdown/spans.ts';
import { type Choice, choiceField } from '../../slack/modals.ts';
import { cutShown, lengthOf } from '../../slack/text.ts';
import type { CommandTools } from '../intake.ts';

// Shared by the modals for instructions to the agent.

/** The value for a new job; no run has this id. */
export const NEW_JOB = 'new';

/** Returns the options for threads: each is named by its job, and by its owner as well if names are equal. */
export function threadChoices(threads: readonly ThreadRun[]): Choice[] {
  const labels = threads.map(labelOf);
  return threads.map((thread, index) => {
    const label = labels[index] ?? '';
    const isOnly = labels.indexOf(label) === labels.lastIndexOf(label);
    return { label: isOnly ? label : withOwner(label, thread), value: thread.id };
  });
}

const labelOf = (thread: ThreadRun) =>
  cutShown(`${jobName(thread)} · ${stateLabel(thread)}`, SLACK_LIMITS.optionText);

function withOwner(label: string, { owner }: ThreadRun): string {
  const whose = cutShown(` · ${personName(owner.name)}`, 25);
  return `${cutShown(label, SLACK_LIMITS.optionText - whose.length)}${whose}`;
}

/** Returns the field for the project of a new job; none if there is only one project. `initial` is preselected. */
export function projectFields(
  projects: readonly Project[],
  initial: string | undefined,
  optional: { hint?: string; optional?: boolean } = {},
): InputBlock[] {
  if (projects.length < 2) return [];
  const choices = projects
    .slice(0, SLACK_LIMITS.selectOptions)
    .map(({ name }) => ({ label: name, value: name }));
  return [
    choiceField({
      block: 'project',
      label: 'Project',
      choices,
      ...optional,
      ...(initial !== undefined && { initial }),
    }),
  ];
}

/** Cleans an instruction both when it is shown and when it is submitted, so nothing invisible is sent. */
export const cleanInstruction = (text: string) => cleanText(text).trim();

/** Checked while the text can still be changed, or sent later; the thread's own job decides. */
export function instructionProblem(
  text: string,
  thread: ThreadRun | undefined,
  { instructionCharacters, instructionsWaiting }: CommandTools['limits'],
): string | undefined {
  if (isTalk(parseThreadText(text))) return 'Write what the agent should do.';
  if (lengthOf(text) > instructionCharacters) return tooLongText(lengthOf(text), instructionCharacters);
  const isFull = thread !== undefined && waitingOf(thread).length >= instructionsWaiting;
  return isFull ? tooManyText(instructionsWaiting) : undefined;
}

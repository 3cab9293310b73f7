import type { ModalView } from '@slack/types';
import type { ThreadRun } from '../../jobs/agent/thread/record.ts';
import {
  type AskEntry,
  entriesOf,
  entryId,
  instructionFor,
  subjectText,
} from '../../jobs/digest/ask/entries.ts';
import type { AskButton } from '../../jobs/digest/buttons.ts';
import type { EditionRun } from '../../jobs/digest/edition/record.ts';
import { message } from '../../slack/blocks.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import { choiceField, formView, textField } from '../../slack/modals.ts';
import { bidiIsolate, singleLine } from '../../slack/text.ts';
import { cleanInstruction, NEW_JOB, threadChoices } from '../agent/modal.ts';

export const SUBJECT_CALLBACK = 'digest.ask.subject';
export const ASK_CALLBACK = 'digest.ask';

const TITLE = 'Ask the docs agent';

const NEW_JOB_PLACE = 'A new job gets its own thread in the channel of the digest.';

/** Returns the first modal, which asks for the subject. Under the tables, that may be any page. */
export function subjectView(run: EditionRun, about: AskButton['about']): ModalView {
  const entries = entriesOf(run, about).slice(0, SLACK_LIMITS.selectOptions);
  const isAnyPage = about === 'pages';
  const listed = () =>
    choiceField({
      block: 'entry',
      label: about === 'searches' ? 'Search' : 'Page',
      optional: isAnyPage,
      choices: entries.map((entry) => ({ label: labelOf(entry), value: entryId(entry) })),
    });
  // A single page is no choice: the field contains it.
  const [only, ...others] = entries;
  const initial = isAnyPage && only !== undefined && others.length === 0 ? only.subject.name : '';
  const other = textField({
    block: 'path',
    label: others.length > 0 ? 'Another page' : 'Page',
    hint: others.length > 0 ? 'Its path. It replaces the choice above.' : 'Its path.',
    placeholder: '/guides/sso',
    optional: others.length > 0,
    // If it can be submitted as it stands.
    ...(readPage(initial) === initial && { initial }),
  });
  return formView({
    title: TITLE,
    submit: 'Next',
    callback: SUBJECT_CALLBACK,
    fields: [...(others.length > 0 ? [listed()] : []), ...(isAnyPage ? [other] : [])],
  });
}

/** The numbers stay readable even after a long path. */
function labelOf(entry: AskEntry): string {
  const numbers = ` · ${entry.numbers}`;
  // Isolated after it is cut.
  const subject = singleLine(subjectText(entry.subject));
  return `${bidiIsolate(subject, SLACK_LIMITS.optionText - numbers.length)}${numbers}`;
}

/** Returns the second modal: the instruction, written from the numbers, and the target job. */
export function instructionView(
  run: EditionRun,
  entry: AskEntry,
  threads: readonly ThreadRun[],
  nowMs: number,
): ModalView {
  const choices = [{ label: 'New job', value: NEW_JOB }, ...threadChoices(threads)];
  return formView({
    title: TITLE,
    submit: 'Ask',
    callback: ASK_CALLBACK,
    ...(threads.length === 0 && { intro: message([[NEW_JOB_PLACE]]) }),
    fields: [
      textField({
        block: 'text',
        label: 'Instruction',
        hint: `About ${subjectText(entry.subject)}. The agent gets this text as it is; its first words appear in the job's thread.`,
        multiline: true,
        initial: cleanInstruction(instructionFor(entry, run, nowMs)),
      }),
      ...(threads.length === 0
        ? []
        : [
            choiceField({
              block: 'where',
              label: 'Job',
              hint: NEW_JOB_PLACE,
              choices: choices.slice(0, SLACK_LIMITS.selectOptions),
              initial: NEW_JOB,
            }),
          ]),
    ],
  });
}

/** Short enough for a modal's metadata, in any encoding. */
const MAX_PATH = 300;

/** Returns the path of a typed page or pasted address; undefined if there is none, or it is too long. */
export function readPage(typed: string): string | undefined {
  const text = singleLine(typed.slice(0, 20 * MAX_PATH).toWellFormed());
  const path = /^https?:\/\//i.test(text) ? URL.parse(text)?.pathname : text;
  return path?.startsWith('/') && path.length <= MAX_PATH ? path : undefined;
}

import type { ModalView } from '@slack/types';
import type { Project } from '../../projects.ts';
import { message, type Part } from '../../slack/blocks.ts';
import { formView, textField } from '../../slack/modals.ts';
import type { Caller } from '../intake.ts';
import { projectFields } from './modal-fields.ts';

export const INSTRUCT_CALLBACK = 'agent.start';

/** Asks for a new job's instruction, or for the id of a job to follow. `project` is preselected. */
export function instructView(
  { projects, project }: { projects: readonly Project[]; project: string | undefined },
  { channel }: Pick<Caller, 'channel'>,
): ModalView {
  return formView({
    title: 'Instruct the docs agent',
    submit: 'Start',
    callback: INSTRUCT_CALLBACK,
    intro: message([placeParts(channel.id)]),
    fields: [
      textField({
        block: 'text',
        label: 'What should the agent do?',
        placeholder: 'Add error handling to the quickstart',
        multiline: true,
        optional: true,
      }),
      textField({
        block: 'job',
        label: 'Job ID',
        hint: "Paste an existing job's ID or link, or leave blank for a new job.",
        optional: true,
      }),
      ...projectFields(projects, project),
    ],
  });
}

const placeParts = (channelId: string): Part[] =>
  channelId.startsWith('C')
    ? ['The job gets a thread in ', { channel: channelId }, '; replies there instruct the agent.']
    : ['The job gets a thread; replies there instruct the agent.'];

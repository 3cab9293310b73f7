import type { ButtonParts } from '../../slack/blocks.ts';
import { agentActions } from './thread/buttons.ts';

/** Opens the modal that asks what the agent should do. */
export const instructButton: ButtonParts = {
  label: 'Instruct the agent',
  action: agentActions.instruct,
  value: JSON.stringify({ v: 1 }),
};

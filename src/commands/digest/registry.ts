import { digestActions } from '../../jobs/digest/buttons.ts';
import type { Registry } from '../registry.ts';
import { askAgentButton, askModals } from './ask.ts';
import { scheduleButtons } from './buttons.ts';
import { digestCommand, setUpButton } from './command.ts';
import { scheduleModal } from './modal.ts';

export const digestCommands = {
  commands: [digestCommand],
  buttons: [setUpButton, ...scheduleButtons, askAgentButton],
  urlActions: [digestActions.openThread],
  modals: [scheduleModal, ...askModals],
} satisfies Partial<Registry>;

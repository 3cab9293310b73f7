import { agentActions } from '../../jobs/agent/thread/buttons.ts';
import type { Registry } from '../registry.ts';
import { followAgainButton, startNewButton, threadButtons, tryAgainButton } from './buttons.ts';
import { agentCommand } from './command.ts';
import { messageEvents } from './events.ts';
import { instructButton, instructModal } from './modal.ts';
import { sendModal, sendShortcut } from './shortcut.ts';

export const agentCommands = {
  commands: [agentCommand],
  buttons: [...threadButtons, followAgainButton, startNewButton, tryAgainButton, instructButton],
  urlActions: [agentActions.openPullRequest, agentActions.openThread],
  modals: [instructModal, sendModal],
  shortcuts: [sendShortcut],
  events: messageEvents,
} satisfies Partial<Registry>;

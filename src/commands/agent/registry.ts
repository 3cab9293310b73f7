import { agentActions } from '../../jobs/agent/thread/buttons.ts';
import type { Registry } from '../registry.ts';
import { startNewButton, threadButtons } from './buttons.ts';
import { agentCommand } from './command.ts';
import { messageEvents } from './events.ts';
import { sendModal } from './modal.ts';
import { sendShortcut } from './shortcut.ts';

export const agentCommands = {
  commands: [agentCommand],
  buttons: [...threadButtons, startNewButton],
  urlActions: [agentActions.openPullRequest],
  modals: [sendModal],
  shortcuts: [sendShortcut],
  events: messageEvents,
} satisfies Partial<Registry>;

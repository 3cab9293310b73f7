import { agentActions } from '../jobs/agent/thread/buttons.ts';
import { exportActions } from '../jobs/export/buttons.ts';
import { linkActions as ownLinkActions } from '../jobs/link/record.ts';
import { threadButtons } from './agent/buttons.ts';
import { agentCommand } from './agent/command.ts';
import { sendModal } from './agent/modal.ts';
import { sendShortcut } from './agent/shortcut.ts';
import { startNewButton } from './agent/start-button.ts';
import type { SlashCommand } from './command.ts';
import { ownLinkButton, runButtons, startAnotherButton } from './export/buttons.ts';
import { exportCommand, useDomainButton } from './export/command.ts';
import { exportModal } from './export/modal.ts';
import { settingsButton } from './export/settings-button.ts';
import type { ButtonAction, MessageShortcut, Modal } from './feature.ts';
import { newLinkButton } from './link/buttons.ts';
import { statusCommand } from './status/command.ts';

/** Everything that people can do. */
export const slashCommands: SlashCommand[] = [exportCommand, agentCommand, statusCommand];

export const buttons: ButtonAction[] = [
  useDomainButton,
  startAnotherButton,
  ownLinkButton,
  settingsButton,
  newLinkButton,
  ...runButtons,
  ...threadButtons,
  startNewButton,
];

export const modals: Modal[] = [exportModal, sendModal];

export const shortcuts: MessageShortcut[] = [sendShortcut];

/** Buttons that only open an address. Slack sends a click all the same and wants it acknowledged. */
export const linkActions: string[] = [
  exportActions.download,
  exportActions.openThread,
  ownLinkActions.download,
  agentActions.openPullRequest,
];

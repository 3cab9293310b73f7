import { agentActions } from '../jobs/agent/buttons.ts';
import { exportActions } from '../jobs/export/run.ts';
import { linkActions as ownLinkActions } from '../jobs/link/run.ts';
import { agentCommand } from './agent.ts';
import { threadButtons } from './agent-buttons.ts';
import { sendDialog } from './agent-send-dialog.ts';
import { sendShortcut } from './agent-shortcut.ts';
import { startNewButton } from './agent-start-button.ts';
import type { ButtonAction, Dialog, MessageShortcut, SlashCommand } from './command.ts';
import { exportCommand, useDomainButton } from './export.ts';
import { ownLinkButton, runButtons, startAnotherButton } from './export-buttons.ts';
import { exportDialog } from './export-dialog.ts';
import { settingsButton } from './export-settings.ts';
import { linkAgainButton } from './link-buttons.ts';
import { statusCommand } from './status.ts';

/** Everything that people can do. */
export const slashCommands: SlashCommand[] = [exportCommand, agentCommand, statusCommand];

export const buttons: ButtonAction[] = [
  useDomainButton,
  startAnotherButton,
  ownLinkButton,
  settingsButton,
  linkAgainButton,
  ...runButtons,
  ...threadButtons,
  startNewButton,
];

export const dialogs: Dialog[] = [exportDialog, sendDialog];

export const shortcuts: MessageShortcut[] = [sendShortcut];

/** Buttons that only open an address. Slack sends a click all the same and wants it acknowledged. */
export const linkActions: string[] = [
  exportActions.download,
  exportActions.openThread,
  ownLinkActions.download,
  agentActions.openPullRequest,
];

import { exportActions } from '../jobs/export/run.ts';
import { linkActions as ownLinkActions } from '../jobs/link/run.ts';
import type { ButtonAction, Dialog, SlashCommand } from './command.ts';
import { exportCommand, useDomainButton } from './export.ts';
import { ownLinkButton, runButtons, startAnotherButton } from './export-buttons.ts';
import { exportDialog } from './export-dialog.ts';
import { settingsButton } from './export-settings.ts';
import { linkAgainButton } from './link-buttons.ts';
import { statusCommand } from './status.ts';

/** Everything that people can do. */
export const slashCommands: SlashCommand[] = [exportCommand, statusCommand];

export const buttons: ButtonAction[] = [
  useDomainButton,
  startAnotherButton,
  ownLinkButton,
  settingsButton,
  linkAgainButton,
  ...runButtons,
];

export const dialogs: Dialog[] = [exportDialog];

/** Buttons that only open an address. Slack sends a click all the same and wants it acknowledged. */
export const linkActions: string[] = [
  exportActions.download,
  exportActions.openThread,
  ownLinkActions.download,
];

import { exportActions } from '../../jobs/export/buttons.ts';
import type { Registry } from '../registry.ts';
import { ownLinkButton, runButtons, startAnotherButton } from './buttons.ts';
import { exportCommand, useDomainButton } from './command.ts';
import { exportModal } from './modal.ts';
import { settingsButton } from './settings-button.ts';

export const exportCommands = {
  commands: [exportCommand],
  buttons: [useDomainButton, startAnotherButton, ownLinkButton, settingsButton, ...runButtons],
  urlActions: [exportActions.download, exportActions.openThread],
  modals: [exportModal],
} satisfies Partial<Registry>;

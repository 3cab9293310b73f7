import { exportActions } from '../../jobs/export/buttons.ts';
import type { Registry } from '../registry.ts';
import { ownLinkButton, runButtons } from './buttons.ts';
import { domainButtons, exportCommand, exportSiteButton, startAnotherButton } from './command.ts';
import { exportModal } from './modal.ts';
import { settingsButton } from './settings-button.ts';
import { watchItButton, watchModal } from './watch-modal.ts';

export const exportCommands = {
  commands: [exportCommand],
  buttons: [
    exportSiteButton,
    ...domainButtons,
    startAnotherButton,
    ownLinkButton,
    settingsButton,
    watchItButton,
    ...runButtons,
  ],
  urlActions: [exportActions.download, exportActions.openThread],
  modals: [exportModal, watchModal],
} satisfies Partial<Registry>;

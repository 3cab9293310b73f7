import type { ButtonParts } from '../../slack/blocks.ts';
import { exportActions } from './buttons.ts';

/** Opens the modal that asks what to export. */
export const exportSiteButton: ButtonParts = {
  label: 'Export a site',
  action: exportActions.ask,
  value: JSON.stringify({ v: 1 }),
};

import type { ButtonParts } from '../../slack/blocks.ts';
import { digestActions } from './buttons.ts';

/** Opens the modal that sets up a digest. */
export const setUpButton: ButtonParts = {
  label: 'Set up a digest',
  action: digestActions.setUp,
  value: JSON.stringify({ v: 1 }),
};

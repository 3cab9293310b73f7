import type { GalleryState } from './state.ts';
import { agentStates } from './states/agent/index.ts';
import { digestStates } from './states/digest/index.ts';
import { exportStates } from './states/export.ts';
import { linkStates } from './states/link.ts';
import { workspaceStates } from './states/workspace.ts';

/** Every state of every message, modal and Home. `test/gallery/states.test.ts` says which one is missing. */
export const states: readonly GalleryState[] = [
  ...exportStates,
  ...linkStates,
  ...agentStates,
  ...digestStates,
  ...workspaceStates,
];

import type { GalleryState } from './state.ts';
import { cards } from './states/agent/cards.ts';
import { ephemerals, mentions, modals } from './states/agent/people.ts';
import { endings, rounds } from './states/agent/rounds.ts';
import { delays, troubles } from './states/agent/troubles.ts';
import { deploymentStates } from './states/deployment.ts';
import { askStates, digestModalStates } from './states/digest/asks.ts';
import { answerStates, editionStates } from './states/digest/editions.ts';
import { pageStates } from './states/digest/pages.ts';
import { alertStates, scheduleStates } from './states/digest/schedules.ts';
import { exportStates } from './states/export.ts';
import { exportScheduleStates } from './states/export-schedule.ts';
import { linkStates } from './states/link.ts';
import { pullRequestStates } from './states/pull-request.ts';
import { siteStates } from './states/site.ts';
import { workspaceStates } from './states/workspace.ts';

/** Every state of every message, modal and Home. `test/gallery/states.test.ts` says which one is missing. */
export const states: readonly GalleryState[] = [
  ...exportStates,
  ...linkStates,
  ...deploymentStates,
  ...exportScheduleStates,
  ...siteStates,
  ...pullRequestStates,
  ...[...cards, ...rounds, ...endings, ...troubles, ...delays, ...ephemerals, ...mentions, ...modals],
  ...[
    ...editionStates,
    ...scheduleStates,
    ...alertStates,
    ...answerStates,
    ...askStates,
    ...digestModalStates,
    ...pageStates,
  ],
  ...workspaceStates,
];

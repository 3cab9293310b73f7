import { askStates, digestModalStates } from './asks.ts';
import { answerStates, editionStates } from './editions.ts';
import { alertStates, scheduleStates } from './schedules.ts';

export const digestStates = [
  ...editionStates,
  ...scheduleStates,
  ...alertStates,
  ...answerStates,
  ...askStates,
  ...digestModalStates,
];

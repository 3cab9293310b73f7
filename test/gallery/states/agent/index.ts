import { cards } from './cards.ts';
import { ephemerals, mentions, modals } from './people.ts';
import { endings, rounds } from './rounds.ts';
import { delays, troubles } from './troubles.ts';

export const agentStates = [
  ...cards,
  ...rounds,
  ...endings,
  ...troubles,
  ...delays,
  ...ephemerals,
  ...mentions,
  ...modals,
];

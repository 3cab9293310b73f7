import type { Registry } from '../registry.ts';
import { howButton } from './buttons.ts';
import { welcomeEvents } from './events.ts';

export const welcomeCommands = {
  buttons: [howButton],
  events: welcomeEvents,
} satisfies Partial<Registry>;

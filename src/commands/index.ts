import type { ButtonAction, SlashCommand } from './command.ts';
import {
  exportCommand,
  linkActions as exportLinks,
  runButtons,
  startAnotherButton,
  useDomainButton,
} from './export.ts';

/** Everything that people can do. */
export const slashCommands: SlashCommand[] = [exportCommand];

export const buttons: ButtonAction[] = [useDomainButton, startAnotherButton, ...runButtons];

/** Buttons that only open an address. */
export const linkActions: string[] = [...exportLinks];

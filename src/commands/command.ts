import { helpButtons, taskLine, taskLines } from '../jobs/help-view.ts';
import type { Permission } from '../policy.ts';
import { layout, type Message, message, type Part } from '../slack/blocks.ts';
import { readCommand, type Syntax, type Values } from './args.ts';
import type { Caller, CommandTools } from './tools.ts';

/** One subcommand: its syntax, its purpose, and its action. Only the caller sees the message that `run` returns. */
export interface Subcommand extends Syntax {
  /** The task, as help names it: "Export a site". */
  summary: string;
  /** Help omits it: it only explains why something cannot be done. */
  hidden?: boolean;
  run(input: Record<string, unknown>, caller: Caller, tools: CommandTools): Promise<Message | undefined>;
}

/** A slash command as data: parsing, help, usage and the permission check are derived from it. */
export interface SlashCommand {
  name: `/${string}`;
  summary: string;
  may: Permission;
  /** A note in help, below the usage. */
  note?: string;
  subcommands: readonly Subcommand[];
  run(text: string, caller: Caller, tools: CommandTools): Promise<Message | undefined>;
}

/** Infers the input type of `run` from the `read` functions of `args` and `flags`. */
export const subcommand = <Args extends Syntax['args'], Flags extends Syntax['flags']>(
  one: Omit<Subcommand, 'args' | 'flags' | 'run'> & {
    args: Args;
    flags: Flags;
    run(
      input: Values<Args> & Values<Flags>,
      caller: Caller,
      tools: CommandTools,
    ): Promise<Message | undefined>;
  },
) => one as Subcommand;

/** A slash command that parses the text, answers `help` and unclear input itself, and runs the rest. */
export function defineCommand(parts: Omit<SlashCommand, 'run'>): SlashCommand {
  return {
    ...parts,
    async run(text, caller, tools) {
      const read = readCommand(parts.name, parts.subcommands, text);
      switch (read.kind) {
        case 'subcommand':
          return read.subcommand.run(read.input, caller, tools);
        case 'help':
          return helpMessage(parts);
        case 'unclear':
          return message([read.problem]);
      }
    },
  };
}

const offered = (subcommands: readonly Subcommand[]) => subcommands.filter(({ hidden }) => !hidden);

/** The usage of a subcommand, after the command's name: `watch <job id> [--project p]`. */
export function usageOf({ verb, args, flags }: Syntax): string {
  const shownFlags = Object.entries(flags).map(([name, { usage }]) => `[${`--${name} ${usage}`.trim()}]`);
  return [verb, ...Object.values(args).map(({ usage }) => usage), ...shownFlags].filter(Boolean).join(' ');
}

/** All subcommands in one line, as Slack shows them while a person types the command. */
export const usageHint = ({ subcommands }: Pick<SlashCommand, 'subcommands'>) =>
  [...offered(subcommands).map(usageOf), 'help'].filter(Boolean).join(' | ');

/** Help: each task of a command with the text to type, then the other commands; all usages in small print. */
export function helpMessage({ name, note, subcommands: all }: Omit<SlashCommand, 'run'>): Message {
  const subcommands = offered(all);
  const usages = subcommands.map((one): Part[] => [`${name} ${usageOf(one)}`.trim()]);
  return layout({
    lines: [
      ...subcommands.map(({ summary, example }) => taskLine(summary, example)),
      [{ bold: 'Other commands' }],
      ...taskLines(name),
    ],
    small: [['All options:'], ...usages, ...(note === undefined ? [] : [[note]])],
    buttons: helpButtons,
  });
}

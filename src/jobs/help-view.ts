import { type ButtonParts, layout, type Message, type Part } from '../slack/blocks.ts';
import { instructButton } from './agent/thread/messages-view.ts';
import { exportSiteButton } from './export/progress-view.ts';

/** The purpose of each command. A test makes sure that its command parses `example`. */
export const TASKS: readonly { task: string; command: `/${string}`; example: string }[] = [
  { task: 'Export a site', command: '/docs-export', example: '/docs-export docs.acme.com' },
  { task: 'Instruct the docs agent', command: '/docs-agent', example: '/docs-agent new Add a quickstart' },
  { task: 'Preview a branch', command: '/docs-site', example: '/docs-site preview main' },
  { task: 'Set up a weekly digest', command: '/docs-digest', example: '/docs-digest create' },
  { task: 'See the status', command: '/docs-status', example: '/docs-status' },
];

/** A line for each command, the task first; `without` leaves out the command of the present help. */
const taskLines = (without?: string): Part[][] =>
  TASKS.filter(({ command }) => command !== without).map(({ task, example }) => taskLine(task, example));

const taskLine = (task: string, example: string): Part[] => [`${task}: `, { code: example }];

/** The most common tasks. */
const helpButtons: ButtonParts[] = [exportSiteButton, instructButton];

/** Help: each task of a command with the text to type, then the other commands; all usages in small print. */
export const commandHelp = (
  command: string,
  tasks: readonly { summary: string; example: string; usage: string }[],
  note?: string,
): Message =>
  layout({
    lines: [
      ...tasks.map(({ summary, example }) => taskLine(summary, example)),
      [{ bold: 'Other commands' }],
      ...taskLines(command),
    ],
    small: ['All options:', ...tasks.map(({ usage }) => `${command} ${usage}`.trim()), note],
    buttons: helpButtons,
  });

/** All that Docket does, for a person without a particular request. */
export const overviewMessage: Message = layout({
  lines: [
    ...taskLines(),
    taskLine('Start a job in a thread', '@Docket Add a quickstart'),
    taskLine('Follow a job in a thread', '@Docket follow <job id>'),
  ],
  small: [['Add ', { code: 'help' }, ' to any command for details.']],
  buttons: helpButtons,
});

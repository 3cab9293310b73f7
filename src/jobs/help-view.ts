import { type ButtonParts, layout, type Message, type Part } from '../slack/blocks.ts';
import { instructButton } from './agent/thread/messages-view.ts';
import { exportSiteButton } from './export/progress-view.ts';

/** The purpose of each command. A test makes sure that its command parses `example`. */
export const TASKS: readonly { task: string; command: `/${string}`; example: string }[] = [
  { task: 'Export a site', command: '/docs-export', example: '/docs-export docs.acme.com' },
  { task: 'Ask the docs agent', command: '/docs-agent', example: '/docs-agent new Add a quickstart' },
  { task: 'Preview a branch', command: '/docs-site', example: '/docs-site preview main' },
  { task: 'Set up a digest', command: '/docs-digest', example: '/docs-digest create' },
  { task: 'See the status', command: '/docs-status', example: '/docs-status' },
];

/** A line for each command, the task first; `without` leaves out the command of the present help. */
const taskLines = (without?: string): Part[][] =>
  TASKS.filter(({ command }) => command !== without).map(({ task, example }) => taskLine(task, example));

const taskLine = (task: string, example: string): Part[] => [`${task}: `, { code: example }];

const helpButtons: ButtonParts[] = [exportSiteButton, instructButton];

const PROJECT = ' [--project p]';

/** Help: how each task of a command is typed, then the other commands. What all of them take stands once. */
export function commandHelp(
  command: string,
  tasks: readonly { summary: string; usage: string }[],
  note?: string,
): Message {
  const isShared = tasks.length > 1 && tasks.every(({ usage }) => usage.endsWith(PROJECT));
  const usageOf = (usage: string) => (isShared ? usage.slice(0, -PROJECT.length) : usage);
  return layout({
    lines: [
      ...tasks.map(({ summary, usage }) => taskLine(summary, `${command} ${usageOf(usage)}`.trim())),
      [{ bold: 'Other commands' }],
      ...taskLines(command),
    ],
    small: [isShared && 'Add --project and its name if you have several projects.', note],
    buttons: helpButtons,
  });
}

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

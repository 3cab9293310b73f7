import { type Message, message, type Part } from '../../slack/blocks.ts';
import { cut, oneLine } from '../../slack/text.ts';
import type { MentionAnswer, MentionButton, ProjectProblem } from './mention.ts';
import { agentActions } from './thread.ts';

const followHere: Part[] = ['To follow one that exists, reply ', { code: '@Docket follow <job id>' }, '.'];

/** What whoever mentioned the app is told, privately. `mention` is the id of the run. */
export function mentionMessage(mention: string, answer: MentionAnswer): Message {
  switch (answer.kind) {
    case 'refused':
      return message([[`You can't instruct the docs agent here, so nothing was sent. Ask ${answer.ask}.`]]);
    case 'help':
      return message([
        ['I pass instructions on to the docs agent, and tell here what comes of them.'],
        ['To start a new job, write ', { code: '@Docket' }, ' and what is to be done.'],
        followHere,
        ['Then every reply in that thread can instruct the agent.'],
      ]);
    case 'notFollowed':
      return message([
        ['No agent job is followed in this thread, so there is nothing to change.'],
        followHere,
      ]);
    case 'project':
      return projectMessage(answer.problem, `/docs-agent follow ${cut(oneLine(answer.jobId), 200)}`);
    case 'offer': {
      const value: MentionButton = { v: 1, mention };
      return message(
        [[`No agent job is followed here. Start a new one with "${answer.excerpt}"?`], [...followHere]],
        [{ label: 'Start a new job', action: agentActions.startNew, value: JSON.stringify(value) }],
      );
    }
  }
}

/** More names than this do not help. */
const LISTED = 10;

/** Why it is not clear in which project a job is. `command` is what to type, but for its `--project`. */
export function projectMessage({ kind, names }: ProjectProblem, command: string): Message {
  const [first = ''] = names;
  if (kind === 'ask')
    return message([
      [`Which project is it in: ${names.slice(0, LISTED).join(', ')}? Nothing was sent. For example: `],
      [{ code: `${command} --project ${first}` }],
    ]);
  return message([
    first === 'default'
      ? [
          "I don't know the project's id, so nothing was sent. Whoever runs Docket sets ",
          { code: 'DOCS_PROJECT_ID' },
          '.',
        ]
      : [
          `Project ${first} has no id, so nothing was sent. Whoever runs Docket adds its `,
          { code: 'projectId' },
          " to Docket's file of projects.",
        ],
  ]);
}

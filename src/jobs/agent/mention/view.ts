import { type Message, message, type Part } from '../../../slack/blocks.ts';
import { cut, formatCount, sanitizeUserText, singleLine } from '../../../slack/text.ts';
import { exportOffer } from '../../export/reply-view.ts';
import { overviewMessage } from '../../help-view.ts';
import { chooseProjectMessage, notPermittedText, unknownProjectText } from '../../wording-view.ts';
import { agentActions } from '../thread/buttons.ts';
import { badFollowLine, tooLongText } from '../thread/phrases.ts';
import type { MentionAnswer, MentionButton, ProjectProblem } from './record.ts';

const followHint: Part[] = ['To follow an existing job, reply ', { code: '@Docket follow <job id>' }, '.'];

/** Returns the ephemeral answer to the author of a mention. `mention` is the id of the run. */
export function mentionMessage(mention: string, answer: MentionAnswer): Message {
  switch (answer.kind) {
    case 'refused':
      return message([[notPermittedText(answer.permission, answer.ask)]]);
    case 'help':
      return overviewMessage;
    case 'export':
      return exportOffer(mention, answer);
    case 'closed':
      return message([
        [
          "Replies here don't go to the docs agent. Click [Ask the agent] above, or type ",
          { code: '/docs-agent new' },
          ' and your instruction.',
        ],
      ]);
    case 'notFollowed':
      return message([['This thread follows no agent job, so there is nothing to change.'], followHint]);
    case 'project':
      return projectMessage(answer.problem, `@Docket follow ${cut(singleLine(answer.jobId), 200)}`);
    case 'badFollow':
      return message([badFollowLine]);
    case 'tooLong':
      return message([[`${tooLongText(answer.characters, answer.most)} Nothing was sent.`]]);
    case 'offer': {
      const value: MentionButton = { v: 1, mention };
      return message(
        [
          [`No agent job is followed here. Start a new one with "${sanitizeUserText(answer.excerpt, 60)}"?`],
          followHint,
        ],
        [
          {
            label: 'Start a new job',
            action: agentActions.startNew,
            value: JSON.stringify(value),
            style: 'primary',
          },
        ],
      );
    }
  }
}

/**
 * Why the project of a job is unclear; `new`: the job does not exist yet. `command` is the text to type, without
 * `--project`.
 */
export function projectMessage(
  problem: ProjectProblem,
  command: string,
  job: 'existing' | 'new' = 'existing',
): Message {
  switch (problem.kind) {
    case 'ask': {
      const which = job === 'new' ? 'Which project is it for' : 'Which project is it in';
      return chooseProjectMessage(which, problem.names, command, 'Nothing was sent.');
    }
    case 'unknown':
      return message([[unknownProjectText(problem.named, problem.names)]]);
    case 'noId':
      return message([noIdParts(problem.name)]);
    case 'full':
      return message([[tooManyThreadsText(problem.max), ' ', { code: '/docs-agent list' }, ' shows them.']]);
  }
}

const tooManyThreadsText = (max: number) =>
  `You follow ${formatCount(max)} ${max === 1 ? 'job' : 'jobs'} already. Stop following one first.`;

/** Without a file, the only project is called `default`. */
function noIdParts(name: string): Part[] {
  if (name === 'default')
    return [
      "I don't know the project's id, so nothing was sent. The people who run Docket need to set ",
      { code: 'DOCS_PROJECT_ID' },
      '.',
    ];
  return [
    `Project ${name} has no id, so nothing was sent. The people who run Docket need to add its `,
    { code: 'projectId' },
    " to Docket's file of projects.",
  ];
}

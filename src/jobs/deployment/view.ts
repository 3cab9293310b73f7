import {
  type ButtonParts,
  type Line,
  layout,
  type Message,
  message,
  moment,
  type Part,
} from '../../slack/blocks.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import type { OutboxMessage } from '../../slack/outbox.ts';
import { cut, sanitizeUserText, singleLine } from '../../slack/text.ts';
import { site } from '../export/progress-view.ts';
import { FAILURE_SHOWN_AFTER, personName, platformReasonText } from '../wording-view.ts';
import { deploymentActions, type UpdateRun, type UpdateState, updateActions } from './record.ts';

export const nameOf = ({ deployment }: Pick<UpdateRun, 'deployment'>) => sanitizeUserText(deployment, 60);

/** Returns a button of an update. Its value has the attempt, so a late click changes nothing. */
const buttonOf = (
  { id, attempt }: UpdateRun,
  label: string,
  action: string,
): ButtonParts & { value: string } => ({
  ...{ label, action },
  value: JSON.stringify({ v: 1, update: id, attempt }),
});

const tellAgain = (run: UpdateRun) => buttonOf(run, 'Tell again', deploymentActions.again);

/** Returns a button for each deployment that can be told of an export. */
export const deployButtons = (run: string, deployments: readonly string[]): ButtonParts[] =>
  deployments.slice(0, updateActions.length).map((deployment, index) => ({
    label: cut(`Update ${sanitizeUserText(deployment, 60)}`, SLACK_LIMITS.buttonText),
    action: updateActions[index] ?? '',
    value: JSON.stringify({ v: 1, run, deployment }),
  }));

/** Returns every message of an update in its present form. */
export function updateMessages(run: UpdateRun): OutboxMessage[] {
  const { id, attempt, renewal, under, by, state, answer, ending, outcome } = run;
  const inThread = (name: string, message: Message): OutboxMessage => ({
    ...{ key: `${id}.${name}`, place: { under }, kind: 'ending', message },
    fallbackRecipient: by.id,
  });
  const messages: OutboxMessage[] = [{ ...inThread('update', updateMessage(run)), kind: 'state' }];
  if (state === 'unknown') messages.push(inThread(`question.${attempt}`, questionMessage(run)));
  if (answer) messages.push(inThread(`question.${answer.attempt}`, answeredMessage(run, answer)));
  const trouble = troubleMessage(run);
  if (trouble && ending?.kind === 'permission')
    // Only the person sees that the permission is lost.
    messages.push({ ...inThread(`trouble.${attempt}`, trouble), place: { user: by.id } });
  // A report has the same key after a further link, so it is posted once.
  else if (trouble)
    messages.push(inThread(`trouble.${attempt}.${ending ? renewal : outcome?.atMs}`, trouble));
  return messages;
}

/** Whether the run of its workflow ended without success. */
const hasFailedWorkflow = ({ workflow }: UpdateState) =>
  workflow?.conclusion !== undefined && workflow.conclusion !== 'success';

/** The state as an icon and a fact about the deployment. */
function stateOf(run: UpdateState): [icon: string, ...fact: Part[]] {
  const { state, ending, outcome, workflow, toldAtMs } = run;
  const hasFailed = outcome?.state === 'failed';
  if (state === 'unknown') return ['⚠️', ' may have been told'];
  if (ending?.kind === 'superseded') return ['➖', ' was told of another export since'];
  if (ending?.kind === 'left') return ['➖', ' not told again'];
  if (ending) return ['❌', toldAtMs !== undefined ? ' has no fresh link' : ' not told'];
  // A further link may be on its way after the deployment could not use the first.
  if (toldAtMs === undefined) return [hasFailed ? '❌' : '⏳', ' is being told…'];
  if (hasFailed) return ['❌', ' failed'];
  if (outcome) return ['✅', ' serves it since ', moment(outcome.atMs)];
  if (hasFailedWorkflow(run)) return ['❌', ' told, but its workflow failed'];
  if (workflow?.conclusion !== undefined) return ['✅', ' told, and its workflow succeeded'];
  return ['✅', ' told ', moment(toldAtMs)];
}

/** The state in one line; also for the message of a schedule. */
export const updateFact = (run: UpdateState): Part[] => [{ bold: nameOf(run) }, ...stateOf(run).slice(1)];

/** The message of an update. Each state edits it. */
function updateMessage(run: UpdateRun): Message {
  const { ending, failures, by, workflow, toldAtMs } = run;
  // It stays so while its link is renewed.
  const isTold = toldAtMs !== undefined && !ending;
  const waits = toldAtMs === undefined && failures >= FAILURE_SHOWN_AFTER;
  const runLink = isTold ? workflow?.url : undefined;
  return layout({
    icon: stateOf(run)[0],
    lines: [[...updateFact(run), ` · ${site(run)}`], waits && waitsText(run)],
    small: [
      run.schedule !== undefined && run.attempt === 1
        ? `On schedule, for ${personName(by.name)}`
        : `Asked for by ${personName(by.name)}`,
    ],
    buttons: [
      ending?.kind === 'superseded' && buttonOf(run, 'Use this version again', deploymentActions.again),
      runLink !== undefined && { label: 'Open run', action: deploymentActions.openRun, url: runLink },
    ],
    ...(isTold && { menu: { entries: [tellAgain(run)], value: tellAgain(run).value } }),
  });
}

const waitsText = ({ state }: UpdateRun) =>
  state === 'linking'
    ? "The platform doesn't give me a link to the bundle. I'll keep trying."
    : "It doesn't answer as it should. I'll keep trying for an hour.";

/** If an update failed, says why and mentions the person who requested it; otherwise undefined. */
function troubleMessage(run: UpdateRun): Message | undefined {
  const { ending, by } = run;
  const lines = troubleLines(run);
  if (lines === undefined) return undefined;
  if (ending?.kind === 'permission') return message(lines);
  const danger = ending && run.toldAtMs !== undefined && 'If it restarts now, it may find no bundle.';
  const small = ending?.kind === 'broken' && `ref ${ending.ref}`;
  const buttons = [tellAgain(run)];
  return layout({ icon: '❌', mention: [by], lines: [...lines, danger], small: [small], buttons });
}

function troubleLines(run: UpdateRun): Line[] | undefined {
  const { ending, outcome, workflow, toldAtMs } = run;
  const name = nameOf(run);
  const what = toldAtMs !== undefined ? `the fresh link to ${site(run)}` : site(run);
  switch (ending?.kind) {
    case 'superseded':
    case 'left':
      return undefined;
    case 'refused': {
      const status = ending.status === undefined ? '' : ` (${ending.status})`;
      return [`${name} refused ${what}${status}.`, reasonText(ending.text)];
    }
    case 'gaveUp':
      return [`${name} did not take ${what} for an hour: ${sanitizeUserText(ending.reason, 100)}.`];
    case 'noLink':
      return [`I could not get a link to ${site(run)} for ${name}.`, platformReasonText(ending.reason)];
    case 'permission': {
      const whom = sanitizeUserText(ending.contacts, 200);
      return [`You may no longer update deployments here, so ${name} was not told. Ask ${whom}.`];
    }
    case 'missing':
      return [
        `My settings no longer have ${name}, so it was not told of ${what}. Ask the people who run Docket.`,
      ];
    case 'restored':
      return [
        `My data were restored from a backup. ${name} may have been told of another export since, so it gets no fresh link.`,
      ];
    case 'broken':
      return [`Something broke on my side while I told ${name} of ${what}.`];
  }
  if (outcome?.state === 'failed')
    return [`${name} could not use ${site(run)}.`, reasonText(outcome.message)];
  if (outcome || !hasFailedWorkflow(run)) return undefined;
  const word = sanitizeUserText(workflow?.conclusion ?? '', 40).replaceAll('_', ' ');
  const url = workflow?.url;
  return [
    `The workflow of ${name} ended: ${word}.`,
    url !== undefined && [{ link: url, label: 'See its run' }],
  ];
}

const reasonText = (text = '') => {
  const reason = sanitizeUserText(text, 300);
  return reason === '' ? 'It gave no reason.' : `It said: "${reason}"`;
};

export const questionMessage = (run: UpdateRun): Message =>
  layout({
    icon: '⚠️',
    mention: [run.by],
    lines: [
      `Did GitHub start the workflow that updates ${nameOf(run)} to ${site(run)}? It gave no clear answer.`,
    ],
    small: ['Look at its Actions first: telling again could run it twice.'],
    buttons: [
      { ...buttonOf(run, 'It ran', deploymentActions.ran), style: 'primary' },
      { ...tellAgain(run), confirm: confirmSecond },
      buttonOf(run, 'Leave it', deploymentActions.leave),
    ],
  });

const confirmSecond = {
  title: 'Tell it again?',
  text: 'If the first one did start, the workflow runs twice.',
  yes: 'Tell again',
  no: 'Cancel',
};

export function answeredMessage(run: UpdateRun, { action, by }: NonNullable<UpdateRun['answer']>): Message {
  const unclear = `It was unclear whether the workflow that updates ${nameOf(run)} had started.`;
  const texts = {
    ran: `It had: ${personName(by.name)} found it.`,
    again: `${personName(by.name)} started it again.`,
    leave: `${personName(by.name)} chose not to start it again.`,
    late: "It had: GitHub's answer came late.",
  };
  return message([`${unclear} ${texts[action]}`]);
}

/** To a person who clicked in a modal. */
export const startedMessage = (run: UpdateRun): Message =>
  message([`Telling ${nameOf(run)} of ${site(run)}: see the thread of this export.`]);

/** To a person who clicks [Update …] after the deployment was told, or may have been told. */
export const alreadyToldMessage = (run: UpdateRun): Message => {
  const before = stateOf(run)[0] === '✅' ? ['Already done: '] : [];
  const see = `. See the thread of ${cut(singleLine(site(run)), 100)}.`;
  return message([[...before, ...updateFact(run), see]], run.state === 'told' ? [tellAgain(run)] : []);
};

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

const updateAgain = (run: UpdateRun) => buttonOf(run, 'Update again', deploymentActions.again);

/** Returns a button for each deployment that can be updated to an export. */
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
  const { state, ending, outcome, workflow, notifiedAtMs } = run;
  const hasFailed = outcome?.state === 'failed';
  if (state === 'unknown') return ['⚠️', ' may have been notified'];
  if (ending?.kind === 'superseded') return ['➖', ' was notified of another export since'];
  if (ending?.kind === 'left') return ['➖', ' was not notified again'];
  if (ending) return ['❌', notifiedAtMs !== undefined ? ' has no fresh link' : ' was not notified'];
  // A further link may be on its way after the deployment could not use the first.
  if (notifiedAtMs === undefined) return [hasFailed ? '❌' : '⏳', ' is being notified…'];
  if (hasFailed) return ['❌', ' failed'];
  if (outcome) return ['✅', ' serves it since ', moment(outcome.atMs)];
  if (hasFailedWorkflow(run)) return ['❌', ' notified, but its workflow failed'];
  if (workflow?.conclusion !== undefined) return ['✅', ' notified, and its workflow succeeded'];
  return ['✅', ' notified ', moment(notifiedAtMs)];
}

/** The state in one line; also for the message of a schedule. */
export const updateFact = (run: UpdateState): Part[] => [{ bold: nameOf(run) }, ...stateOf(run).slice(1)];

/** The message of an update. Each state edits it. */
function updateMessage(run: UpdateRun): Message {
  const { ending, failures, by, workflow, notifiedAtMs } = run;
  // It stays so while its link is renewed.
  const isNotified = notifiedAtMs !== undefined && !ending;
  const waits = notifiedAtMs === undefined && failures >= FAILURE_SHOWN_AFTER;
  const runLink = isNotified ? workflow?.url : undefined;
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
    ...(isNotified && { menu: { entries: [updateAgain(run)], value: updateAgain(run).value } }),
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
  const danger = ending && run.notifiedAtMs !== undefined && 'If it restarts now, it may find no bundle.';
  const small = ending?.kind === 'broken' && `ref ${ending.ref}`;
  const buttons = [updateAgain(run)];
  return layout({ icon: '❌', mention: [by], lines: [...lines, danger], small: [small], buttons });
}

function troubleLines(run: UpdateRun): Line[] | undefined {
  const { ending, outcome, workflow, notifiedAtMs } = run;
  const name = nameOf(run);
  const what = notifiedAtMs !== undefined ? `the fresh link to ${site(run)}` : site(run);
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
      return [`You may no longer update deployments here, so ${name} was not notified. Ask ${whom}.`];
    }
    case 'missing':
      return [
        `My settings no longer have ${name}, so it was not notified of ${what}. Ask the people who run Docket.`,
      ];
    case 'restored':
      return [
        `My data were restored from a backup. ${name} may have been notified of another export since, so it gets no fresh link.`,
      ];
    case 'broken':
      return [`Something broke on my side while I notified ${name} of ${what}.`];
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
    small: ['Look at its Actions first: updating again could run it twice.'],
    buttons: [
      { ...buttonOf(run, 'It ran', deploymentActions.ran), style: 'primary' },
      { ...updateAgain(run), confirm: confirmSecond },
      buttonOf(run, 'Leave it', deploymentActions.leave),
    ],
  });

const confirmSecond = {
  title: 'Update it again?',
  text: 'If the first one did start, the workflow runs twice.',
  yes: 'Update again',
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
  message([`Updating ${nameOf(run)} to ${site(run)}: see the thread of this export.`]);

/** To a person who clicks [Update …] after the deployment was notified, or may have been. */
export const alreadyNotifiedMessage = (run: UpdateRun): Message => {
  const before = stateOf(run)[0] === '✅' ? ['Already done: '] : [];
  const see = `. See the thread of ${cut(singleLine(site(run)), 100)}.`;
  return message([[...before, ...updateFact(run), see]], run.state === 'notified' ? [updateAgain(run)] : []);
};

import {
  type ButtonParts,
  joinParts,
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
import type { ExportRun } from '../export/record.ts';
import { confirmStart } from '../operation/view.ts';
import {
  FAILURE_SHOWN_AFTER,
  LABELS,
  personName,
  platformReasonText,
  projectMissingText,
  type StateWord,
} from '../shared/wording-view.ts';
import type { UpdateState } from './attempt.ts';
import {
  canRecheck,
  deploymentActions,
  earlierOf,
  hasFailedWorkflow,
  isInTrouble,
  isStopped,
  messageKey,
  shownAttempt,
  stateOf,
  type UpdateRun,
  updateActions,
  updateOf,
} from './record.ts';

export const nameOf = ({ deployment }: Pick<UpdateRun, 'deployment'>) => sanitizeUserText(deployment, 60);

/** Returns the version of an update's export; without one, its site. */
export const labelOf = (run: UpdateRun) => sanitizeUserText(run.version ?? '', 60) || site(run);

/** Returns a button of an update. Its value has the attempt, so a late click changes nothing. */
const buttonOf = (
  { id, attempt }: Pick<UpdateRun, 'id' | 'attempt'>,
  label: string,
  action: string,
): ButtonParts => ({ label, action, value: JSON.stringify({ v: 1, update: id, attempt }) });

const goBack = (run: UpdateRun) =>
  buttonOf(run, cut(`Go back to ${labelOf(run)}`, SLACK_LIMITS.buttonText), deploymentActions.goBack);

/** Returns the buttons of an export's message for these deployments: a form has more than two. */
export function deployOffers(run: ExportRun, deployments: readonly string[]): ButtonParts[] {
  const buttons = deployButtons(run, deployments);
  if (deployments.length <= 2) return buttons;
  const value = JSON.stringify({ v: 1, run: run.id });
  return [...buttons.slice(0, 1), { label: 'More deployments', action: deploymentActions.more, value }];
}

/** Returns a row for each deployment, for a form. */
export const deployRows = (run: ExportRun, deployments: readonly string[]) =>
  deployButtons(run, deployments).flatMap(
    (button, index) => message([sanitizeUserText(deployments[index] ?? '', 60)], [button]).blocks,
  );

/** Returns a button for each deployment that an export can be deployed to. */
export const deployButtons = (run: ExportRun, deployments: readonly string[]): ButtonParts[] =>
  deployments.slice(0, updateActions.length).map((deployment, index) => {
    const name = sanitizeUserText(deployment, 60);
    return {
      label: cut(`Deploy to ${name}`, SLACK_LIMITS.buttonText),
      action: updateActions[index] ?? '',
      value: JSON.stringify({ v: 1, run: run.id, deployment }),
      confirm: confirmDeploy(run, name),
    };
  });

const confirmDeploy = (run: ExportRun | UpdateRun, name: string) => ({
  title: cut(`Deploy ${sanitizeUserText(run.version ?? '', 60) || 'this export'} to ${name}?`, 100),
  text: cut(`${name} gets ${site(run)}.`, 300),
  yes: 'Deploy',
  no: 'Cancel',
});

const deployAgain = (run: UpdateRun): ButtonParts => ({
  ...buttonOf(run, 'Deploy again', deploymentActions.redeploy),
  confirm: confirmDeploy(run, nameOf(run)),
});

/** The messages of a first attempt on a schedule that are not posted, because they have no news. */
const QUIET = {
  news: /\.(?:line|end)\.1$/,
  failure: /\.(?:line|end|trouble)\.1(?:\.private)?$/,
  reported: /\.(?:line|end|trouble)\.1(?:\.private)?$/,
  recovered: /\.line\.1$/,
};

/**
 * Returns every message of an update in its present form: one shows its state, the one before is deleted. On a schedule, the
 * export's message shows the state, until something needs a person, or works again.
 */
export function updateMessages(run: UpdateRun): OutboxMessage[] {
  const { under, by, shows, ending, replacedKey } = run;
  const place = { under };
  const own = { place, fallbackRecipient: by.id };
  const messages: OutboxMessage[] = [];
  // Somebody may need the [Open run] of its line.
  const hasWaited = [run, run.earlier].some((one) => one?.workflow?.waited);
  const isQuiet = (key: string) =>
    run.schedule !== undefined &&
    QUIET[run.follows ?? 'news'].test(key) &&
    !(hasWaited && key.endsWith('.line.1'));
  const key = messageKey(run);
  if (!isQuiet(key))
    messages.push({ ...own, key, kind: shows === 'line' ? 'state' : 'ending', message: updateMessage(run) });
  if (replacedKey !== undefined && !isQuiet(replacedKey))
    messages.push({
      ...own,
      key: replacedKey,
      kind: 'state',
      message: seeBelow(run),
      retracted: true,
      ...(!isQuiet(key) && { replacedBy: key }),
    });
  // Only the person sees that the permission is lost.
  const privateKey = `${key}.private`;
  if (ending?.kind === 'permission' && !isQuiet(privateKey)) {
    const message = layout({ icon: '❌', lines: [firstLine(factOf(run), run), ...reasonLines(run)] });
    messages.push({ key: privateKey, place: { user: by.id }, kind: 'ending', message });
  }
  return messages;
}

/** It is seen only where Slack refuses deletions. */
const seeBelow = (run: UpdateRun): Message => message([`${nameOf(run)} · see the latest message below`]);

/** The state in words. `note` stands behind them, and `when` in the small print. */
interface Fact extends StateWord {
  note: string;
  when: Part[];
}

const firstLine = ({ label, note }: Fact, run: UpdateRun): Part[] => [
  { bold: label },
  note,
  ` · ${site(run)}`,
];

function factOf(run: UpdateState): Fact {
  const { state, ending, outcome, workflow, notifiedAtMs, newer, again } = run;
  const name = nameOf(run);
  const word = (icon: string, label: string, note = '', when: Part[] = []) => ({ icon, label, note, when });
  const sent = (icon: string, note?: string) =>
    word(icon, `Sent to ${name}`, note, notifiedAtMs === undefined ? [] : [moment(notifiedAtMs)]);
  if (state === 'unknown') return word('❔', 'Start unclear', ` · did the workflow for ${name} start?`);
  const isUnclear = ending?.kind === 'missing' && ending.mayBeSent;
  if (newer && notifiedAtMs !== undefined) {
    const when = newer.atMs === undefined ? [] : [moment(newer.atMs)];
    return word('➖', 'Replaced', ` on ${name} by ${newer.label}`, when);
  }
  if (ending && notifiedAtMs === undefined && (ending.kind === 'left' || again))
    return word('➖', 'Not started again', ` · it's unclear whether the workflow for ${name} started`);
  if (ending?.kind === 'superseded')
    return word('➖', `Not deployed to ${name}`, newer && ` · ${newer.label} was asked for later`);
  if (ending && notifiedAtMs !== undefined) return word('⚠️', `No fresh link for ${name}`);
  if (isUnclear) return word('❔', 'Unclear', ` · ${name} may have this export`);
  if (ending) return word('❌', `Not deployed to ${name}`);
  // A further link may be on its way after the deployment could not use the first.
  if (outcome?.state === 'failed') return word('❌', `${name} couldn't use this export`);
  if (notifiedAtMs === undefined) return word('⏳', `Deploying to ${name}…`);
  if (outcome) return word('✅', `Live on ${name}`, '', ['since ', moment(outcome.atMs)]);
  if (hasFailedWorkflow(run)) return word('❌', `The workflow for ${name} failed`);
  if (workflow?.unclear !== undefined) return sent('❔', " · its workflow's result is unclear");
  if (isStopped(run)) return word('➖', `The workflow for ${name} was ${workflow?.conclusion}`);
  if (workflow?.conclusion !== undefined) return sent('📨', ' · its workflow succeeded');
  if (workflow?.waits) return sent('🕒', ' · its workflow waits for an approval on GitHub');
  return sent('📨', workflow ? ' · its workflow runs' : '');
}

/** Whether an export needs no button to deploy it: the deployment has it, had it, or may get it. */
export const isDeployed = ({ notifiedAtMs, ending, outcome }: UpdateState) =>
  outcome?.state !== 'failed' && (ending === undefined || notifiedAtMs !== undefined);

/** The state in one line, for the export's messages and those of a schedule. */
export function updateLine(run: UpdateState): Part[] {
  const { icon, label, note, when } = factOf(run);
  const separator = when.length === 0 ? '' : icon === '✅' ? ' ' : ' · ';
  return [`${icon} `, { bold: label }, note, separator, ...when];
}

/** What a deployment has, in one line of Home. */
export const liveLine = (run: UpdateRun): Part[] => [...updateLine(stateOf(run)), ` · ${site(run)}`];

/** The message of an update: a failed attempt does not hide that the site lost its fresh link, or has another export. */
function updateMessage(run: UpdateRun): Message {
  const earlier = shownAttempt(run);
  const shown = earlier.ending || earlier.newer || !isInTrouble(run) ? earlier : run;
  const { ending, failures, workflow, notifiedAtMs, newer, outcome } = shown;
  const fact = factOf(shown);
  if (shown.state === 'unknown') return questionMessage(run);
  const isReplaced = fact.icon === '➖' && newer !== undefined;
  const isThere = notifiedAtMs !== undefined && !ending && !isReplaced;
  const isFailed = isInTrouble(shown);
  const waits = notifiedAtMs === undefined && !ending && failures >= FAILURE_SHOWN_AFTER;
  const watched = isThere ? workflow : undefined;
  const isOpen = watched !== undefined && canRecheck(watched);
  const isAgain = shown === run && earlier !== run;
  const isUnwatched = watched?.waits && run.shows !== 'line';
  return layout({
    icon: isUnwatched ? '⌛' : fact.icon,
    mention: run.shows === 'line' ? [] : [run.by],
    lines: [
      firstLine(
        {
          ...fact,
          ...(isAgain && { label: `Not deployed to ${nameOf(run)} again` }),
          ...(isUnwatched && { note: ' · I stopped watching its workflow' }),
        },
        run,
      ),
      isUnwatched && 'The workflow still waited for an approval on GitHub.',
      waits && waitsText(shown),
      run.follows === 'recovered' && isThere && !isFailed && `Deploying to ${nameOf(run)} works again.`,
      ...(isFailed || watched?.unclear ? reasonLines(shown) : []),
    ],
    small: [
      joinParts([
        fact.when,
        run.schedule !== undefined && run.attempt === 1
          ? `On schedule, for ${personName(run.by.name)}`
          : `Requested by ${personName(run.by.name)}`,
        isThere &&
          !outcome &&
          !watched &&
          `${nameOf(run)} hasn't confirmed that it's live${run.shows === 'line' ? '' : ', so look at the site'}`,
        ending?.kind === 'refused' && ending.status !== undefined && `HTTP ${ending.status}`,
        ending?.kind === 'gaveUp' && `last answer: ${sanitizeUserText(ending.reason, 100)}`,
        ending?.kind === 'broken' && `ref ${ending.ref}`,
        run.domain === '' &&
          `${nameOf(run)} gets no domain, because the platform doesn't name the site of this job`,
      ]),
    ],
    buttons: [
      isReplaced && goBack(run),
      isFailed && { ...buttonOf(run, LABELS.tryAgain, deploymentActions.again), style: 'primary' },
      isThere &&
        !isFailed &&
        !isOpen &&
        run.siteUrl !== undefined && {
          ...buttonOf(run, 'Open site', deploymentActions.openSite),
          url: run.siteUrl,
        },
      watched && { ...buttonOf(run, LABELS.openRun, deploymentActions.openRun), url: watched.url },
      isOpen && buttonOf(run, LABELS.checkNow, deploymentActions.check),
      isThere && !isFailed && deployAgain(run),
    ],
  });
}

const waitsText = ({ state }: UpdateRun) =>
  state === 'linking'
    ? "The platform doesn't give me a link to the bundle. I'll keep trying."
    : "It doesn't answer as it should. I'll keep trying for up to an hour.";

/** Whether the deployment has this export from before the present attempt, which failed. */
function keepsEarlier(run: UpdateRun): boolean {
  const earlier = earlierOf(run);
  return earlier !== undefined && earlier.newer === undefined && !isInTrouble(earlier);
}

/** What the site still has after an attempt that failed. */
function staysText(run: UpdateRun): string | false {
  const { id, replaces, ending, workflow } = run;
  if (workflow || ending?.kind === 'broken' || ending?.kind === 'restored') return false;
  if (keepsEarlier(run)) return 'The site still has it from before.';
  return replaces !== undefined && updateOf(replaces) !== id && 'The site still has the version before.';
}

/** Why an attempt failed, and what the site has now. */
function reasonLines(run: UpdateRun): Line[] {
  const { ending, outcome, workflow, notifiedAtMs } = run;
  const name = nameOf(run);
  const isRenewal = notifiedAtMs !== undefined;
  // The site lives on the link that it has.
  const after =
    ending && isRenewal
      ? `The site still works, but if ${name} restarts, it may find no bundle.`
      : staysText(run);
  const link = isRenewal ? 'the fresh link' : 'it';
  switch (ending?.kind) {
    case 'refused': {
      if (ending.moved) return [movedText(name, ending.moved), after];
      return [`${name} rejected ${link}. ${reasonText(ending.text)}`, after];
    }
    case 'gaveUp': {
      const missed = keepsEarlier(run) ? "I didn't deploy it again" : "it isn't there";
      const so = isRenewal ? "it didn't get the link" : missed;
      return [`I couldn't reach ${name} for an hour, so ${so}.`, after];
    }
    case 'noLink': {
      const noKey = `${projectMissingText(run)}, so I have no key for the platform. Ask your Docket admins.`;
      const why = ending.why === 'project' ? noKey : platformReasonText(ending.reason);
      return [`I couldn't get a link to the bundle. ${why}`, after];
    }
    case 'permission':
      return [`You can't deploy here any more. Ask ${sanitizeUserText(ending.contacts, 200)}.`, after];
    case 'missing': {
      const isUnclear = ending.mayBeSent && !isRenewal;
      const so = isUnclear
        ? `I can't tell whether it got this export`
        : `I couldn't send it ${isRenewal ? 'a fresh link' : 'this export'}`;
      return [`My settings no longer have ${name}, so ${so}. Ask your Docket admins.`, after];
    }
    case 'restored':
      return [
        `My data were restored from a backup. ${name} may have a newer export, so I don't send ${isRenewal ? 'a fresh link' : 'this one'}.`,
      ];
    case 'broken':
      return ['Something broke on my side.', after];
  }
  if (outcome?.state === 'failed') return [`${reasonText(outcome.message)}`, after];
  if (workflow?.unclear !== undefined)
    return [`GitHub doesn't let me read its run. ${reasonText(workflow.unclear)}`];
  const word = sanitizeUserText(workflow?.conclusion ?? '', 40).replaceAll('_', ' ');
  return [word === 'failure' ? '' : `Its result: ${word}.`];
}

const movedText = (name: string, { what, to }: { what: string; to: string }) =>
  `The ${what} of ${name} has moved${to && ` to ${sanitizeUserText(to, 200)}`}, so your Docket admins have to change it in my settings.`;

const reasonText = (text = '') => {
  const reason = sanitizeUserText(text, 300);
  return reason === '' ? 'It gave no reason.' : `It said: "${reason}"`;
};

export const questionMessage = (run: UpdateRun): Message =>
  layout({
    icon: '❔',
    mention: [run.by],
    lines: [
      [{ bold: `Did the workflow for ${nameOf(run)} start?` }, ` · ${site(run)}`],
      'GitHub gave no clear answer. Look at its Actions first.',
    ],
    small: [`Requested by ${personName(run.by.name)}`],
    buttons: [
      { ...buttonOf(run, LABELS.watchIt, deploymentActions.ran), style: 'primary' },
      {
        ...buttonOf(run, LABELS.startAnyway, deploymentActions.startAnyway),
        confirm: confirmStart(`the workflow runs twice`),
      },
      buttonOf(run, LABELS.dontStart, deploymentActions.leave),
    ],
  });

export function answeredMessage(run: UpdateRun, { action, by }: NonNullable<UpdateRun['answer']>): Message {
  const unclear = `It was unclear whether the workflow for ${nameOf(run)} had started.`;
  const texts = {
    newer: `It doesn't matter any more: ${run.newer?.label ?? 'another export'} was sent later.`,
    watchIt: `It had: ${personName(by.name)} found it.`,
    startAgain: `${personName(by.name)} started it anyway.`,
    leave: `${personName(by.name)} chose not to start it again.`,
    late: "It had: GitHub's answer came late.",
  };
  return message([`${unclear} ${texts[action]}`]);
}

/** To a person who clicked in a form, or under an export whose deployment is shown in another place. */
export const startedMessage = (run: UpdateRun, elsewhere = false): Message =>
  message([
    [
      `Deploying ${site(run)} to ${nameOf(run)}: see the thread `,
      ...(elsewhere ? ['in ', { channel: run.asked.channel }, '.'] : ['of this export.']),
    ],
  ]);

/** To a person who clicks [Deploy to …] after the deployment got the export, or may have got it. */
export const alreadyNotifiedMessage = (run: UpdateRun, elsewhere = false): Message => {
  // The fact may be a question.
  const see = `${run.state === 'unknown' ? '' : '.'} See the thread of ${cut(singleLine(site(run)), 100)}`;
  const where: Part[] = elsewhere ? [' in ', { channel: run.asked.channel }, '.'] : ['.'];
  return message(
    [[...updateLine(run).slice(1), see, ...where]],
    run.state === 'unknown' ? [] : [deployAgain(run)],
  );
};

/** What a form says before an older export takes the place of a newer one. */
export const goBackText = (run: UpdateRun, newer: NonNullable<UpdateRun['newer']>) =>
  message([
    [
      `${nameOf(run)} may have `,
      { bold: newer.label },
      ` now, which was asked for later than ${site(run)}. Going back replaces it.`,
    ],
  ]);

import type { KnownBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import { deployRows } from '../../jobs/deployment/view.ts';
import { earlierAttemptMessage, site, unchangedProgressMessage } from '../../jobs/export/progress-view.ts';
import {
  advance,
  type ExportRun,
  exportActions,
  exportKind,
  exportRun,
  exportTransitions,
  isMentioned,
  latestLink,
  linkActions,
  MAX_WATCHERS,
  newExportRun,
  type RunButton,
  relink,
  runButton,
} from '../../jobs/export/record.ts';
import { exportSchedule } from '../../jobs/export-schedule/record.ts';
import { answerOf } from '../../jobs/operation/record.ts';
import type { Person } from '../../jobs/shared/origin.ts';
import { readTypedJob } from '../../jobs/shared/typed-job.ts';
import { type Message, message, moment, type Part, preformatted } from '../../slack/blocks.ts';
import { formView, reportView, textField } from '../../slack/modals.ts';
import { idOf } from '../../store/keys.ts';
import { type Caller, type CommandTools, handledMessage, retryStale } from '../intake.ts';
import { defineButton, defineModal } from '../registry.ts';
import { exportModalView } from './modal.ts';
import { acceptExport, findExportJob, findRunOfJob } from './start.ts';

/** What a click on a run's button does: `stale` if the run changed since it was loaded. */
type Click = (
  run: ExportRun,
  button: RunButton,
  caller: Caller,
  tools: CommandTools,
) => Promise<Message | 'stale' | undefined>;

/** Loads the run of a button and applies the click. Rejects with `UserFacingError` if this person may not see it. */
const clickRun = (button: RunButton, caller: Caller, tools: CommandTools, click: Click) =>
  retryStale('export', async () => click(await loadExport(button, caller, tools), button, caller, tools));

const defineRunButton = (action: string, click: Click) =>
  defineButton({
    action,
    may: 'export',
    value: runButton,
    run: (button, caller, tools) => clickRun(button, caller, tools, click),
  });

const loadExport = ({ run, domain }: RunButton, caller: Caller, { intake }: CommandTools) =>
  intake.loadVisible(run, exportKind, caller, notFoundMessage(domain));

function notFoundMessage(domain: string): Message {
  const toType = domain === '' ? [] : [' To start a new one, type ', { code: `/docs-export ${domain}` }, '.'];
  return message([['I no longer remember this export.', ...toType]]);
}

type TransitionName = keyof typeof exportTransitions;

const toTransition =
  (name: TransitionName): Click =>
  async (run, { attempt, resumed }, caller, tools) => {
    const isCurrent = attempt === run.attempt && (forAttempt.includes(name) || resumed === run.resumed);
    const next = isCurrent ? exportTransitions[name](run, caller.user, tools.now()) : undefined;
    if (next === undefined) return unchangedMessage(name, run, attempt, caller);
    // Only a start blocks other identical ones, and counts toward the quotas.
    if (next.state === 'postingCard') {
      const reply = await acceptExport('resume', next, caller, tools);
      if (reply !== undefined) return reply;
    } else if ((await tools.intake.resume(next, caller)).kind === 'stale') return 'stale';
    await tools.audit({ subject: site(run), job: run.jobId, result: 'accepted' });
    return name === 'notify' ? willMention(run, caller.user) : undefined;
  };

/** The buttons that apply to a start even if its watch was resumed later. */
const forAttempt: readonly TransitionName[] = ['refresh', 'notify'];

/** Why a click changed nothing; undefined if the wanted state is there already. */
function unchangedMessage(name: TransitionName, run: ExportRun, attempt: number, caller: Caller) {
  if (forAttempt.includes(name)) {
    if (attempt !== run.attempt) return earlierAttemptMessage;
    if (name === 'notify' && run.state !== 'ended')
      return isMentioned(run, caller.user.id) ? willMention(run, caller.user) : mentionsFull;
    return run.state === 'bundling' ? linkBeingMade : unchangedProgressMessage(run);
  }
  if (name === 'newLink' && run.state === 'bundling') return linkBeingMade;
  return handledByMessage(run, attempt, caller);
}

const DID = {
  leave: 'chose not to start it again',
  startAgain: 'started it anyway',
  watchIt: 'found it',
  newer: '',
};

/** The first click on the question of this attempt counts. */
function handledByMessage({ answer }: ExportRun, attempt: number, { user }: Caller): Message | undefined {
  if (answer?.attempt !== attempt || answer.action === 'late') return handledMessage(undefined, user.id);
  return handledMessage({ ...answer.by, did: DID[answer.action] }, user.id);
}

const willMention = ({ by }: ExportRun, { id }: Person) =>
  message([by.id === id ? "You'll be mentioned anyway." : "I'll mention you when it ends."]);

const mentionsFull = message([
  `${MAX_WATCHERS} more people are already mentioned when it ends, which is the limit. Look in this thread then.`,
]);

const linkBeingMade = message(["I'm making a link right now. Click again in a moment."]);

/** A link for one person, if the thread has none: a run makes it, and sends it by direct message. */
const ownLinkButton = defineRunButton(exportActions.ownLink, async (run, { attempt }, caller, tools) => {
  if (run.state === 'bundling') return linkBeingMade;
  if (run.ending?.kind !== 'done') return handledByMessage(run, attempt, caller);
  const { expired, privately, refusal } = run.ending;
  const wasSent = privately && !expired && refusal === undefined;
  if (run.by.id === caller.user.id && wasSent) return linkSentMessage(run);
  const request = { ...caller, channel: { id: '', name: '' } };
  const link: ExportRun = {
    ...newExportRun(run, request, { links: 'requester', now: tools.now }),
    job: 'link',
    people: [],
    state: 'bundling',
    claim: idOf('link', run.id, caller.user.id),
    siteDomain: run.siteDomain,
  };
  const acceptance = await tools.intake.start(link, caller);
  if (acceptance.kind !== 'claimed') return linkOnItsWay;
  const own = await tools.intake.loadKnown(acceptance.by, exportRun, caller);
  return own?.state === 'ended' ? linkSentMessage(own) : linkOnItsWay;
});

const linkOnItsWay = message(['Your own link is on its way, by direct message.']);

function linkSentMessage({ ending }: ExportRun): Message {
  const time = ending?.kind === 'done' ? ending.linkEndsAtMs : undefined;
  const until = time === undefined ? [] : [', and it works until ', moment(time)];
  return message([['I already sent you a link', ...until, ': see your direct messages with me.']]);
}

/** The value of a link's buttons: the number of the link that they were shown for. */
export const linkButton = z.object({ v: z.literal(1), run: z.string(), made: z.number().int() });

/** [New link] in a direct message. A second click finds the link in progress. */
const newOwnLinkButton = defineButton({
  action: linkActions.again,
  may: 'export',
  value: linkButton,
  run: ({ run: runId, made }, caller, tools) =>
    retryStale('link', async () => {
      const run = await tools.intake.loadVisible(runId, exportKind, caller, notFoundMessage(''));
      if (run.state !== 'ended') return undefined;
      if (run.relinked + 1 !== made) return newerLinkExists;
      const acceptance = await tools.intake.resume(relink(run, tools.now()), caller, { claims: true });
      if (acceptance.kind === 'claimed') return newerLinkExists;
      return acceptance.kind === 'stale' ? 'stale' : undefined;
    }),
});

const newerLinkExists = message([
  'You already asked for a newer link: see the latest message about it here.',
]);

const WATCH_MODAL = 'export.watch';

/** A click to name the job of a start, while the question that the button was shown for is open. */
const whileOpen =
  (click: Click): Click =>
  async (run, button, caller, tools) => {
    const { schedule: id, state, attempt, domain } = run;
    if (state !== 'unknown' || attempt !== button.attempt)
      return handledByMessage(run, button.attempt, caller);
    // A schedule updates its deployments to the job that this person names.
    const schedule = id === undefined ? undefined : await tools.intake.loadKnown(id, exportSchedule, caller);
    if (schedule && schedule.deployments.length > 0) await tools.requirePermission('deploy', domain);
    return click(run, button, caller, tools);
  };

/** [It started: watch it]: slash commands do not work in threads, so a form asks for the id. */
const watchItButton = defineRunButton(
  exportActions.watchIt,
  whileOpen((run, button, caller, tools) => tools.openModal(caller, watchView(run), button)),
);

export const watchView = (run: ExportRun) =>
  formView({
    title: 'Watch the export',
    submit: 'Watch it',
    callback: WATCH_MODAL,
    intro: message([`Which export of ${site(run)} did you find in the platform's dashboard?`]),
    fields: [
      textField({
        block: 'job',
        label: 'Job ID',
        hint: "Paste the ID, or the address of the export's page in the dashboard.",
      }),
    ],
  });

/** The export continues with the job that the person entered. */
export const watchModal = defineModal({
  callbackId: WATCH_MODAL,
  may: 'export',
  about: runButton,

  async submit(values, caller, tools, { about: button }) {
    const { project } = await loadExport(button, caller, tools);
    const read = await findExportJob(readTypedJob(values.job ?? ''), project, caller, tools);
    return 'problem' in read
      ? { kind: 'problems', problems: { job: read.problem } }
      : { kind: 'closed', answer: await clickRun(button, caller, tools, toWatch(read.job.id)) };
  },
});

const toWatch = (jobId: string) =>
  whileOpen(async (run, _button, caller, tools) => {
    const { reply } = await findRunOfJob({ project: run.project, jobId, own: run }, caller, tools);
    if (reply !== undefined) return reply;
    // The start was unknown and a person found its job.
    const known = { jobId, startedAtMs: run.attemptAtMs, unknownJobId: undefined, pollFailure: undefined };
    const watched = advance(run, { state: 'watching', ...known }, tools.now());
    const next = { ...watched, answer: answerOf(run, caller.user, 'watchIt') };
    if ((await tools.intake.resume(next, caller)).kind === 'stale') return 'stale';
    await tools.audit({ subject: site(run), job: jobId, result: 'accepted' });
    return undefined;
  });

/** [Start another]: the form, filled in as it was for this export. */
const anotherButton = defineRunButton(exportActions.another, async (run, _button, caller, tools) =>
  tools.openModal(caller, exportModalView(run, caller, tools)),
);

/** The values for a self-hosted deployment. The form has the link, so only people with the link may open it. */
const valuesButton = defineRunButton(exportActions.settings, async (run, _button, caller, tools) => {
  const done = latestLink(run);
  if (done?.privately && run.by.id !== caller.user.id)
    return message(['This link went to somebody else. Choose [Get my own link] in the thread.']);
  const url = done && (await tools.loadLink(done.link));
  if (url === undefined) return noLink;
  const { deployments = [] } = tools.projects.find(({ name }) => name === run.project) ?? {};
  const mayUpdate = deployments.length > 0 && (await tools.hasPermission('deploy'));
  const names = mayUpdate ? deployments.map(({ name }) => name) : [];
  await tools.openModal(caller, settingsView(run, url, done?.linkEndsAtMs, names));
  await tools.audit({ subject: site(run), job: run.jobId, result: 'shown' });
  return undefined;
});

const noLink = message([
  'The Helm values need a working link, and this export has none right now. Choose [New link], then open them again.',
]);

/** The `staticExport` section, ready to copy, the deployments that this person may update, and the features of each setup. */
export function settingsView(
  run: ExportRun,
  bundleUrl: string,
  endsAtMs: number | undefined,
  deployments: readonly string[] = [],
): ModalView {
  // In quotes: YAML 1.1 readers misread labels such as 2026-09-01, yes or 1_000.
  const version = run.version === undefined ? '' : `\n  version: ${JSON.stringify(run.version)}`;
  const section = `staticExport:\n  enabled: true\n  bundleUrl: ${JSON.stringify(bundleUrl)}${version}`;
  const loads = 'The deployment loads the bundle when it starts';
  const life: Part[] =
    endsAtMs === undefined ? [`${loads}.`] : [`${loads}; the link works until `, moment(endsAtMs), '.'];
  const end = endsAtMs === undefined ? 'Once its link expires' : 'After that';
  const blocks: KnownBlock[] = [
    ...message([
      [{ bold: `For a site that you host: ${site(run)}` }],
      [...life, ` ${end}, a pod that restarts finds no bundle.`],
      'Copy the bundle to your own storage first, and put its address there into bundleUrl.',
    ]).blocks,
    preformatted(section),
    ...(deployments.length === 0
      ? []
      : [...message(['Or let me send it:']).blocks, ...deployRows(run, deployments)]),
    ...message([[{ bold: 'What works where' }], ...features]).blocks,
  ];
  return reportView('Helm values', blocks);
}

/** From the platform's description of static exports; a table is wider than a phone. */
const features: Part[][] = [
  [{ bold: 'Cloud' }, ': everything works.'],
  [
    { bold: 'Client-hosted' },
    ': documentation search, AI assistant and web analytics are configurable; the rest works.',
  ],
  [
    { bold: 'Air-gapped' },
    ': no documentation search, AI assistant or web analytics; the API playground is configurable; static export bundles work.',
  ],
];

/** All buttons of a run. */
export const runButtons = [
  ...(Object.keys(exportTransitions) as TransitionName[]).map((name) =>
    defineRunButton(exportActions[name], toTransition(name)),
  ),
  ownLinkButton,
  newOwnLinkButton,
  watchItButton,
  anotherButton,
  valuesButton,
];

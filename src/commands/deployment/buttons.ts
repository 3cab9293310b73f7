import { updateSubject } from '../../jobs/deployment/feature.ts';
import {
  attemptName,
  deployButton,
  deploymentActions,
  goBackForm,
  hadIn,
  latestAlias,
  mayTake,
  moreButton,
  newUpdate,
  recheck,
  takenAlias,
  type UpdateRun,
  updateActions,
  updateButton,
  updateKind,
  updateOf,
  updateRun,
  updateTransitions,
} from '../../jobs/deployment/record.ts';
import {
  alreadyNotifiedMessage,
  answeredMessage,
  deployRows,
  goBackText,
  labelOf,
  startedMessage,
} from '../../jobs/deployment/view.ts';
import { site } from '../../jobs/export/progress-view.ts';
import { type ExportRun, exportKind, latestLink } from '../../jobs/export/record.ts';
import { rootKey } from '../../jobs/export/view.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { formView, reportView } from '../../slack/modals.ts';
import { type Caller, type CommandTools, handledMessage, retryStale } from '../intake.ts';
import { defineButton, defineModal, type Registry } from '../registry.ts';

const notFound = message(['I no longer remember this export.']);

const notDone = message(["This export has no bundle yet. Click again when it's done."]);

const notConfigured = message(['My settings no longer have this deployment. Ask your Docket admins.']);

/** [Deploy to …] under an export: updates a deployment to the export. */
const update = (action: string) =>
  defineButton({
    action,
    may: 'deploy',
    value: deployButton,
    async run({ run: runId, deployment }, caller, tools) {
      const run = await tools.intake.loadVisible(runId, exportKind, caller, notFound);
      const { asked, inDirectMessage } = run;
      if (run.jobId === undefined || latestLink(run) === undefined) return notDone;
      const targets = tools.projects.find(({ name }) => name === run.project)?.deployments ?? [];
      if (!targets.some(({ name }) => name === deployment)) return notConfigured;
      const by = { id: caller.user.id, name: caller.user.name };
      const place = { under: rootKey(run), asked, inDirectMessage };
      const wanted = newUpdate(run, { deployment, ...place, by }, tools.now());
      if ((await tools.intake.start(wanted, caller)).kind !== 'repeated')
        return started(wanted, caller, tools);
      const known = await tools.intake.loadKnown(wanted.id, updateRun, caller);
      if (known === undefined) return notFound;
      // A schedule or another thread shows it in its own channel.
      const isElsewhere = known.under !== place.under;
      const { state, notifiedAtMs, newer } = known;
      const isThere = state !== 'ended' && notifiedAtMs !== undefined && newer === undefined;
      // An open question has its own button, which warns.
      if (isThere || state === 'unknown') return alreadyNotifiedMessage(known, isElsewhere);
      const changed = await change(known.id, {}, caller, tools, 'again');
      if ('asks' in changed) return askFirst(changed.asks, caller, tools);
      return changed.answer ?? (isElsewhere ? startedMessage(known, isElsewhere) : undefined);
    },
  });

/** [More deployments]: a form with all. */
const more = defineButton({
  action: deploymentActions.more,
  may: 'deploy',
  value: moreButton,
  async run({ run: id }, caller, tools) {
    const run = await tools.intake.loadVisible(id, exportKind, caller, notFound);
    const { deployments = [] } = tools.projects.find(({ name }) => name === run.project) ?? {};
    await tools.openModal(
      caller,
      moreView(
        run,
        deployments.map(({ name }) => name),
      ),
    );
    return undefined;
  },
});

export const moreView = (run: ExportRun, deployments: readonly string[]) =>
  reportView('Deploy', [...message([[{ bold: site(run) }]]).blocks, ...deployRows(run, deployments)]);

/** Records an accepted click. In a modal, nothing else shows its effect, so the person gets a message. */
async function started(
  run: UpdateRun,
  { modalId }: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  await tools.audit({ subject: updateSubject(run), job: run.jobId, result: 'accepted' });
  if (modalId === undefined) return undefined;
  const isAnswer = run.answer && run.state !== 'accepted';
  return isAnswer && run.answer ? answeredMessage(run, run.answer) : startedMessage(run);
}

/** Returns an attempt at another export that was asked for later, if the deployment may have it or get it. */
const findNewer = (run: UpdateRun, caller: Caller, tools: CommandTools): Promise<UpdateRun['newer']> =>
  tools.intake.read(caller, async ({ runs }) => {
    const [latest, taken] = await Promise.all([latestAlias, takenAlias].map((of) => runs.byAlias(of(run))));
    const had = hadIn(taken);
    const load = async (attempt = '') => (await runs.loadAll([updateOf(attempt)], updateRun))[0];
    const found: NonNullable<UpdateRun['newer']>[] = [];
    const before = (await load(latest))?.overtakes;
    for (const attempt of new Set([latest, before, had])) {
      // A version that was replaced before stays the older one.
      const isNewer = run.newer !== undefined || (attempt ?? '') > attemptName(run);
      if (attempt === undefined || updateOf(attempt) === run.id || !isNewer) continue;
      const other = await load(attempt);
      const isPossible = attempt === before ? other?.state === 'unknown' : other && mayTake(other);
      if (other && (attempt === had || isPossible)) found.push({ attempt, label: labelOf(other) });
    }
    // While one is on its way, the deployment has another.
    return found[0] && { ...found[0], label: found.map(({ label }) => label).join(' or ') };
  });

/** The effect of a click: an answer, or a form that asks first, because a newer export would be replaced. */
type Changed =
  | { answer: Message | undefined }
  | { asks: { run: UpdateRun; newer: NonNullable<UpdateRun['newer']> } };

/**
 * Applies a click to an update. `attempt` is the one that the button was shown for. A newer export is replaced only if the
 * form named it (`over`).
 */
const change = (
  id: string,
  { attempt, over }: { attempt?: number; over?: string },
  caller: Caller,
  tools: CommandTools,
  name: keyof typeof updateTransitions,
): Promise<Changed> =>
  retryStale<Changed>('deployment', async () => {
    const run = await tools.intake.loadVisible(id, updateKind, caller, notFound);
    const isCurrent = attempt === undefined || attempt === run.attempt;
    const next = isCurrent ? updateTransitions[name](run, caller.user, tools.now()) : undefined;
    const newer = isCurrent && (!next || name === 'again') && (await findNewer(run, caller, tools));
    if (newer && newer.attempt !== over) return { asks: { run, newer } };
    if (next === undefined) return { answer: handledMessage(undefined, caller.user.id) };
    if ((await tools.intake.resume(next, caller)).kind === 'stale') return 'stale';
    return { answer: await started(next, caller, tools) };
  });

type Asks = Extract<Changed, { asks: unknown }>['asks'];

const subjectOf = ({ run, newer }: Asks) => ({
  v: 1 as const,
  update: run.id,
  attempt: run.attempt,
  over: newer.attempt,
});

const askFirst = (asks: Asks, caller: Caller, tools: CommandTools) =>
  tools.openModal(caller, goBackView(asks), subjectOf(asks));

const GO_BACK_MODAL = 'deployment.go_back_form';

/** Names what the deployment has now. */
export const goBackView = ({ run, newer }: Asks) =>
  formView({
    title: 'Go back?',
    submit: 'Go back',
    callback: GO_BACK_MODAL,
    intro: goBackText(run, newer),
    fields: [],
  });

const goBackModal = defineModal({
  callbackId: GO_BACK_MODAL,
  may: 'deploy',
  about: goBackForm,

  async submit(_values, caller, tools, { about: { update: id, ...about } }) {
    const changed = await change(id, about, caller, tools, 'again');
    if (!('asks' in changed)) return { kind: 'closed', answer: changed.answer };
    return { kind: 'view', view: goBackView(changed.asks), about: subjectOf(changed.asks) };
  },
});

/** A button that changes the update by `name`. */
const changeBy = (action: string, name: keyof typeof updateTransitions) =>
  defineButton({
    action,
    may: 'deploy',
    value: updateButton,
    async run({ update: id, attempt }, caller, tools) {
      const changed = await change(id, { attempt }, caller, tools, name);
      return 'asks' in changed ? askFirst(changed.asks, caller, tools) : changed.answer;
    },
  });

/** [Check now], and [Open run], whose click says that somebody looks at the run. */
const check = (action: string) =>
  defineButton({
    action,
    may: 'status',
    value: updateButton,
    run: ({ update: id, attempt }, caller, tools) =>
      retryStale('update', async () => {
        const run = await tools.intake.loadVisible(id, updateKind, caller, notFound);
        const next = attempt === run.attempt ? recheck(run, tools.now()) : undefined;
        return next && (await tools.intake.resume(next, caller)).kind === 'stale' ? 'stale' : undefined;
      }),
  });

export const deploymentCommands = {
  buttons: [
    ...updateActions.map(update),
    more,
    ...[deploymentActions.check, deploymentActions.openRun].map(check),
    ...(['again', 'redeploy', 'startAnyway', 'goBack'] as const).map((name) =>
      changeBy(deploymentActions[name], 'again'),
    ),
    changeBy(deploymentActions.ran, 'ran'),
    changeBy(deploymentActions.leave, 'leave'),
  ],
  urlActions: [deploymentActions.openSite],
  modals: [goBackModal],
} satisfies Partial<Registry>;

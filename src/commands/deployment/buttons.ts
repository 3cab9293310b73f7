import { updateSubject } from '../../jobs/deployment/feature.ts';
import {
  advance,
  deployButton,
  deploymentActions,
  endUpdate,
  newUpdate,
  restart,
  type UpdateRun,
  updateActions,
  updateButton,
  updateKind,
  updateRun,
} from '../../jobs/deployment/record.ts';
import { alreadyNotifiedMessage, startedMessage } from '../../jobs/deployment/view.ts';
import { exportKind, latestLink } from '../../jobs/export/record.ts';
import { rootKey } from '../../jobs/export/view.ts';
import type { Person } from '../../jobs/visibility.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { type Caller, type CommandTools, handledMessage, retryStale } from '../intake.ts';
import { defineButton, type Registry } from '../registry.ts';

const notFound = message(['I no longer remember this export.']);

const notDone = message(['This export has no bundle yet. Click again when it is done.']);

const notConfigured = message(['My settings no longer have this deployment. Ask the people who run Docket.']);

/** [Update …] under an export: updates a deployment to the export. */
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
      // An open question has its own [Update again], which warns.
      if (known?.state === 'notified' || known?.state === 'unknown') return alreadyNotifiedMessage(known);
      return change(wanted.id, undefined, caller, tools, (update, by, nowMs) =>
        update.state === 'ended' ? restart(update, by, nowMs) : undefined,
      );
    },
  });

/** Records an accepted click. In a modal, nothing else shows that the update began, so the person gets a message. */
async function started(
  run: UpdateRun,
  { modalId }: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  await tools.audit({ subject: updateSubject(run), job: run.jobId, result: 'accepted' });
  return modalId === undefined ? undefined : startedMessage(run);
}

type Change = (run: UpdateRun, by: Person, nowMs: number) => UpdateRun | undefined;

const isOpen = ({ state }: UpdateRun) => state === 'unknown';

const answered = (run: UpdateRun, { attempt }: UpdateRun, by: Person, action: 'ran' | 'again' | 'leave') => ({
  ...run,
  answer: { attempt, by: { id: by.id, name: by.name }, action },
});

/** What each button does. Returns undefined if the update has changed since the button was shown. */
export const changes = {
  again: (run, by, nowMs) => {
    const next = restart(run, by, nowMs);
    if (isOpen(run)) return answered(next, run, by, 'again');
    return run.state === 'notified' || run.state === 'ended' ? next : undefined;
  },
  ran: (run, by, nowMs) => {
    if (!isOpen(run)) return undefined;
    return answered(advance(run, { state: 'notified', notifiedAtMs: nowMs }, nowMs), run, by, 'ran');
  },
  leave: (run, by, nowMs) =>
    isOpen(run) ? answered(endUpdate(run, { kind: 'left' }, nowMs), run, by, 'leave') : undefined,
} satisfies Record<string, Change>;

/** Applies a click to an update. `attempt` is the one that the button was shown for. */
const change = (
  id: string,
  attempt: number | undefined,
  caller: Caller,
  tools: CommandTools,
  apply: Change,
): Promise<Message | undefined> =>
  retryStale('update', async () => {
    const run = await tools.intake.loadVisible(id, updateKind, caller, notFound);
    const isCurrent = attempt === undefined || attempt === run.attempt;
    const next = isCurrent ? apply(run, caller.user, tools.now()) : undefined;
    if (next === undefined) return handledMessage(undefined, caller.user.id);
    if ((await tools.intake.resume(next, caller)).kind === 'stale') return 'stale';
    return started(next, caller, tools);
  });

export const deploymentCommands = {
  buttons: [
    ...updateActions.map(update),
    ...(Object.keys(changes) as (keyof typeof changes)[]).map((name) =>
      defineButton({
        action: deploymentActions[name],
        may: 'deploy',
        value: updateButton,
        run: ({ update: id, attempt }, caller, tools) => change(id, attempt, caller, tools, changes[name]),
      }),
    ),
  ],
  urlActions: [deploymentActions.openRun],
} satisfies Partial<Registry>;

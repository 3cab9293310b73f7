import { exportActions, type RunButton, runButton } from '../../jobs/export/buttons.ts';
import { site } from '../../jobs/export/phrases.ts';
import { type ExportRun, exportKind, exportRun, jobAlias } from '../../jobs/export/record.ts';
import { adoptJobId } from '../../jobs/export/transitions.ts';
import { parseJson } from '../../runtime/json.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { formView, textField } from '../../slack/modals.ts';
import { retryStale } from '../clicks.ts';
import { findExportJob, readJobField } from '../job-ids.ts';
import { defineButton, type Modal, type SubmitResult } from '../registry.ts';
import type { Caller, CommandTools } from '../tools.ts';
import { handledByMessage, notFoundMessage, notVisible } from './buttons.ts';
import { alreadyRunningReply } from './start.ts';

const CALLBACK_ID = 'export.watch';

/** [It's there: watch it]: slash commands do not work in threads, so a modal asks for the id. */
export const watchItButton = defineButton({
  action: exportActions.watchIt,
  may: 'export',
  value: runButton,
  async run(button, caller, tools) {
    const found = await loadUnclear(button, caller, tools);
    if (found.kind === 'message') return found.message;
    await tools.openModal(caller, watchView(found.run), JSON.stringify(button));
    return undefined;
  },
});

export const watchView = (run: ExportRun) =>
  formView({
    title: 'Watch the export',
    submit: 'Watch it',
    callback: CALLBACK_ID,
    intro: message([[`The export of ${site(run)} that you found in the platform's dashboard.`]]),
    fields: [
      textField({
        block: 'job',
        label: 'Job ID',
        hint: "Paste the ID, or the address of the export's page in the dashboard.",
      }),
    ],
  });

/** The export continues with the job that the person entered. */
export const watchModal: Modal = {
  callbackId: CALLBACK_ID,
  may: 'export',

  async submit(values, caller, tools, details) {
    const button = runButton.safeParse(parseJson(details.about));
    if (!button.success) return { kind: 'message', message: notFoundMessage('') };
    const found = await loadUnclear(button.data, caller, tools);
    const read = await readJobField(values.job ?? '', (typed) =>
      findExportJob(typed, found.run?.project, caller, tools),
    );
    if ('problem' in read) return { kind: 'problems', problems: { job: read.problem } };
    const refusal = await retryStale('export', () => watch(button.data, read.job.id, caller, tools));
    return refusal === undefined
      ? { kind: 'closed' }
      : ({ kind: 'message', message: refusal } satisfies SubmitResult);
  },
};

async function watch(
  button: RunButton,
  jobId: string,
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined | 'stale'> {
  const found = await loadUnclear(button, caller, tools);
  // A second submit with the same id succeeds; with another id, the reply says that it is too late.
  if (found.kind === 'message') return found.message ?? (found.run?.jobId === jobId ? undefined : tooLate);
  const { run } = found;
  // The entered job may belong to another export.
  const watched = await tools.intake.byAlias(jobAlias(caller.teamId, run.project, jobId), caller);
  if (watched !== undefined && watched !== run.id) {
    const other = await tools.intake.loadKnown(watched, exportRun, caller);
    if (other !== undefined && other.state !== 'ended')
      return alreadyRunningReply(watched, site(run), caller, tools);
  }
  const next = adoptJobId(run, jobId, caller.user, tools.now());
  if (next === undefined) return 'stale';
  const acceptance = await tools.intake.resume(next, caller, false);
  if (acceptance.kind === 'stale') return 'stale';
  await tools.audit({ subject: site(run), job: jobId, result: 'accepted' });
  return undefined;
}

const tooLate = message([['You already answered this: see the latest message in this thread.']]);

/** Returns the run of a button while its question is open, and if this person may see it. */
async function loadUnclear(
  { run: id, attempt, domain }: RunButton,
  caller: Caller,
  tools: CommandTools,
): Promise<
  { kind: 'run'; run: ExportRun } | { kind: 'message'; message: Message | undefined; run?: ExportRun }
> {
  const found = await tools.intake.loadVisible(id, exportKind, caller);
  if (found.kind !== 'found')
    return { kind: 'message', message: found.kind === 'notFound' ? notFoundMessage(domain) : notVisible };
  const { run } = found;
  if (run.state === 'unknown' && run.attempt === attempt) return { kind: 'run', run };
  return { kind: 'message', message: handledByMessage(run, attempt, caller), run };
}

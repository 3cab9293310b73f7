import { z } from 'zod';
import { runningExports } from '../../jobs/export/feature.ts';
import { exportActions, exportRun, linkActions } from '../../jobs/export/record.ts';
import { exportScheduleActions } from '../../jobs/export-schedule/record.ts';
import { requestRunId } from '../../jobs/shared/origin.ts';
import { useDomain } from '../../jobs/shared/target.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { defineCommand, invalid, jobIdArg, optional, projectFlag, subcommand } from '../command.ts';
import type { Caller, CommandTools } from '../intake.ts';
import { defineButton, type Registry } from '../registry.ts';
import { exportFlags } from './args.ts';
import { runButtons, watchModal } from './buttons.ts';
import { exportModal, exportModalView } from './modal.ts';
import { exportScheduleButtons, exportScheduleCommand, exportScheduleModal } from './schedule.ts';
import {
  type ExportRequest,
  findExportJob,
  resolveRequest,
  startExport,
  watchExample,
  watchExport,
} from './start.ts';

/** More running exports do not help; the rest is counted. */
const MAX_LINES = 15;

const startExample = '/docs-export docs.acme.com';

export const exportCommand = defineCommand({
  name: '/docs-export',
  may: 'export',
  note: 'Everybody who can read a thread can use a link in it, guests included. With --private it goes to you alone.',
  subcommands: [
    subcommand({
      args: { domain: optional('token', '[domain]') },
      flags: exportFlags,
      summary: 'Export a site',
      example: startExample,
      tooManyArgs: (_typed, flags) =>
        flags.has('version')
          ? [
              'Type one domain, and quotes around a version of several words: ',
              { code: `--version ${exportFlags.version.example}` },
            ]
          : [
              'Type one domain, and two dashes before each option, such as ',
              { code: '/docs-export docs.acme.com --private' },
              '.',
            ],
      run: (flags, ...request) => start({ ...flags, privately: flags.private }, ...request),
    }),
    subcommand({
      verb: 'watch',
      args: {
        jobId: jobIdArg(
          '<job id>',
          watchExample,
          invalid('Which export? Type its job ID, such as ', { code: watchExample }, '.'),
        ),
      },
      flags: { project: projectFlag },
      summary: 'Watch an export that was started elsewhere',
      example: watchExample,
      async run({ jobId, project }, caller, tools) {
        const found = await findExportJob(jobId, project, caller, tools);
        if ('problem' in found) return message([found.problem]);
        return watchExport(found.job.id, project ?? found.job.project, caller, tools);
      },
    }),
    subcommand({
      verb: 'status',
      summary: 'List running exports',
      example: '/docs-export status',
      run: (_input, caller, tools) => exportStatus(caller, tools),
    }),
    exportScheduleCommand,
    ...['cancel', 'stop'].map((verb) =>
      subcommand({
        verb,
        hidden: true,
        args: { which: optional('text', '[job id]') },
        summary: 'Cancel an export',
        example: `/docs-export ${verb}`,
        run: async () => noCancelMessage,
      }),
    ),
  ],
});

const noCancelMessage = message(["Exports can't be cancelled once started; an unwanted one does no harm."]);

/** [Export a site]: opens a modal for all options. */
const exportSiteButton = defineButton({
  action: exportActions.ask,
  may: 'export',
  value: z.object({ v: z.literal(1) }),
  run: (_value, caller, tools) => tools.openModal(caller, exportModalView({}, caller, tools)),
});

/**
 * The buttons under an unclear domain, the choices under an unknown one, [Export …] under a mention, and [Start another]
 * for a person whose export is already running.
 */
const domainButtons = (['useDomain', 'useTyped', 'startAnother'] as const).map((name) =>
  defineButton({
    action: exportActions[name],
    may: 'export',
    value: useDomain,
    closesQuestion: 'remove',
    async run({ request, chosen, ...wanted }, caller, tools) {
      const another = name === 'startAnother';
      const first = { ...caller, requestId: `${request} ${another ? 'another' : 'use'}` };
      // [Export it] stays: after a double click, a click is a new request, which the claim of a running export stops.
      const known = another
        ? undefined
        : await tools.intake.loadKnown(requestRunId(first), exportRun, caller);
      const isNew = known !== undefined && known.state !== 'accepted' && known.state !== 'postingCard';
      const isSure = another || chosen === true;
      return start(wanted, isNew ? caller : first, tools, { isSure, another });
    },
  }),
);

/** Starts the requested export, or answers with a question, a form for missing parts, or the problem. */
async function start(
  request: ExportRequest,
  caller: Caller,
  tools: CommandTools,
  { isSure = false, another = false } = {},
): Promise<Message | undefined> {
  const resolved = resolveRequest(request, caller, tools, isSure);
  if (resolved.kind === 'target') return startExport(resolved.target, caller, tools, another);
  if (resolved.kind !== 'missing') return resolved.answer;
  const asked = { ...request, domain: resolved.domain };
  const required = resolved.field === 'project' ? 'project' : undefined;
  const view = exportModalView(asked, caller, tools, required);
  return tools.openModal(caller, view);
}

/** Running exports: the person's own, and those whose threads they can read from here. */
async function exportStatus(caller: Caller, tools: CommandTools): Promise<Message> {
  const some = await tools.intake.read(caller, ({ runs }) =>
    runs.latestOf(exportRun, 'export', caller.teamId),
  );
  const { lines } = await runningExports(some, caller, tools, MAX_LINES);
  const none = ['No export that you can see here is running. Start one with ', { code: '/docs-export' }, '.'];
  return message(lines.length === 0 ? [none] : lines);
}

export const exportCommands = {
  commands: [exportCommand],
  buttons: [exportSiteButton, ...domainButtons, ...runButtons, ...exportScheduleButtons],
  urlActions: [
    ...[exportActions.download, exportActions.openThread, linkActions.download],
    exportScheduleActions.openThread,
  ],
  modals: [exportModal, watchModal, exportScheduleModal],
} satisfies Partial<Registry>;

import { z } from 'zod';
import { MAX_OTHERS, runningExports } from '../../jobs/export/feature.ts';
import { exportActions, exportQuotas, exportRun, useDomain } from '../../jobs/export/record.ts';
import { badDomainMessage, targetButtons } from '../../jobs/export/reply-view.ts';
import { linkActions } from '../../jobs/link/record.ts';
import { type TypedJob, withJob } from '../../jobs/typed-job.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { defineCommand, invalid, jobIdArg, optional, projectFlag, subcommand } from '../command.ts';
import type { Caller, CommandTools } from '../intake.ts';
import { defineButton, type Registry } from '../registry.ts';
import { exportFlags } from './args.ts';
import { newOwnLinkButton, ownLinkButton, runButtons } from './buttons.ts';
import {
  exportModal,
  exportModalView,
  fitsModal,
  settingsButton,
  watchItButton,
  watchModal,
} from './modal.ts';
import {
  askWhetherMeant,
  type ExportRequest,
  findExportJob,
  resolveTarget,
  startExport,
  watchExport,
} from './start.ts';

/** More running exports do not help; the rest is counted. */
const MAX_LINES = 15;

const startExample = '/docs-export docs.acme.com';
const watchExample = '/docs-export watch se_3f9a77bd04c24a06';

export const exportCommand = defineCommand({
  name: '/docs-export',
  summary: 'Export a documentation site as a static bundle',
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
              'Type one domain, and quotes around a label of several words: ',
              { code: `--version ${exportFlags.version.example}` },
            ]
          : [
              'Type one domain, and two dashes before each option, such as ',
              { code: '/docs-export docs.acme.com --private' },
              '.',
            ],
      run: ({ private: privately, ...request }, caller, tools) =>
        start({ ...request, privately }, caller, tools),
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
      tooManyArgs: () => ['Type one job ID, such as ', { code: watchExample }, '.'],
      run: watchTyped,
    }),
    subcommand({
      verb: 'status',
      args: {},
      flags: {},
      summary: 'List running exports',
      example: '/docs-export status',
      run: (_input, caller, tools) => exportStatus(caller, tools),
    }),
    ...['cancel', 'stop'].map((verb) =>
      subcommand({
        verb,
        hidden: true,
        args: { which: optional('text', '[job id]') },
        flags: {},
        summary: 'Cancel an export',
        example: `/docs-export ${verb}`,
        run: async () => noCancelMessage,
      }),
    ),
  ],
});

const noCancelMessage = message([["Exports can't be cancelled once started; an unwanted one does no harm."]]);

/** [Export a site]: opens a modal for all options. */
const exportSiteButton = defineButton({
  action: exportActions.ask,
  may: 'export',
  value: z.object({ v: z.literal(1) }),
  async run(_value, caller, tools) {
    await tools.openModal(caller, exportModalView({}, caller, tools));
    return undefined;
  },
});

async function watchTyped(
  { jobId: typed, project }: { jobId: TypedJob; project: string | undefined },
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  const found = await findExportJob(typed, project, caller, tools);
  return withJob(
    found,
    { typed, command: '/docs-export watch', example: watchExample },
    tools.projects,
    (job) => watchExport({ jobId: job.id, project: project ?? job.project }, caller, tools),
  );
}

/**
 * [Use it] under an unclear domain, the choices under an unknown one, [Export …] under a mention, and [Start another]
 * for a person whose export is already running.
 */
export const domainButtons = (['useDomain', 'useTyped', 'startAnother'] as const).map((name) =>
  defineButton({
    action: exportActions[name],
    may: 'export',
    value: useDomain,
    settles: 'remove',
    run({ domain, project, version, paths, privately, request, chosen }, caller, tools) {
      const target = { domain, project, version, paths, privately };
      return name === 'startAnother'
        ? start(target, { ...caller, requestId: `${request} another` }, tools, 'another')
        : start(target, { ...caller, requestId: `${request} use` }, tools, chosen ? 'chosen' : 'first');
    },
  }),
);

/** `chosen`: the person has seen the similar known domain. */
async function start(
  request: ExportRequest,
  caller: Caller,
  tools: CommandTools,
  how: 'first' | 'chosen' | 'another' = 'first',
): Promise<Message | undefined> {
  const target = resolveTarget(request, caller.channel.id, tools);
  switch (target.kind) {
    case 'ok':
      if (target.meant !== undefined && how === 'first')
        return askWhetherMeant({ ...target, meant: target.meant, refused: false }, request, caller);
      return startExport({ ...request, ...target, project: target.project.name }, caller, tools, how);
    case 'missing':
      if (!fitsModal(request)) return tooManyPaths;
      await tools.openModal(caller, exportModalView({ ...request, domain: target.domain }, caller, tools));
      return undefined;
    case 'badDomain': {
      const { typed, suggested } = target;
      const use =
        suggested === undefined
          ? []
          : targetButtons('Use it', { ...request, domain: suggested, request: caller.requestId });
      // Without the button the person types it.
      return badDomainMessage(typed, suggested, use[0]);
    }
    case 'refused': {
      const { domain = '', meant, problem } = target;
      return meant === undefined
        ? message([[problem]])
        : askWhetherMeant({ domain, meant, refused: true }, request, caller);
    }
  }
}

const tooManyPaths = message([
  [
    "That many paths don't fit in a form. Type the domain and the project as well: ",
    { code: '/docs-export docs.acme.com --project acme --paths …' },
  ],
]);

/** Running exports: the person's own, and those whose threads they can read from here. */
export async function exportStatus(caller: Caller, tools: CommandTools): Promise<Message> {
  const quotas = exportQuotas(caller.teamId, caller.user.id, caller.channel.id);
  const some = await tools.intake.read(caller, ({ runs }) =>
    runs.someOf(exportRun, 'export', quotas, MAX_OTHERS),
  );
  const { lines } = await runningExports(some, caller, tools, tools.workspaceUrl, MAX_LINES);
  if (lines.length === 0)
    return message([
      ['No export that you can see here is running. Start one with ', { code: '/docs-export' }, '.'],
    ]);
  return message(lines);
}

export const exportCommands = {
  commands: [exportCommand],
  buttons: [
    exportSiteButton,
    ...domainButtons,
    ownLinkButton,
    newOwnLinkButton,
    settingsButton,
    watchItButton,
    ...runButtons,
  ],
  urlActions: [exportActions.download, exportActions.openThread, linkActions.download],
  modals: [exportModal, watchModal],
} satisfies Partial<Registry>;

import { z } from 'zod';
import { badDomainMessage } from '../../jobs/export/ask-view.ts';
import { exportActions, type UseDomain, useDomain } from '../../jobs/export/buttons.ts';
import { runningExports } from '../../jobs/export/feature.ts';
import { exportRun } from '../../jobs/export/record.ts';
import type { TypedJob } from '../../jobs/typed-job.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import { unclear } from '../args.ts';
import { defineCommand, subcommand } from '../command.ts';
import { findExportJob, withJob } from '../job-ids.ts';
import { jobIdArg, optional, projectFlag } from '../params.ts';
import { defineButton } from '../registry.ts';
import type { Caller, CommandTools } from '../tools.ts';
import { exportFlags } from './args.ts';
import { exportModalView, fitsModal } from './modal.ts';
import { startExport, watchExport } from './start.ts';
import { type ExportRequest, type ResolvedTarget, refusalText, resolveTarget } from './target.ts';

/** More running exports than this help nobody; the rest is counted. */
const MAX_LINES = 15;

const startExample = '/docs-export docs.acme.com';
const watchExample = '/docs-export watch se_3f9a77bd04c24a06';

export const exportCommand = defineCommand({
  name: '/docs-export',
  summary: 'Export a documentation site as a static bundle',
  may: 'export',
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
          unclear('Which export? Type its job id, such as ', { code: watchExample }, '.'),
        ),
      },
      flags: { project: projectFlag },
      summary: 'Watch an export that was started elsewhere',
      example: watchExample,
      tooManyArgs: () => ['Type one job id, such as ', { code: watchExample }, '.'],
      run: watchTyped,
    }),
    subcommand({
      verb: 'status',
      args: {},
      flags: {},
      summary: 'List what is running',
      example: '/docs-export status',
      run: (_input, caller, tools) => exportStatus(caller, tools),
    }),
  ],
});

/** [Export a site]: a modal asks for all of it. */
export const exportSiteButton = defineButton({
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
  return withJob(found, { typed, command: '/docs-export watch', example: watchExample }, tools, (job) =>
    watchExport({ jobId: job.id, project: project ?? job.project }, caller, tools),
  );
}

/** [Use it] under a domain that was not quite one, and [Export …] under a mention. */
export const useDomainButton = defineButton({
  action: exportActions.useDomain,
  may: 'export',
  value: useDomain,
  run: ({ domain, project, version, paths, privately, request }, caller, tools) =>
    start({ domain, project, version, paths, privately }, { ...caller, requestId: `${request} use` }, tools),
});

/** [Start another] for somebody whose export runs already. */
export const startAnotherButton = defineButton({
  action: exportActions.startAnother,
  may: 'export',
  value: useDomain,
  run: ({ domain, project, version, paths, privately, request }, caller, tools) =>
    start(
      { domain, project, version, paths, privately },
      { ...caller, requestId: `${request} another` },
      tools,
      'another',
    ),
});

async function start(
  request: ExportRequest,
  caller: Caller,
  tools: CommandTools,
  how: 'first' | 'another' = 'first',
): Promise<Message | undefined> {
  const target = resolveTarget(request, caller.channel.id, tools);
  switch (target.kind) {
    case 'ok':
      return startExport({ ...request, ...target, project: target.project.name }, caller, tools, how);
    case 'noDomain':
    case 'ask': {
      if (!fitsModal(request)) return tooManyPaths;
      const domain = target.kind === 'ask' ? target.domain : undefined;
      await tools.openModal(caller, exportModalView({ ...request, domain }, caller, tools));
      return undefined;
    }
    case 'badDomain':
      return badDomain(target, request, caller);
    case 'foreignPage':
      return message([[target.problem]]);
    case 'unknownProject':
    case 'domainRefused':
      return message([[refusalText(target)]]);
  }
}

const tooManyPaths = message([
  [
    "So many paths don't fit into a dialog. Type the domain and the project as well: ",
    { code: '/docs-export docs.acme.com --project acme --paths …' },
  ],
]);

function badDomain(
  { typed, suggested }: Extract<ResolvedTarget, { kind: 'badDomain' }>,
  request: ExportRequest,
  { requestId }: Caller,
): Message {
  const { project, version, paths, privately } = request;
  const meant: UseDomain = {
    v: 1,
    domain: suggested ?? '',
    project,
    version,
    paths,
    privately,
    request: requestId,
  };
  const value = JSON.stringify(meant);
  const button = { label: 'Use it', action: exportActions.useDomain, value };
  // Without the button the person types it.
  return badDomainMessage(typed, suggested, value.length <= SLACK_LIMITS.buttonValue ? button : undefined);
}

/** What runs: the person's own exports, and those whose threads this person can read from here. */
export async function exportStatus(caller: Caller, tools: CommandTools): Promise<Message> {
  const active = await tools.intake.listActive(exportRun, 'export', caller);
  const { lines, rest } = await runningExports(active, caller, tools, tools.workspaceUrl, MAX_LINES);
  if (lines.length === 0)
    return message([
      ['No export that you can see here is running. Start one with ', { code: '/docs-export' }, '.'],
    ]);
  return message(rest > 0 ? [...lines, [`and ${rest} more`]] : lines);
}

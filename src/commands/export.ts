import { z } from 'zod';
import { exportActions } from '../jobs/export/run.ts';
import { type Message, message } from '../slack/blocks.ts';
import { cut, oneLine } from '../slack/text.ts';
import type { Caller, CommandTools, SlashCommand } from './command.ts';
import { defineButton } from './command.ts';
import { exportDialogView, fitsDialog } from './export-dialog.ts';
import { type Resolved, refusal, resolve, startExport, type WantedExport } from './export-start.ts';
import { exportStatus } from './export-status.ts';
import { watchExport } from './export-watch.ts';
import { readExportWords } from './export-words.ts';

export const exportCommand: SlashCommand = {
  name: '/docs-export',
  usage: '[domain] [--project p] [--version label] [--paths a,b] [--private]',
  summary: 'Exports a docs site as a static bundle and posts the download link when it is ready.',
  examples: [
    '/docs-export docs.acme.com',
    '/docs-export docs.acme.com --version "spring release" --paths /guides,/api --private',
    '/docs-export watch se_3f9a77bd04c24a06',
    '/docs-export status',
  ],
  may: 'export',

  async run(text, caller, tools) {
    const words = readExportWords(text);
    switch (words.kind) {
      case 'unclear':
        return message([words.message]);
      case 'status':
        return exportStatus(caller, tools);
      case 'watch':
        return watchExport(words, caller, tools);
      case 'start':
        return start(words, caller, tools);
    }
  },
};

/** What [Use it] carries: the whole command as it was probably meant. */
const useDomainValue = z.object({ v: z.literal(1), text: z.string(), request: z.string() });

/** "Use it" under a domain that was not quite one. */
export const useDomainButton = defineButton({
  action: exportActions.useDomain,
  may: 'export',
  value: useDomainValue,
  run: ({ text, request }, caller, tools) =>
    exportCommand.run(text, { ...caller, requestId: `${request} use` }, tools),
});

async function start(
  wanted: WantedExport,
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  const found = resolve(wanted, caller.channel.id, tools);
  switch (found.kind) {
    case 'ok':
      return startExport({ ...wanted, domain: found.domain, project: found.project.name }, caller, tools);
    case 'noDomain':
    case 'ask': {
      if (!fitsDialog(wanted)) return tooManyPaths;
      const domain = found.kind === 'ask' ? found.domain : undefined;
      await tools.openDialog(caller, exportDialogView({ ...wanted, domain }, caller, tools));
      return undefined;
    }
    case 'badDomain':
      return badDomain(found, wanted, caller);
    case 'unknownProject':
    case 'domainRefused':
      return message([[refusal(found)]]);
  }
}

const tooManyPaths = message([
  [
    "So many paths don't fit into a dialog. Type the domain and the project as well: ",
    { code: '/docs-export docs.acme.com --project acme --paths …' },
  ],
]);

/** Slack's limit for the value of a button; without one the person types it. */
const BUTTON_VALUE = 2000;

function badDomain(
  { typed, suggested }: Extract<Resolved, { kind: 'badDomain' }>,
  wanted: WantedExport,
  { requestId }: Caller,
): Message {
  const shown = { code: cut(oneLine(typed), 100) };
  if (suggested === undefined)
    return message([[shown, " isn't a host name. Type it like ", { code: 'docs.acme.com' }, '.']]);
  const text = commandText({ ...wanted, domain: suggested });
  const value = JSON.stringify({ v: 1, text, request: requestId });
  const useIt = { label: 'Use it', action: exportActions.useDomain, value };
  return message(
    [[shown, " isn't a host name. Did you mean ", { code: suggested }, '?']],
    value.length <= BUTTON_VALUE ? [useIt] : [],
  );
}

/** What a person would type after the command to ask for this. */
function commandText({ domain, project, version, paths, privately }: WantedExport): string {
  return [
    domain,
    project && `--project ${project}`,
    version && `--version “${version}”`,
    paths && `--paths ${paths.join(',')}`,
    privately && '--private',
  ]
    .filter(Boolean)
    .join(' ');
}

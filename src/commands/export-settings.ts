import type { KnownBlock, ModalView } from '@slack/types';
import { stringify } from 'yaml';
import { LINK_END } from '../jobs/bundle-link-view.ts';
import { site } from '../jobs/export/phrases.ts';
import { type ExportRun, exportActions, exportRun, maySee, runButton } from '../jobs/export/run.ts';
import { message } from '../slack/blocks.ts';
import { preformatted, reportView } from '../slack/dialogs.ts';
import { defineButton } from './command.ts';
import { notHere } from './export-buttons.ts';
import { TellUser } from './tell-user.ts';

const noLink = message([
  [
    'I have no link to this export that works right now, and the settings need one. Click [New link]; when it is there, open them again.',
  ],
]);

const storeAway = message([["My store doesn't answer just now. Try again in a minute."]]);

/** What a deployment of one's own needs to serve the bundle. The dialog has the link: only those open it who have it. */
export const settingsButton = defineButton({
  action: exportActions.settings,
  may: 'export',
  value: runButton,
  async run({ run: runId }, caller, tools) {
    const run = await tools.intake.load(runId, exportRun, caller);
    const link = run?.ending?.kind === 'done' ? run.ending.link : undefined;
    if (run === undefined || link === undefined) return noLink;
    if (!maySee(run, caller)) return notHere;
    if (run.ending?.kind === 'done' && run.ending.privately && run.requester.id !== caller.user.id)
      return message([['This link went to somebody else. Click [Get my own link] in the thread.']]);
    const url = await tools.link(link).catch(() => {
      throw new TellUser(storeAway);
    });
    if (url === undefined) return noLink;
    await tools.openDialog(caller, settingsView(run, url));
    await tools.note({ subject: site(run), job: run.jobId, result: 'shown' });
    return undefined;
  },
});

/** The `staticExport` section, ready to copy, and what works where. */
export function settingsView(run: ExportRun, bundleUrl: string): ModalView {
  const version = run.version === undefined ? {} : { version: run.version };
  // In quotes: readers of YAML 1.1 take labels such as 2026-09-01, yes or 1_000 for something else.
  const section = stringify(
    { staticExport: { enabled: true, bundleUrl, ...version } },
    { lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' },
  );
  const endsAtMs = run.ending?.kind === 'done' ? run.ending.linkEndsAtMs : undefined;
  const until =
    endsAtMs === undefined
      ? ['The deployment loads the bundle when it starts.']
      : [
          'The deployment loads the bundle when it starts; the link works until ',
          { time: endsAtMs, format: LINK_END },
          '.',
        ];
  const blocks: KnownBlock[] = [
    ...message([
      [{ bold: `For the configuration of the deployment that serves ${site(run)}` }],
      [...until, ' Anyone who has it can download the bundle. Export again when new content is published.'],
    ]).blocks,
    preformatted(section.trimEnd()),
    ...message([[{ bold: 'What works where' }]]).blocks,
    preformatted(features),
  ];
  return reportView('Deployment settings', blocks);
}

/** From the platform's description of static exports. Modals take no table block. */
const features = [
  ['', 'Cloud', 'Client-hosted', 'Air-gapped'],
  ['Documentation search', 'yes', 'configurable', 'no'],
  ['AI assistant', 'yes', 'configurable', 'no'],
  ['Web analytics', 'yes', 'configurable', 'no'],
  ['API playground', 'yes', 'yes', 'configurable'],
  ['Static export bundle', 'yes', 'yes', 'yes'],
]
  .map(([feature = '', cloud = '', hosted = '', gapped = '']) =>
    `${feature.padEnd(22)}${cloud.padEnd(7)}${hosted.padEnd(15)}${gapped}`.trimEnd(),
  )
  .join('\n');

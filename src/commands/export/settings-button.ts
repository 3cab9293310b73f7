import type { KnownBlock, ModalView } from '@slack/types';
import { stringify } from 'yaml';
import { LINK_END_FORMAT } from '../../jobs/bundle-link-view.ts';
import { exportActions, runButton } from '../../jobs/export/buttons.ts';
import { site } from '../../jobs/export/phrases.ts';
import { type ExportRun, exportKind } from '../../jobs/export/record.ts';
import { message, type Part } from '../../slack/blocks.ts';
import { preformatted, reportView } from '../../slack/modals.ts';
import { defineButton } from '../registry.ts';
import { UserFacingError } from '../user-facing-error.ts';
import { notVisible } from './buttons.ts';

const noLink = message([
  [
    'The settings need a working link, and this export has none right now. Click [New link]; once it appears, open the settings again.',
  ],
]);

const linkOnItsWay = message([["I'm still making the new link. Once it appears, open the settings again."]]);

const storeUnavailable = message([["My database isn't answering. Try again in a minute."]]);

/** The settings for a self-hosted deployment. Its modal has the link, so only people with the link may open it. */
export const settingsButton = defineButton({
  action: exportActions.settings,
  may: 'export',
  value: runButton,
  async run({ run: runId }, caller, tools) {
    const found = await tools.intake.loadVisible(runId, exportKind, caller);
    if (found.kind === 'notVisible') return notVisible;
    const run = found.kind === 'found' ? found.run : undefined;
    // While a further link is made, or if it fails, the previous one is the latest.
    const done = run?.ending?.kind === 'done' ? run.ending : run?.earlier?.ending;
    if (run === undefined || done === undefined) return noLink;
    if (done.privately && run.requester.id !== caller.user.id)
      return message([['This link went to somebody else. Click [Get my own link] in the thread.']]);
    const url = await tools.loadLink(done.link).catch(() => {
      throw new UserFacingError(storeUnavailable);
    });
    if (url === undefined) return run.state === 'bundling' ? linkOnItsWay : noLink;
    await tools.openModal(caller, settingsView(run, url, done.linkEndsAtMs));
    await tools.audit({ subject: site(run), job: run.jobId, result: 'shown' });
    return undefined;
  },
});

/** The `staticExport` section, ready to copy, and the features of each setup. */
export function settingsView(run: ExportRun, bundleUrl: string, endsAtMs: number | undefined): ModalView {
  const version = run.version === undefined ? {} : { version: run.version };
  // In quotes: YAML 1.1 readers misread labels such as 2026-09-01, yes or 1_000.
  const section = stringify(
    { staticExport: { enabled: true, bundleUrl, ...version } },
    { lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' },
  );
  const until =
    endsAtMs === undefined
      ? ['The deployment loads the bundle when it starts.']
      : [
          'The deployment loads the bundle when it starts; the link works until ',
          { time: endsAtMs, format: LINK_END_FORMAT },
          '.',
        ];
  const blocks: KnownBlock[] = [
    ...message([
      [{ bold: `For the configuration of the deployment that serves ${site(run)}` }],
      [...until, ' Anyone who has it can download the bundle. Export again when new content is published.'],
    ]).blocks,
    preformatted(section.trimEnd()),
    ...message([[{ bold: 'What works where' }], ...features]).blocks,
  ];
  return reportView('Deployment settings', blocks);
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

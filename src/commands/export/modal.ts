import type { InputBlock, KnownBlock, ModalView } from '@slack/types';
import { site } from '../../jobs/export/progress-view.ts';
import {
  type ExportRun,
  exportActions,
  latestLink,
  type RunButton,
  runButton,
} from '../../jobs/export/record.ts';
import { adoptJobId } from '../../jobs/export/transitions.ts';
import { readJobField } from '../../jobs/typed-job.ts';
import type { Project } from '../../projects.ts';
import { parseJson } from '../../runtime/json.ts';
import { type Message, message, moment, type Part } from '../../slack/blocks.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import { choiceField, formView, preformatted, reportView, textField } from '../../slack/modals.ts';
import { cut } from '../../slack/text.ts';
import { type Caller, type CommandTools, retryStale } from '../intake.ts';
import { closedWith, defineButton, type Modal } from '../registry.ts';
import { exportFlags } from './args.ts';
import { handledByMessage, isQuestionOpen, loadExport } from './buttons.ts';
import {
  alreadyRunningReply,
  type ExportRequest,
  findExportJob,
  findRunOfJob,
  resolveTarget,
  startExport,
} from './start.ts';

const START_MODAL = 'export.start';
const WATCH_MODAL = 'export.watch';

const formatPaths = (paths: string[]) => paths.join(', ');

/** Asks for the options that a command without a domain, or without a clear project, left open. */
export function exportModalView(
  request: Partial<ExportRequest>,
  { user, channel }: Pick<Caller, 'user' | 'channel'>,
  { projects, docsDomain, links }: Pick<CommandTools, 'projects' | 'docsDomain' | 'links'>,
): ModalView {
  const { version, paths, privately = false } = request;
  const sole = soleDomain({ projects });
  const mayShare = links === 'thread' && user.fullMember;
  return formView({
    title: 'Export a docs site',
    submit: 'Export',
    callback: START_MODAL,
    intro: message([
      ...(sole === undefined ? [] : [[{ bold: sole }]]),
      placeParts(channel.id),
      ...(mayShare ? [] : [['The download link goes to you, by direct message.']]),
    ]),
    fields: [
      ...(sole === undefined ? [domainField(request.domain ?? docsDomain, projects)] : []),
      ...projectField(request.project, projects),
      textField({
        ...{ block: 'version', label: 'Label', hint: 'Such as "spring release".' },
        ...{ optional: true, initial: version },
      }),
      textField({
        block: 'paths',
        label: 'Pages',
        hint: 'Page paths, separated by commas. Leave blank for all pages.',
        placeholder: '/guides, /api',
        optional: true,
        multiline: true,
        initial: paths && formatPaths(paths),
      }),
      ...(mayShare ? [linkField(privately)] : []),
    ],
  });
}

/** Only channels have a name for everybody; requests in other places may use the person's direct messages. */
function placeParts(channelId: string): Part[] {
  if (channelId.startsWith('C')) return ['Progress shows in ', { channel: channelId }, '.'];
  // Home has no conversation.
  return channelId === ''
    ? ['Progress shows in your direct messages with me.']
    : ['Progress shows in this conversation, or in your direct messages with me.'];
}

const linkField = (privately: boolean) =>
  choiceField({
    block: 'link',
    label: 'Who gets the download link',
    hint: 'In a channel shared with another organization, only you get it.',
    choices: [
      { label: 'Everyone in the thread', value: 'thread' },
      { label: 'Only me, by direct message', value: 'requester' },
    ],
    initial: privately ? 'requester' : 'thread',
  });

/** Returns the domains of all projects; undefined if a project takes every domain. */
const allowedDomains = (projects: readonly Project[]): readonly string[] | undefined =>
  projects.some(({ domains }) => domains === undefined)
    ? undefined
    : projects.flatMap(({ domains = [] }) => domains);

/** The only domain that can be exported here, so that there is no choice. */
function soleDomain({ projects }: Pick<CommandTools, 'projects'>): string | undefined {
  const [only, ...others] = new Set(allowedDomains(projects));
  return others.length === 0 ? only : undefined;
}

function domainField(initial: string | undefined, projects: readonly Project[]): InputBlock {
  const known = [...new Set(allowedDomains(projects))];
  const fits =
    known.length > 0 &&
    known.length <= SLACK_LIMITS.selectOptions &&
    known.every(({ length }) => length <= SLACK_LIMITS.optionText);
  const field = { block: 'domain', label: 'Domain', initial };
  return fits
    ? choiceField({ ...field, choices: known.map((domain) => ({ label: domain, value: domain })) })
    : textField({ ...field, placeholder: 'docs.acme.com' });
}

/** Only if the domain does not determine the project. */
function projectField(named: string | undefined, projects: readonly Project[]): InputBlock[] {
  const domains = allowedDomains(projects);
  const isUnambiguous = domains !== undefined && new Set(domains).size === domains.length;
  if (projects.length < 2 || isUnambiguous) return [];
  const choices = projects
    .slice(0, SLACK_LIMITS.selectOptions)
    .map(({ name }) => ({ label: name, value: name }));
  const initial = projects.find(({ name }) => name.toLowerCase() === named?.toLowerCase());
  return [
    choiceField({
      block: 'project',
      label: 'Project',
      hint: 'Only needed if several projects have this domain.',
      choices,
      optional: true,
      initial: initial?.name,
    }),
  ];
}

export const exportModal: Modal = {
  callbackId: START_MODAL,
  may: 'export',

  async submit(values, caller, tools) {
    const version = exportFlags.version.read(values.version);
    const paths = exportFlags.paths.read(values.paths);
    const sole = soleDomain(tools);
    const request = {
      domain: values.domain ?? sole,
      project: values.project,
      version: version.kind === 'ok' ? version.value : undefined,
      paths: paths.kind === 'ok' ? paths.value : undefined,
      // Without the choice only one person gets the link.
      privately: values.link !== 'thread',
    };
    const target = resolveTarget(request, caller.channel.id, tools);
    const problems: Record<string, string> = {};
    if (target.kind !== 'ok') {
      // With only one domain to export, the form has no field for it.
      const field = target.field === 'domain' && sole !== undefined ? 'project' : target.field;
      problems[field] = cut(target.problem, SLACK_LIMITS.modalFieldError);
    }
    if (version.kind === 'unclear') problems.version = version.problem;
    if (paths.kind === 'unclear') problems.paths = paths.problem;
    if (target.kind !== 'ok' || Object.keys(problems).length > 0) return { kind: 'problems', problems };
    return closedWith(await startExport(target, request, caller, tools));
  },
};

/** [It's there: watch it]: slash commands do not work in threads, so a modal asks for the id. */
export const watchItButton = defineButton({
  action: exportActions.watchIt,
  may: 'export',
  value: runButton,
  async run(button, caller, tools) {
    const run = await loadExport(button, caller, tools);
    if (!isQuestionOpen(run, button)) return handledByMessage(run, button.attempt, caller);
    await tools.openModal(caller, watchView(run), JSON.stringify(button));
    return undefined;
  },
});

export const watchView = (run: ExportRun) =>
  formView({
    title: 'Watch the export',
    submit: 'Watch it',
    callback: WATCH_MODAL,
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
  callbackId: WATCH_MODAL,
  may: 'export',

  async submit(values, caller, tools, details) {
    const button = runButton.parse(parseJson(details.about));
    const { project } = await loadExport(button, caller, tools);
    const read = await readJobField(values.job ?? '', (typed) =>
      findExportJob(typed, project, caller, tools),
    );
    if ('problem' in read) return { kind: 'problems', problems: { job: read.problem } };
    return closedWith(await retryStale('export', () => watch(button, read.job.id, caller, tools)));
  },
};

async function watch(
  button: RunButton,
  jobId: string,
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined | 'stale'> {
  const run = await loadExport(button, caller, tools);
  if (!isQuestionOpen(run, button)) return handledByMessage(run, button.attempt, caller);
  // The entered job may belong to another export.
  const other = await findRunOfJob(run.project, jobId, caller, tools);
  if (other !== undefined && other.id !== run.id && other.state !== 'ended')
    return alreadyRunningReply(other.id, run, caller, tools);
  const next = adoptJobId(run, jobId, caller.user, tools.now());
  const acceptance = await tools.intake.resume(next, caller);
  if (acceptance.kind === 'stale') return 'stale';
  await tools.audit({ subject: site(run), job: jobId, result: 'accepted' });
  return undefined;
}

const noLink = message([
  [
    'The settings need a working link, and this export has none right now. Click [New link]; once it appears, open the settings again.',
  ],
]);

/** The settings for a self-hosted deployment. Its modal has the link, so only people with the link may open it. */
export const settingsButton = defineButton({
  action: exportActions.settings,
  may: 'export',
  value: runButton,
  async run(button, caller, tools) {
    const run = await loadExport(button, caller, tools);
    const done = latestLink(run);
    if (done === undefined) return noLink;
    if (done.privately && run.requester.id !== caller.user.id)
      return message([['This link went to somebody else. Click [Get my own link] in the thread.']]);
    const url = await tools.loadLink(done.link);
    if (url === undefined) return noLink;
    await tools.openModal(caller, settingsView(run, url, done.linkEndsAtMs));
    await tools.audit({ subject: site(run), job: run.jobId, result: 'shown' });
    return undefined;
  },
});

/** The `staticExport` section, ready to copy, and the features of each setup. */
export function settingsView(run: ExportRun, bundleUrl: string, endsAtMs: number | undefined): ModalView {
  // In quotes: YAML 1.1 readers misread labels such as 2026-09-01, yes or 1_000.
  const version = run.version === undefined ? '' : `\n  version: ${JSON.stringify(run.version)}`;
  const section = `staticExport:\n  enabled: true\n  bundleUrl: ${JSON.stringify(bundleUrl)}${version}`;
  const loads = 'The deployment loads the bundle when it starts';
  const until = moment(endsAtMs ?? 0);
  const life = endsAtMs === undefined ? [`${loads}.`] : [`${loads}; the link works until `, until, '.'];
  const blocks: KnownBlock[] = [
    ...message([
      [{ bold: `For the configuration of the deployment that serves ${site(run)}` }],
      [...life, ' Anyone who has it can download the bundle. Export again when new content is published.'],
    ]).blocks,
    preformatted(section),
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

import type { InputBlock, ModalView } from '@slack/types';
import type { ExportTarget } from '../../jobs/shared/target.ts';
import { type Project, projectNamed } from '../../projects.ts';
import { type Message, message, type Part } from '../../slack/blocks.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import { choiceField, formView, textField } from '../../slack/modals.ts';
import { cut } from '../../slack/text.ts';
import { projectFields } from '../agent/modal.ts';
import type { Caller, CommandTools } from '../intake.ts';
import type { Modal, ModalValues } from '../registry.ts';
import { exportFlags } from './args.ts';
import { type ExportRequest, resolveRequest, startExport } from './start.ts';

const START_MODAL = 'export.start';

/** Asks for the options that a command without a domain, or without a clear project, left open: then it is `required`. */
export function exportModalView(
  { domain, project, version, paths, privately }: Partial<ExportRequest>,
  { user, channel }: Pick<Caller, 'user' | 'channel'>,
  { projects, docsDomain, links }: Pick<CommandTools, 'projects' | 'docsDomain' | 'links'>,
  required?: 'project',
): ModalView {
  const sole = soleDomain(projects);
  const mayShare = links === 'thread' && user.fullMember;
  return formView({
    title: 'Export a docs site',
    submit: 'Export',
    callback: START_MODAL,
    intro: message([
      sole !== undefined && [{ bold: sole }],
      placeParts(channel.id),
      !mayShare && 'The download link goes to you, by direct message.',
    ]),
    fields: [
      ...siteFields({ domain: domain ?? docsDomain, project }, projects, required),
      ...contentFields({ version, paths }, 'A name for this export, such as "spring release".'),
      ...(mayShare ? [linkField(privately)] : []),
    ],
  });
}

/** Returns the fields for the site: for its domain if there are several, and for its project if the domain is not enough. */
export const siteFields = (
  { domain, project }: { domain: string | undefined; project?: string | undefined },
  projects: readonly Project[],
  required?: 'project',
): InputBlock[] => [
  ...(soleDomain(projects) === undefined ? [domainField(domain, projects)] : []),
  ...projectField(project, projects, required === 'project' || soleDomain(projects) !== undefined),
];

/** Returns the fields for the version and the pages. */
export const contentFields = (
  { version, paths }: Pick<ExportRequest, 'version' | 'paths'>,
  versionHint: string,
): InputBlock[] => [
  textField({ block: 'version', label: 'Version', hint: versionHint, optional: true, initial: version }),
  textField({
    block: 'paths',
    label: 'Paths',
    hint: 'Page paths, separated by commas. Leave blank for all pages.',
    placeholder: '/guides, /api',
    optional: true,
    multiline: true,
    initial: paths && fittingPaths(paths),
  }),
];

/** Returns the paths as a field takes them, which is never shorter than they were typed. */
function fittingPaths(paths: readonly string[]): string | undefined {
  const short = paths.map((path) => (path === '/' ? path : path.replace(/^\/(?!\/)/, '')));
  const texts = [paths.join(', '), paths.join(','), short.join(',')];
  return texts.find((text) => text.length <= SLACK_LIMITS.inputInitialValue);
}

/** Only channels have a name for everybody; requests in other places may use the person's direct messages. */
function placeParts(channelId: string): Part[] {
  if (channelId.startsWith('C')) return ['Progress shows in ', { channel: channelId }, '.'];
  // Home has no conversation.
  const place = channelId === '' ? '' : 'this conversation, or in ';
  return [`Progress shows in ${place}your direct messages with me.`];
}

const linkField = (privately = false) =>
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

/** Returns the domains of all projects; empty if a project takes every domain. */
const allowedDomains = (projects: readonly Project[]): string[] =>
  projects.some(({ domains }) => domains === undefined)
    ? []
    : projects.flatMap(({ domains = [] }) => domains);

/** The only domain that can be exported here, so that there is no choice. */
export function soleDomain(projects: readonly Project[]): string | undefined {
  const [only, ...others] = new Set(allowedDomains(projects));
  return others.length === 0 ? only : undefined;
}

function domainField(initial: string | undefined, projects: readonly Project[]): InputBlock {
  const choices = [...new Set(allowedDomains(projects))].map((name) => ({ label: name, value: name }));
  const fits =
    choices.length > 0 &&
    choices.length <= SLACK_LIMITS.selectOptions &&
    choices.every(({ label }) => label.length <= SLACK_LIMITS.optionText);
  const field = { block: 'domain', label: 'Domain', initial };
  return fits ? choiceField({ ...field, choices }) : textField({ ...field, placeholder: 'docs.acme.com' });
}

/** Returns the field for the project; none if the domain determines it. */
function projectField(
  named: string | undefined,
  projects: readonly Project[],
  isRequired: boolean,
): InputBlock[] {
  const domains = allowedDomains(projects);
  const isUnambiguous = domains.length > 0 && new Set(domains).size === domains.length;
  if (isUnambiguous) return [];
  const known = projectNamed(projects, named ?? '')?.name;
  const hint = 'Only needed if several projects have this domain.';
  return projectFields(projects, known, isRequired ? {} : { hint, optional: true });
}

export const exportModal: Modal = {
  callbackId: START_MODAL,
  may: 'export',

  async submit(values, caller, tools) {
    // Without the choice only one person gets the link.
    const read = readTarget(values, values.link !== 'thread', caller, tools);
    if ('problems' in read) return { kind: 'problems', problems: read.problems };
    if ('unsure' in read) return { kind: 'closed', answer: read.unsure };
    return { kind: 'closed', answer: await startExport(read.target, caller, tools) };
  },
};

/** Returns the target of a form, a question about a similar domain, or the problems of its fields. */
export function readTarget(
  values: ModalValues,
  privately: boolean,
  caller: Caller,
  tools: Pick<CommandTools, 'projects' | 'docsDomain'>,
  isSure = false,
): { target: ExportTarget } | { unsure: Message } | { problems: Record<string, string> } {
  const version = exportFlags.version.read(values.version);
  const paths = exportFlags.paths.read(values.paths);
  const sole = soleDomain(tools.projects);
  const request = {
    domain: values.domain ?? sole,
    project: values.project,
    version: version.kind === 'ok' ? version.value : undefined,
    paths: paths.kind === 'ok' ? paths.value : undefined,
    privately,
  };
  const resolved = resolveRequest(request, caller, tools, isSure);
  const problems: Record<string, string> = {};
  if ('problem' in resolved) {
    // With only one domain to export, the form has no field for it.
    const field = resolved.field === 'domain' && sole !== undefined ? 'project' : resolved.field;
    problems[field] = cut(resolved.problem, SLACK_LIMITS.modalFieldError);
  }
  if (version.kind === 'unclear') problems.version = version.problem;
  if (paths.kind === 'unclear') problems.paths = paths.problem;
  if ('problem' in resolved || Object.keys(problems).length > 0) return { problems };
  return resolved.kind === 'unsure' ? { unsure: resolved.answer } : { target: resolved.target };
}

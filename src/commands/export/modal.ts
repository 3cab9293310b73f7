import type { InputBlock, ModalView } from '@slack/types';
import type { Project } from '../../projects.ts';
import { message, type Part } from '../../slack/blocks.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import { choiceField, formView, textField } from '../../slack/modals.ts';
import { cut, singleLine } from '../../slack/text.ts';
import type { Modal } from '../registry.ts';
import type { Caller, CommandTools } from '../tools.ts';
import { readPaths, readVersion } from './args.ts';
import { askWhetherMeant, startExport } from './start.ts';
import { type ExportRequest, type ResolvedTarget, refusalText, resolveTarget } from './target.ts';

const CALLBACK_ID = 'export.start';

const formatPaths = (paths: string[]) => paths.join(', ');

/** Whether the modal can show the whole request: anything left out would be lost. */
export const fitsModal = ({ paths = [] }: Pick<ExportRequest, 'paths'>) =>
  formatPaths(paths).length <= SLACK_LIMITS.inputInitialValue;

/** Asks for the options that a command without a domain, or without a clear project, left open. */
export function exportModalView(
  request: Partial<ExportRequest>,
  { user, channel }: Pick<Caller, 'user' | 'channel'>,
  tools: Pick<CommandTools, 'projects' | 'docsDomain' | 'links'>,
): ModalView {
  const { version, paths, privately = false } = request;
  const sole = soleDomain(tools);
  const mayShare = tools.links === 'thread' && user.fullMember;
  return formView({
    title: 'Export a docs site',
    submit: 'Export',
    callback: CALLBACK_ID,
    intro: message([
      ...(sole === undefined ? [] : [[{ bold: sole }]]),
      placeParts(channel.id),
      ...(mayShare ? [] : [['The download link goes to you, by direct message.']]),
    ]),
    fields: [
      ...(sole === undefined ? [domainField(request.domain, tools)] : []),
      ...projectField(request.project, tools),
      textField({
        block: 'version',
        label: 'Label',
        hint: 'Such as "spring release".',
        optional: true,
        ...(version !== undefined && { initial: version }),
      }),
      textField({
        block: 'paths',
        label: 'Pages',
        hint: 'Page paths, separated by commas. Leave blank for all pages.',
        placeholder: '/guides, /api',
        optional: true,
        multiline: true,
        ...(paths !== undefined && { initial: formatPaths(paths) }),
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

const knownDomains = (projects: readonly Project[]) => [
  ...new Set(projects.flatMap(({ domains }) => domains ?? [])),
];

/** The only domain that can be exported here, so that there is no choice. */
function soleDomain({ projects }: Pick<CommandTools, 'projects'>): string | undefined {
  const [only, ...others] = knownDomains(projects);
  return others.length === 0 && projects.every(({ domains }) => domains !== undefined) ? only : undefined;
}

function domainField(
  typed: string | undefined,
  { projects, docsDomain }: Pick<CommandTools, 'projects' | 'docsDomain'>,
): InputBlock {
  const known = knownDomains(projects);
  const fits =
    known.length > 0 &&
    known.length <= SLACK_LIMITS.selectOptions &&
    known.every(({ length }) => length <= SLACK_LIMITS.optionText);
  if (fits && projects.every(({ domains }) => domains !== undefined)) {
    const choices = known.map((domain) => ({ label: domain, value: domain }));
    const initial = known.find((domain) => domain === (typed ?? docsDomain));
    const preset = initial === undefined ? {} : { initial };
    return choiceField({ block: 'domain', label: 'Domain', choices, ...preset });
  }
  const initial = typed ?? docsDomain;
  return textField({
    block: 'domain',
    label: 'Domain',
    placeholder: 'docs.acme.com',
    ...(initial !== undefined && { initial }),
  });
}

/** Only if the domain does not determine the project. */
function projectField(named: string | undefined, { projects }: Pick<CommandTools, 'projects'>): InputBlock[] {
  const domains = projects.flatMap((project) => project.domains ?? []);
  const isUnambiguous =
    new Set(domains).size === domains.length && projects.every((project) => project.domains !== undefined);
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
      ...(initial && { initial: initial.name }),
    }),
  ];
}

export const exportModal: Modal = {
  callbackId: CALLBACK_ID,
  may: 'export',

  async submit(values, caller, tools) {
    const version = values.version === undefined ? undefined : readVersion(values.version);
    const paths = values.paths === undefined ? undefined : readPaths(values.paths);
    const sole = soleDomain(tools);
    const target = resolveTarget(
      {
        domain: values.domain ?? sole,
        project: values.project,
        paths: paths?.kind === 'ok' ? paths.value : undefined,
      },
      caller.channel.id,
      tools,
    );
    const problems = {
      ...(target.kind !== 'ok' && fieldProblem(target, sole === undefined ? 'domain' : 'project')),
      ...(version?.kind === 'unclear' && { version: version.problem }),
      ...(paths?.kind === 'unclear' && { paths: paths.problem }),
    };
    if (target.kind !== 'ok' || Object.keys(problems).length > 0) return { kind: 'problems', problems };
    const wanted = {
      domain: target.domain,
      project: target.project.name,
      version: version?.kind === 'ok' ? version.value : undefined,
      paths: target.paths,
      // Without the choice only one person gets the link.
      privately: values.link !== 'thread',
    };
    const reply =
      target.meant === undefined
        ? await startExport(wanted, caller, tools)
        : askWhetherMeant({ ...target, meant: target.meant, refused: false }, wanted, caller);
    return reply === undefined ? { kind: 'closed' } : { kind: 'message', message: reply };
  },
};

/** `refusedAt` is the field in which domain and project can be corrected. */
function fieldProblem(
  target: Exclude<ResolvedTarget, { kind: 'ok' }>,
  refusedAt: 'domain' | 'project',
): Record<string, string> {
  switch (target.kind) {
    case 'noDomain':
      return { domain: 'Type the domain of the docs site, such as docs.acme.com.' };
    case 'badDomain': {
      const fix =
        target.suggested === undefined ? 'Type it like docs.acme.com.' : `Did you mean ${target.suggested}?`;
      return {
        domain: cut(
          `${cut(singleLine(target.typed), 40)} isn't a host name. ${fix}`,
          SLACK_LIMITS.modalFieldError,
        ),
      };
    }
    case 'foreignPage':
      return { paths: target.problem };
    case 'domainRefused':
      return { [refusedAt]: cut(refusalText(target), SLACK_LIMITS.modalFieldError) };
    case 'unknownProject':
      return { project: cut(refusalText(target), SLACK_LIMITS.modalFieldError) };
    case 'ask': {
      const names = target.among.map(({ name }) => name).join(' and ');
      return { project: cut(`${names} have this domain: choose one.`, SLACK_LIMITS.modalFieldError) };
    }
  }
}

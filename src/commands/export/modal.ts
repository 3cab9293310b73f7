import type { InputBlock, ModalView } from '@slack/types';
import { z } from 'zod';
import { choiceField, formView, textField } from '../../slack/modals.ts';
import { cut, oneLine } from '../../slack/text.ts';
import type { Caller, CommandTools, Submitted } from '../command.ts';
import { defineDialog } from '../command.ts';
import { readPaths, readVersion } from './options.ts';
import { startExport } from './start.ts';
import { type Resolved, refusal, resolve, type WantedExport } from './target.ts';

const CALLBACK = 'export.start';

/** Limits of Slack's for a select; a longer list becomes a text field. */
const OPTIONS = 100;
const OPTION = 75;

const origin = z.object({ channel: z.object({ id: z.string(), name: z.string() }), request: z.string() });

/** Slack's limit for what stands in a text field when the dialog opens. */
const INITIAL = 3000;

const typedPaths = (paths: string[]) => paths.join(', ');

/** Whether everything that was asked for can be shown in the dialog: what is left out would be forgotten. */
export const fitsDialog = ({ paths = [] }: Pick<WantedExport, 'paths'>) =>
  typedPaths(paths).length <= INITIAL;

/** Asks for what a command without a domain, or without a clear project, left open. */
export function exportDialogView(
  wanted: Partial<WantedExport>,
  { channel, requestId, user }: Pick<Caller, 'channel' | 'requestId' | 'user'>,
  tools: Pick<CommandTools, 'projects' | 'docsDomain' | 'links'>,
): ModalView {
  const { version, paths, privately = false } = wanted;
  const mayShare = tools.links === 'thread' && user.fullMember;
  return formView({
    title: 'Export a docs site',
    submit: 'Export',
    callback: CALLBACK,
    meta: { channel, request: requestId } satisfies z.infer<typeof origin>,
    fields: [
      domainField(wanted.domain, tools),
      ...projectField(wanted.project, tools),
      textField({
        block: 'version',
        label: 'Version',
        hint: 'A label for this export.',
        optional: true,
        ...(version !== undefined && { initial: version }),
      }),
      textField({
        block: 'paths',
        label: 'Pages',
        hint: 'Paths of pages, with commas between. Leave it empty for all pages.',
        placeholder: '/guides, /api',
        optional: true,
        multiline: true,
        ...(paths !== undefined && { initial: typedPaths(paths) }),
      }),
      choiceField({
        block: 'link',
        label: 'Who gets the download link',
        hint: 'In a channel that is shared with another organization, it goes to you alone.',
        choices: [
          ...(mayShare ? [{ label: 'Everyone in the thread', value: 'thread' }] : []),
          { label: 'Only me, by direct message', value: 'requester' },
        ],
        initial: mayShare && !privately ? 'thread' : 'requester',
      }),
    ],
  });
}

function domainField(
  typed: string | undefined,
  { projects, docsDomain }: Pick<CommandTools, 'projects' | 'docsDomain'>,
): InputBlock {
  const known = [...new Set(projects.flatMap(({ domains }) => domains ?? []))];
  const fits = known.length > 0 && known.length <= OPTIONS && known.every(({ length }) => length <= OPTION);
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

/** Only where a domain alone does not tell the project. */
function projectField(named: string | undefined, { projects }: Pick<CommandTools, 'projects'>): InputBlock[] {
  const domains = projects.flatMap((project) => project.domains ?? []);
  const clear =
    new Set(domains).size === domains.length && projects.every((project) => project.domains !== undefined);
  if (projects.length < 2 || clear) return [];
  const choices = projects.slice(0, OPTIONS).map(({ name }) => ({ label: name, value: name }));
  const initial = projects.find(({ name }) => name.toLowerCase() === named?.toLowerCase());
  return [
    choiceField({
      block: 'project',
      label: 'Project',
      hint: 'Only needed where several projects have the domain.',
      choices,
      optional: true,
      ...(initial && { initial: initial.name }),
    }),
  ];
}

export const exportDialog = defineDialog({
  callback: CALLBACK,
  may: 'export',
  meta: origin,

  async submit(entered, _origin, caller, tools): Promise<Submitted> {
    const version = entered.version === undefined ? undefined : readVersion(entered.version);
    const paths = entered.paths === undefined ? undefined : readPaths(entered.paths);
    const found = resolve({ domain: entered.domain, project: entered.project }, caller.channel.id, tools);
    const problems = {
      ...(found.kind !== 'ok' && problemOf(found)),
      ...(version?.kind === 'unclear' && { version: version.problem }),
      ...(paths?.kind === 'unclear' && { paths: paths.problem }),
    };
    if (found.kind !== 'ok' || Object.keys(problems).length > 0) return { kind: 'problems', problems };
    const told = await startExport(
      {
        domain: found.domain,
        project: found.project.name,
        version: version?.kind === 'ok' ? version.version : undefined,
        paths: paths?.kind === 'ok' ? paths.paths : undefined,
        privately: entered.link === 'requester',
      },
      caller,
      tools,
    );
    return told === undefined ? { kind: 'closed' } : { kind: 'told', message: told };
  },
});

/** Slack shows at most 150 characters at a field. */
const PROBLEM = 150;

function problemOf(found: Exclude<Resolved, { kind: 'ok' }>): Record<string, string> {
  switch (found.kind) {
    case 'noDomain':
      return { domain: 'Type the domain of the docs site, such as docs.acme.com.' };
    case 'badDomain': {
      const fix =
        found.suggested === undefined ? 'Type it like docs.acme.com.' : `Did you mean ${found.suggested}?`;
      return { domain: cut(`${cut(oneLine(found.typed), 40)} isn't a host name. ${fix}`, PROBLEM) };
    }
    case 'domainRefused':
      return { domain: cut(refusal(found), PROBLEM) };
    case 'unknownProject':
      return { project: cut(refusal(found), PROBLEM) };
    case 'ask': {
      const names = found.among.map(({ name }) => name).join(' and ');
      return { project: cut(`${names} have this domain: choose one.`, PROBLEM) };
    }
  }
}

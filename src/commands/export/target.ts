import { readDomain } from '../../domain.ts';
import { defaultDomain, type Project, projectMeant } from '../../projects.ts';
import { cut, oneLine } from '../../slack/text.ts';
import type { CommandTools } from '../command.ts';

/** An export as somebody asks for it; `domain` and `project` are as typed. */
export interface WantedExport {
  domain: string | undefined;
  project: string | undefined;
  version: string | undefined;
  paths: string[] | undefined;
  privately: boolean;
}

/** What to export, in which project; or what is still missing or wrong. */
export type Resolved =
  | { kind: 'ok'; domain: string; project: Project }
  | { kind: 'noDomain' }
  | { kind: 'badDomain'; typed: string; suggested: string | undefined }
  | { kind: 'unknownProject'; named: string; known: string[] }
  /** `named`: the project that was asked for. */
  | { kind: 'domainRefused'; domain: string; named: string | undefined; known: string[] }
  | { kind: 'ask'; domain: string; among: Project[] };

/** Finds out what is meant, before anything outside is asked. */
export function resolve(
  { domain: typed, project: named }: Pick<WantedExport, 'domain' | 'project'>,
  channel: string,
  { projects, docsDomain }: Pick<CommandTools, 'projects' | 'docsDomain'>,
): Resolved {
  const word = typed ?? defaultDomain(projects, { named, channel }, docsDomain);
  if (word === undefined) {
    const meant = projectMeant(projects, { named, channel });
    return meant.kind === 'unknownProject' ? { ...meant, named: named ?? '' } : { kind: 'noDomain' };
  }
  const read = readDomain(word);
  if (read.kind === 'unclear')
    return read.typed.trim() === ''
      ? { kind: 'noDomain' }
      : { kind: 'badDomain', typed: read.typed, suggested: read.suggested };
  const { domain } = read;
  const meant = projectMeant(projects, { named, channel, domain });
  switch (meant.kind) {
    case 'project':
      return { kind: 'ok', domain, project: meant.project };
    case 'unknownProject':
      return { ...meant, named: named ?? '' };
    case 'domainRefused':
      return { ...meant, domain, named };
    case 'ask':
      return { ...meant, domain };
  }
}

/** More names than this do not help. */
const LISTED = 10;

/** What is wrong with a project or a domain, with what can be had instead. */
export function refusal(found: Extract<Resolved, { kind: 'unknownProject' | 'domainRefused' }>): string {
  const more = found.known.length - LISTED;
  const known = found.known.slice(0, LISTED).join(', ') + (more > 0 ? ` and ${more} more` : '');
  const named = cut(oneLine(found.named ?? ''), 60);
  if (found.kind === 'unknownProject') return `There is no project ${named} here. There is: ${known}.`;
  if (found.known.length === 0) return `${found.domain} isn't set up for exports, and no other domain is.`;
  return named === ''
    ? `${found.domain} isn't set up for exports. Set up here: ${known}.`
    : `${found.domain} isn't in project ${named}. Its domains: ${known}.`;
}

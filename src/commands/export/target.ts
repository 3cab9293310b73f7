import { readDomain } from '../../domain.ts';
import { listNames, unknownProjectText } from '../../jobs/wording-view.ts';
import { defaultDomain, type Project, resolveProject } from '../../projects.ts';
import { editDistance } from '../../runtime/edit-distance.ts';
import { sanitizeUserText } from '../../slack/text.ts';
import type { CommandTools } from '../tools.ts';
import { pathsOn } from './args.ts';

/** A requested export; `domain` and `project` are as typed. */
export interface ExportRequest {
  domain: string | undefined;
  project: string | undefined;
  version: string | undefined;
  /** As `readPaths` returns them. */
  paths: string[] | undefined;
  privately: boolean;
}

/** The target and its project, or the missing or wrong part. */
export type ResolvedTarget =
  /** The domain is unknown; `meant` is a known one that is one or two letters away. */
  | {
      kind: 'ok';
      domain: string;
      project: Project;
      paths: string[] | undefined;
      meant?: string | undefined;
    }
  | { kind: 'noDomain' }
  | { kind: 'badDomain'; typed: string; suggested: string | undefined }
  | { kind: 'foreignPage'; problem: string }
  | { kind: 'unknownProject'; named: string; known: string[] }
  /** `named`: the requested project. */
  | {
      kind: 'domainRefused';
      domain: string;
      named: string | undefined;
      known: string[];
      meant?: string | undefined;
    }
  | { kind: 'ask'; domain: string; among: Project[] };

/** Resolves the target, before any call to the outside. */
export function resolveTarget(
  { domain: typed, project: named, paths: pages }: Pick<ExportRequest, 'domain' | 'project' | 'paths'>,
  channel: string,
  { projects, docsDomain }: Pick<CommandTools, 'projects' | 'docsDomain'>,
): ResolvedTarget {
  const domainText = typed ?? defaultDomain(projects, { named, channel }, docsDomain);
  if (domainText === undefined) {
    const resolved = resolveProject(projects, { named, channel });
    return resolved.kind === 'unknownProject' ? { ...resolved, named: named ?? '' } : { kind: 'noDomain' };
  }
  const parsed = readDomain(domainText);
  if (parsed.kind === 'unclear')
    return parsed.typed.trim() === ''
      ? { kind: 'noDomain' }
      : { kind: 'badDomain', typed: parsed.typed, suggested: parsed.suggested };
  const { domain } = parsed;
  const paths = pages && pathsOn(domain, pages);
  if (paths?.kind === 'unclear') return { kind: 'foreignPage', problem: paths.problem };
  const resolved = resolveProject(projects, { named, channel, domain });
  if (resolved.kind === 'project') {
    const known = [
      ...(docsDomain === undefined ? [] : [docsDomain]),
      ...projects.flatMap(({ domains }) => domains ?? []),
    ];
    return {
      kind: 'ok',
      domain,
      project: resolved.project,
      paths: paths?.value,
      meant: nearestDomain(domain, known),
    };
  }
  if (resolved.kind === 'unknownProject') return { ...resolved, named: named ?? '' };
  if (resolved.kind === 'ask') return { ...resolved, domain };
  return { ...resolved, domain, named, meant: nearestDomain(domain, resolved.known) };
}

/** With more differing letters, one host name is rarely a misspelling of another. */
const MAX_SLIPS = 2;

function nearestDomain(domain: string, known: readonly string[]): string | undefined {
  if (known.includes(domain)) return undefined;
  const slips = new Map(known.map((one) => [one, editDistance(domain, one)]));
  const near = [...slips].filter(([, count]) => count <= MAX_SLIPS);
  return near.toSorted(([, one], [, other]) => one - other)[0]?.[0];
}

/** The problem of a project or a domain, with the alternatives. */
export function refusalText(
  target: Extract<ResolvedTarget, { kind: 'unknownProject' | 'domainRefused' }>,
): string {
  if (target.kind === 'unknownProject') return unknownProjectText(target.named, target.known);
  const { domain, known } = target;
  if (known.length === 0) return `${domain} isn't set up for exports, and no other domain is.`;
  const named = sanitizeUserText(target.named ?? '', 60);
  return named === ''
    ? `${domain} isn't set up for exports. Set up here: ${listNames(known)}.`
    : `${domain} isn't in project ${named}. Its domains: ${listNames(known)}.`;
}

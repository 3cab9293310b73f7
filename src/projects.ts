/** A docs project: its API key, and the requests it allows. */
export interface Project {
  /** Its name in the file; `default` without one. */
  name: string;
  /** For everything but exports. */
  projectId: string | undefined;
  /** The organization whose limit of analytics requests it shares; by default, its key's. */
  organization?: string | undefined;
  /** Host names, lower case ASCII. `undefined` allows any: the platform decides. */
  domains: readonly string[] | undefined;
  /** The key at the start. */
  apiKey: string;
  /** The setting with the key or the name of its file: an environment variable, or the path in the settings file. */
  apiKeyVariable: string;
  apiKeyFile?: string | undefined;
  /** Expiry date of the key, such as 2026-12-31. */
  apiKeyExpires?: string | undefined;
  /** Ids of the channels whose default project this is. */
  channels: readonly string[];
  /** The names of the workspaces that see it; all if it names none. */
  workspaces?: readonly string[] | undefined;
  /** The deployments that can be updated to its exports. */
  deployments?: readonly Deployment[] | undefined;
  /** The Git host of the agent's pull requests, if Docket reads their state. */
  pullRequests?: PullRequests | undefined;
}

export interface PullRequests {
  host: 'github' | 'gitlab';
  apiUrl: string;
  /** Its file is read again after a 401. */
  token: NamedSecret;
  /** Working days without a review before the one reminder; 0 for none. */
  remindAfterDays: number;
  /** The person or the user group whom it mentions; by default, the owner. */
  remind?: string | undefined;
}

/** A self-hosted docs site that serves exports. Docket notifies it of them by exactly one of `webhook` and `github`. */
export interface Deployment {
  name: string;
  /** The address of its site, for people. */
  url?: string | undefined;
  webhook?: Webhook | undefined;
  github?: GithubWorkflow | undefined;
}

export interface Webhook {
  url: string;
  /** `whsec_` and base64. At least one; several while one is replaced. Their files are read again after a 401. */
  secrets: readonly NamedSecret[];
  /** Whether the message has the link to the bundle. */
  includeLink: boolean;
}

/** It has exactly one of `workflow` and `event`. */
export interface GithubWorkflow {
  apiUrl: string;
  /** Owner and name. */
  repository: string;
  workflow?: string | undefined;
  event?: string | undefined;
  /** The workflow's branch or tag. */
  ref: string;
  /** Its file is read again after a 401. */
  token: NamedSecret;
}

/** A secret, and the setting with it: an environment variable, or the path of `file`. */
export interface NamedSecret {
  secret: string;
  name: string;
  file?: string | undefined;
}

/** A request's data about its project. `named` is the value of `--project`; `domain` comes from `readDomain`. */
interface ProjectQuery {
  named?: string | undefined;
  channel: string;
  domain?: string | undefined;
}

/**
 * Returns the project of a request: the named one, else its channel's, else its domain's, else the only one. A project
 * that does not list the given domain does not count, not even the channel's. `unknownProject`: no project has that
 * name, `known` has all names. `domainRefused`: the domain is not listed by the named project, or by any; `known` has
 * the listed ones. `ambiguous`: several projects fit, and the person has to choose.
 */
export function resolveProject(projects: readonly Project[], { named, channel, domain }: ProjectQuery) {
  if (named !== undefined) {
    const project = projectNamed(projects, named);
    if (project === undefined)
      return { kind: 'unknownProject' as const, known: projects.map(({ name }) => name) };
    return acceptsDomain(project, domain)
      ? { kind: 'project' as const, project }
      : { kind: 'domainRefused' as const, known: domainsOf([project]) };
  }
  const candidates = projects.filter((project) => acceptsDomain(project, domain));
  const project =
    projectOfChannel(candidates, channel) ?? (candidates.length === 1 ? candidates[0] : undefined);
  if (project !== undefined) return { kind: 'project' as const, project };
  return candidates.length === 0
    ? { kind: 'domainRefused' as const, known: domainsOf(projects) }
    : { kind: 'ambiguous' as const, among: candidates };
}

/** Projects with an id, which the platform requires for everything but exports. */
export const projectsWithId = (projects: readonly Project[]): Project[] =>
  projects.filter(({ projectId }) => projectId !== undefined);

/** Returns the domain for a request without one, if there is a default. `docsDomain` is the setting DOCS_DOMAIN. */
export function defaultDomain(
  projects: readonly Project[],
  { named, channel }: Omit<ProjectQuery, 'domain'>,
  docsDomain: string | undefined,
): string | undefined {
  const selected = named === undefined ? projectOfChannel(projects, channel) : projectNamed(projects, named);
  if (named !== undefined && selected === undefined) return undefined;
  const candidates = selected === undefined ? projects : [selected];
  if (docsDomain !== undefined && candidates.some((project) => acceptsDomain(project, docsDomain)))
    return docsDomain;
  const only = candidates.length === 1 ? candidates[0]?.domains : undefined;
  return only?.length === 1 ? only[0] : undefined;
}

/** Returns the project with this name, in any case. */
export const projectNamed = (projects: readonly Project[], named: string) =>
  projects.find(({ name }) => name.toLowerCase() === named.toLowerCase());

const projectOfChannel = (projects: readonly Project[], channel: string) =>
  projects.find(({ channels }) => channels.includes(channel));

const acceptsDomain = ({ domains }: Project, domain: string | undefined) =>
  domain === undefined || domains === undefined || domains.includes(domain);

const domainsOf = (projects: readonly Project[]) => [
  ...new Set(projects.flatMap(({ domains }) => domains ?? [])),
];

/** A docs project: whose key is used, and what may be asked for in it. */
export interface Project {
  /** Its name in the file; `default` without one. */
  name: string;
  /** For agent jobs and analytics. */
  projectId: string | undefined;
  /** Host names, lower case ASCII. Nothing: any may be asked for, and the platform decides. */
  domains: readonly string[] | undefined;
  apiKey: string;
  /** The environment variable that holds the key. */
  apiKeyVariable: string;
  /** Ids of the channels whose default project this is. */
  channels: readonly string[];
}

/** What a request says about its project. `named` stands behind `--project`; `domain` is as `readDomain` gives it. */
interface ProjectQuery {
  named?: string | undefined;
  channel: string;
  domain?: string | undefined;
}

export type ProjectMatch =
  | { kind: 'project'; project: Project }
  /** `--project` names none; `known` are the names that there are. */
  | { kind: 'unknownProject'; known: string[] }
  /** No project, or not the named one, lists the domain; `known` are the domains that are set up. */
  | { kind: 'domainRefused'; known: string[] }
  /** Only a person can say. */
  | { kind: 'ask'; among: Project[] };

/**
 * The project that a request means: the one it names, else its channel's, else its domain's, else the only one. An
 * explicit domain of another project outranks the channel's.
 */
export function resolveProject(
  projects: readonly Project[],
  { named, channel, domain }: ProjectQuery,
): ProjectMatch {
  if (named !== undefined) {
    const project = projectNamed(projects, named);
    if (project === undefined) return { kind: 'unknownProject', known: projects.map(({ name }) => name) };
    return acceptsDomain(project, domain)
      ? { kind: 'project', project }
      : { kind: 'domainRefused', known: domainsOf([project]) };
  }
  const candidates = projects.filter((project) => acceptsDomain(project, domain));
  const project =
    projectOfChannel(candidates, channel) ?? (candidates.length === 1 ? candidates[0] : undefined);
  if (project !== undefined) return { kind: 'project', project };
  return candidates.length === 0
    ? { kind: 'domainRefused', known: domainsOf(projects) }
    : { kind: 'ask', among: candidates };
}

/** The domain that a request without one means, if there is one. `docsDomain` is the setting DOCS_DOMAIN. */
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

const projectNamed = (projects: readonly Project[], named: string) =>
  projects.find(({ name }) => name.toLowerCase() === named.toLowerCase());

const projectOfChannel = (projects: readonly Project[], channel: string) =>
  projects.find(({ channels }) => channels.includes(channel));

const acceptsDomain = ({ domains }: Project, domain: string | undefined) =>
  domain === undefined || domains === undefined || domains.includes(domain);

const domainsOf = (projects: readonly Project[]) => [
  ...new Set(projects.flatMap(({ domains }) => domains ?? [])),
];

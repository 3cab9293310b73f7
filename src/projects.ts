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
interface Asked {
  named?: string | undefined;
  channel: string;
  domain?: string | undefined;
}

export type Meant =
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
export function projectMeant(projects: readonly Project[], { named, channel, domain }: Asked): Meant {
  if (named !== undefined) {
    const project = projectNamed(projects, named);
    if (project === undefined) return { kind: 'unknownProject', known: projects.map(({ name }) => name) };
    return takes(project, domain)
      ? { kind: 'project', project }
      : { kind: 'domainRefused', known: domainsOf([project]) };
  }
  const takers = projects.filter((project) => takes(project, domain));
  const project = ofChannel(takers, channel) ?? (takers.length === 1 ? takers[0] : undefined);
  if (project !== undefined) return { kind: 'project', project };
  return takers.length === 0
    ? { kind: 'domainRefused', known: domainsOf(projects) }
    : { kind: 'ask', among: takers };
}

/** The domain that a request without one means, if there is one. `docsDomain` is the setting DOCS_DOMAIN. */
export function defaultDomain(
  projects: readonly Project[],
  { named, channel }: Omit<Asked, 'domain'>,
  docsDomain: string | undefined,
): string | undefined {
  const meant = named === undefined ? ofChannel(projects, channel) : projectNamed(projects, named);
  if (named !== undefined && meant === undefined) return undefined;
  const candidates = meant === undefined ? projects : [meant];
  if (docsDomain !== undefined && candidates.some((project) => takes(project, docsDomain))) return docsDomain;
  const only = candidates.length === 1 ? candidates[0]?.domains : undefined;
  return only?.length === 1 ? only[0] : undefined;
}

const projectNamed = (projects: readonly Project[], named: string) =>
  projects.find(({ name }) => name.toLowerCase() === named.toLowerCase());

const ofChannel = (projects: readonly Project[], channel: string) =>
  projects.find(({ channels }) => channels.includes(channel));

const takes = ({ domains }: Project, domain: string | undefined) =>
  domain === undefined || domains === undefined || domains.includes(domain);

const domainsOf = (projects: readonly Project[]) => [
  ...new Set(projects.flatMap(({ domains }) => domains ?? [])),
];

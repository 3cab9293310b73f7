import { z } from 'zod';
import { LIMITS } from '../jobs/limits.ts';
import type { Contact } from '../policy.ts';
import type { Project } from '../projects.ts';
import { lengthOf, singleLine } from '../slack/text.ts';
import { type Env, keySourceIn, type Problem, projectProblems, readKey } from './project-settings.ts';
import { hostName, isVariableName, projectId } from './values.ts';
import { readYaml, type YamlPath } from './yaml-file.ts';

const list = <Item extends z.ZodType>(item: Item) => z.array(item, 'must be a list. Put it in [ ].');

const hostNameProblem = 'must be a host name. Write it like docs.example.com.';

const domain = hostName(hostNameProblem, (meant) => `must be a host name only. Did you mean ${meant}?`);

const channelIdProblem =
  "must be a channel's id, not its name. In Slack, open the channel's details: the id, such as C0123ABCD, is at the end of About.";

const channel = z.string(channelIdProblem).regex(/^[CG][A-Z0-9]{4,20}$/, channelIdProblem);

const principalProblem =
  "must be everyone or an id, not a name. A person's (U…): their profile, ⋮, Copy member ID. A user group's (S…): its page in the directory, ⋮, Copy group ID.";

const principal = z.string(principalProblem).regex(/^(?:everyone|[UWS][A-Z0-9]{4,20})$/, principalProblem);

/** No message here may repeat the value: it may be a key. */
const apiKey = z
  .unknown()
  .superRefine((value, context) => {
    if (typeof value === 'string')
      return context.addIssue(
        'contains the key itself. Put the key in an environment variable, and write { env: NAME } here.',
      );
    const source = keySourceIn(value);
    if (source === undefined || (source.kind === 'env' && !isVariableName(source.name)))
      context.addIssue(
        'must name an environment variable in capitals, or a file. Write it like { env: ACME_DOCS_API_KEY } or { file: /run/secrets/acme }.',
      );
  })
  .optional();

const mapProblem = 'must be a map. Below it, write one name: value per line.';

const organization = z
  .string('must be a name in quotes.')
  .regex(/^[\w.-]{1,80}$/, 'must have 1 to 80 letters, digits, dots, dashes or underscores.');

const projectSchema = z.strictObject(
  {
    projectId: projectId.optional(),
    organization: organization.optional(),
    domains: list(domain).default([]),
    apiKey,
    channels: list(channel).default([]),
  },
  mapProblem,
);

const allowSchema = z.strictObject(
  {
    export: list(principal).default(['everyone']),
    agent: list(principal).default(['everyone']),
    digest: list(principal).default(['everyone']),
    admin: list(principal).default([]),
  },
  mapProblem,
);

const contactProblem =
  'must be a contact: the id of a person (U…) or of a user group (S…), or up to 80 characters such as "@docs-admins".';

/** A text is shown unchanged and mentions nobody. An id is shown as its name in Slack. */
const contact = z.string(contactProblem).transform((typed, context): Contact => {
  const text = typed.length > 400 ? '' : singleLine(typed.toWellFormed());
  if (text === '' || lengthOf(text) > 80 || text.startsWith('<') || isChannelId.test(text))
    context.addIssue(contactProblem);
  return isId.test(text) ? { id: text } : { text };
});

/** An id has a digit: SUPPORT is a word. */
const isId = /^[UWS](?=[A-Z]*[0-9])[A-Z0-9]{4,20}$/;

/** People cannot read it. */
const isChannelId = /^[CGD](?=[A-Z]*[0-9])[A-Z0-9]{4,20}$/;

const limitsSchema = z.strictObject(LIMITS, mapProblem);

const fileSchema = z.strictObject(
  {
    projects: z
      .record(z.string(), projectSchema, 'must be a map. Put each project under its own name.')
      .refine(
        (projects) => Object.keys(projects).length > 0,
        'has no project. Add one, or remove it to use the project of the environment.',
      )
      .optional(),
    allow: allowSchema.prefault({}),
    links: z
      .enum(['thread', 'requester'], 'must be thread or requester. The default is thread.')
      .default('thread'),
    replies: z
      .enum(['auto', 'all', 'mention'], 'must be auto, all or mention. The default is auto.')
      .default('auto'),
    limits: limitsSchema.prefault({}),
    contact: contact.optional(),
  },
  'must be a map of settings. Begin it with a line such as "projects:".',
);

const EMPTY = 'is empty. Add settings, or unset DOCKET_CONFIG.';
const NOT_YAML =
  'is not YAML that Docket reads. Check the indentation, the quotes and the punctuation up to here, and write aliases out.';

/** The settings of the file, with defaults for missing ones. */
export type ConfigFile = Omit<z.output<typeof fileSchema>, 'projects'> & {
  /** Undefined if the project comes from the environment. */
  projects: Project[] | undefined;
};

/** The settings without a file. */
export const defaultConfigFile: ConfigFile = { ...fileSchema.parse({}), projects: undefined };

/**
 * Parses the text of the file at `path`. `problems` are one line each, `<path>:<line> <where> <what>. <fix>`, and never
 * repeat a key or a value in the place of a key. If there are any, `file` is undefined.
 */
export function readConfigFile(
  text: string,
  path: string,
  env: Env,
): { file: ConfigFile | undefined; problems: string[] } {
  const { value, brokenAt, lineOf } = readYaml(text);
  const failWith = (...problems: string[]) => ({ file: undefined, problems });
  if (brokenAt !== undefined) return failWith(`${path}:${brokenAt.line}:${brokenAt.column} ${NOT_YAML}`);
  if (value === null) return failWith(`${path}:1 ${EMPTY}`);

  const parsed = fileSchema.safeParse(value);
  const found = [...schemaProblems(parsed.error?.issues ?? []), ...projectProblems(value, env)]
    .map((problem) => ({ ...problem, line: lineOf(problem.path) }))
    .toSorted((one, other) => one.line - other.line);
  if (!parsed.success || found.length > 0)
    return failWith(
      ...found.map(({ line, path: where, text: what }) =>
        [`${path}:${line}`, formatPath(where), what].filter(Boolean).join(' '),
      ),
    );
  const { projects, ...rest } = parsed.data;
  return {
    file: { ...rest, projects: projects && Object.entries(projects).map((entry) => toProject(entry, env)) },
    problems: [],
  };
}

function toProject([name, given]: [string, z.infer<typeof projectSchema>], env: Env): Project {
  const { domains, channels, organization } = given;
  const key = readKey(keySourceIn(given.apiKey), env);
  return {
    name,
    projectId: given.projectId,
    domains,
    channels,
    ...key,
    ...(organization && { organization }),
  };
}

function schemaProblems(issues: readonly z.core.$ZodIssue[]): Problem[] {
  return issues.flatMap((issue): Problem[] => {
    const { path } = issue;
    if (issue.code !== 'unrecognized_keys') return [{ path, text: issue.message }];
    const text = `is not a setting. Known here: ${knownKeysAt(path).join(', ')}.`;
    return issue.keys.map((key) => ({ path: [...path, key], text }));
  });
}

function knownKeysAt([section]: YamlPath): string[] {
  const shapes: Record<string, z.ZodObject> = {
    projects: projectSchema,
    allow: allowSchema,
    limits: limitsSchema,
  };
  return Object.keys((shapes[String(section)] ?? fileSchema).shape);
}

/** Returns a path such as `projects.acme.domains[1]`. The part below `apiKey` may be a key, and is left out. */
function formatPath(path: YamlPath): string {
  const key = path.indexOf('apiKey') + 1;
  return path
    .slice(0, key === 0 ? undefined : key)
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`;
      const name = /^[\w-]{1,40}$/.test(String(step))
        ? String(step)
        : JSON.stringify(String(step).slice(0, 40));
      return index === 0 ? name : `.${name}`;
    })
    .join('');
}

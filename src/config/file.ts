import { z } from 'zod';
import { LIMITS } from '../jobs/limits.ts';
import type { Contact } from '../policy.ts';
import type { Project } from '../projects.ts';
import { editDistance } from '../runtime/edit-distance.ts';
import { lengthOf, oneLine } from '../slack/text.ts';
import {
  type Env,
  keySourceIn,
  type Problem,
  projectNamePattern,
  projectProblems,
  readKey,
  record,
} from './project-settings.ts';
import { hostName, isVariableName, projectId } from './values.ts';
import { readYaml, type YamlFile, type YamlPath, type YamlProblem } from './yaml-file.ts';

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
    if (source === undefined)
      context.addIssue(
        'must name an environment variable or a file. Write it like { env: ACME_DOCS_API_KEY } or { file: /run/secrets/acme }.',
      );
    else if (source.kind === 'env' && !isVariableName(source.name))
      context.addIssue(
        'must name an environment variable in capitals, not hold a key. Write it like { env: ACME_DOCS_API_KEY }.',
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

/** A text is shown as it is: it mentions nobody. An id is shown as the name that Slack has for it. */
const contact = z.string(contactProblem).transform((typed, context): Contact => {
  const text = typed.length > 400 ? '' : oneLine(typed.toWellFormed());
  const problem = contactFlaw(text);
  if (problem !== undefined) context.addIssue(problem);
  return isId.test(text) ? { id: text } : { text };
});

/** An id has a digit: SUPPORT is a word. */
const isId = /^[UWS](?=[A-Z]*[0-9])[A-Z0-9]{4,20}$/;

function contactFlaw(text: string): string | undefined {
  if (text === '' || lengthOf(text) > 80) return contactProblem;
  if (text.startsWith('<')) return 'must be the id alone, such as S0DOCS, or a text such as "@docs-admins".';
  return /^[CGD](?=[A-Z]*[0-9])[A-Z0-9]{4,20}$/.test(text)
    ? 'is the id of a channel, which people cannot read. Write its name, such as "#docs-help".'
    : undefined;
}

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

/** The settings of the file, with defaults for those that it does not set. */
export type ConfigFile = Omit<z.output<typeof fileSchema>, 'projects'> & {
  /** `undefined` when the project comes from the environment. */
  projects: Project[] | undefined;
};

/** The settings without a file. */
export const defaultConfigFile: ConfigFile = { ...fileSchema.parse({}), projects: undefined };

/**
 * Reads the text of the file at `path`. `problems` are one line each, `<path>:<line> <where> <what>. <fix>`, and never
 * repeat a key or a value in the place of a key. When there are any, `file` is `undefined`.
 */
export function readConfigFile(
  text: string,
  path: string,
  env: Env,
): { file: ConfigFile | undefined; problems: string[] } {
  const yaml = readYaml(text);
  const failWith = (problems: YamlProblem[]) => ({
    file: undefined,
    problems: [...new Set(problems.toSorted((one, other) => one.line - other.line).map(formatProblem))],
  });
  const formatProblem = ({ line, column, path: where, text: what }: YamlProblem) =>
    [`${path}:${line}${column === undefined ? '' : `:${column}`}`, formatPath(where), what]
      .filter(Boolean)
      .join(' ');

  if (yaml.value === undefined) return failWith(yaml.problems);
  if (yaml.value === null)
    return failWith([{ path: [], line: 1, text: 'is empty. Add settings, or unset DOCKET_CONFIG.' }]);

  const parsed = fileSchema.safeParse(yaml.value);
  const found = [...schemaProblems(parsed.error?.issues ?? [], yaml), ...projectProblems(yaml.value, env)];
  const yamlPaths = new Set(yaml.problems.map((problem) => formatPath(problem.path)));
  const problems = [
    ...yaml.problems,
    ...found
      .filter((problem) => !yamlPaths.has(formatPath(problem.path)))
      .map((problem) => ({ ...problem, line: yaml.lineOf(problem.path) })),
  ];
  if (!parsed.success || problems.length > 0) return failWith(problems);
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

function schemaProblems(issues: readonly z.core.$ZodIssue[], yaml: YamlFile): Problem[] {
  return issues.flatMap((issue): Problem[] => {
    const { path } = issue;
    if (issue.code === 'unrecognized_keys') {
      const known = knownKeysAt(path);
      return issue.keys.map((key) => ({ path: [...path, key], text: unknownKey(key, known) }));
    }
    const isEmpty = path.length > 0 && typeof path.at(-1) === 'string' && valueAt(yaml.value, path) === null;
    return [{ path, text: isEmpty ? 'is empty. Fill it in, or remove it.' : issue.message }];
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

function unknownKey(key: string, known: readonly string[]): string {
  const [nearest] = known
    .map((name) => ({ name, far: editDistance(normalize(key), normalize(name)) }))
    .sort((one, other) => one.far - other.far);
  const isNear = nearest !== undefined && nearest.far <= Math.max(1, Math.floor(nearest.name.length / 3));
  return `is not a setting. ${isNear ? `Did you mean ${nearest.name}?` : `Known here: ${known.join(', ')}.`}`;
}

const normalize = (key: string) => key.toLowerCase().slice(0, 40);

function valueAt(value: unknown, [step, ...rest]: YamlPath): unknown {
  if (step === undefined) return value;
  const inner = Array.isArray(value) ? value[Number(step)] : record(value)[String(step)];
  return valueAt(inner, rest);
}

/**
 * Returns a path such as `projects.acme.domains[1]`. Unusual keys are quoted, cut and cleaned of characters that hide
 * text; one in the place of an API key is left out.
 */
function formatPath(path: YamlPath): string {
  const key = path.indexOf('apiKey') + 1;
  return path
    .slice(0, key === 0 ? undefined : /^(?:env|file|expires)$/.test(String(path[key])) ? key + 1 : key)
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`;
      const key = String(step);
      const shown = projectNamePattern.test(key)
        ? key
        : JSON.stringify(key.replace(/\p{Cf}|[\u2028\u2029]/gu, '').slice(0, 40));
      return index === 0 ? shown : `.${shown}`;
    })
    .join('');
}

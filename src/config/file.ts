import { LineCounter, parseDocument, visit } from 'yaml';
import { z } from 'zod';
import { WEBHOOK_SECRET } from '../deployments/webhook.ts';
import { isSafeId } from '../docs-api/operations.ts';
import { readDomain } from '../domain.ts';
import { LIMITS } from '../jobs/shared/limits.ts';
import type { Project, PullRequests } from '../projects.ts';
import { isGitRef } from '../runtime/git-ref.ts';
import { readWebAddress } from '../runtime/web-address.ts';
import { kindOfId } from '../slack/ids.ts';
import {
  type Env,
  isName,
  list,
  mapProblem,
  matching,
  NAME_FIX,
  readSecret,
  type SecretPlace,
  secretFlaw,
  secretFrom,
  secretIn,
} from './values.ts';
import { allowSchema, checkWorkspaces, contact, readVariables, workspaceSchema } from './workspaces.ts';

/** Accepts host names, and returns them as `readDomain` does. A `suggestion`, if any, replaces `problem`. */
export const hostName = (problem: string, suggestion = (_meant: string) => problem) =>
  z.string(problem).transform((typed, context) => {
    const read = readDomain(typed);
    if (read.kind === 'domain') return read.domain;
    context.addIssue(read.suggested === undefined ? problem : suggestion(read.suggested));
    return z.NEVER;
  });

export const projectId = z
  .string('must be text. Put the id in quotes.')
  .refine(
    (id) => isSafeId(id) && /^\S{1,200}$/.test(id),
    "must be the project's id, without spaces and slashes. Copy it from the docs platform.",
  );

const hostNameProblem = 'must be a host name. Write it like docs.example.com.';

const domain = hostName(hostNameProblem, (meant) => `must be a host name only. Did you mean ${meant}?`);

const channelIdProblem =
  "must be a channel's id, not its name. In Slack, open the channel's details: the id, such as C0123ABCD, is at the end of About.";

const channel = z.string(channelIdProblem).refine((text) => kindOfId(text) === 'channel', channelIdProblem);

const KEY = 'an admin API key';

const apiKey = (env: Env) =>
  secretFrom(
    KEY,
    '{ env: ACME_DOCS_API_KEY, expires: 2026-12-31 } or { file: /run/secrets/acme }; expires may be left out',
    (place) => readKey(place, env),
  ).transform(
    ({ secret: apiKey, env: variable, file: apiKeyFile, expires: apiKeyExpires }): ProjectKey => ({
      apiKey,
      apiKeyVariable: variable ?? apiKeyFile ?? '',
      apiKeyFile,
      apiKeyExpires,
    }),
  );

const webhookSecretFlaw = (text: string) =>
  WEBHOOK_SECRET.test(text)
    ? undefined
    : 'names a secret that is not whsec_ and 24 to 64 bytes in base64. Make one: echo "whsec_$(openssl rand -base64 32)".';

const organization = z
  .string('must be a name in quotes.')
  .regex(/^[\w.-]{1,80}$/, 'must have 1 to 80 letters, digits, dots, dashes or underscores.');

/** Accepts one item, or a list of a few. Unlike a union, it keeps the messages and the paths of the item. */
const oneOrSeveral = <Item>(item: z.ZodType<Item>) =>
  z.unknown().transform((value, context): Item[] => {
    const several = z.array(item).min(1, SEVERAL).max(5, SEVERAL);
    const { data, error } = (Array.isArray(value) ? several : item.transform((one) => [one])).safeParse(
      value,
    );
    for (const issue of error?.issues ?? []) context.addIssue({ ...issue });
    return data ?? z.NEVER;
  });

const SEVERAL = 'must have one to five secrets. Remove those that were replaced.';

/** Returns whether a host name in the form of `URL` is `localhost`, `127.0.0.0/8` or `::1`. */
export const isLoopback = (hostname: string) => /^(localhost|127(\.\d+){3}|\[::1\])$/i.test(hostname);

/** Accepts `https`, or `http` to this machine: keys and tokens must not cross a network in the clear. */
export function secureUrl(fix: string) {
  return z.string(`is missing. ${fix}`).refine(
    (value) => {
      const url = URL.parse(value);
      return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLoopback(url.hostname));
    },
    { error: `must be an https address (http only for this machine). ${fix}`, abort: true },
  );
}

/** Returns whether an address has neither a user nor a query nor a fragment. */
export function isPlainUrl(value: string): boolean {
  const url = URL.parse(value);
  return !url || [url.username, url.password, url.search, url.hash].every((part) => part === '');
}

const webhook = (env: Env) =>
  z
    .strictObject(
      {
        url: secureUrl('Write the address that takes the message.').refine(
          (url) => isPlainUrl(url.replace(/\?[^#]*/, '')),
          'has a user or a fragment. Remove it: the secret proves who sends.',
        ),
        secret: oneOrSeveral(secretIn(env, 'a secret', 'ACME_DEPLOY_SECRET', webhookSecretFlaw)),
        includeLink: z.boolean('must be true or false. The default is false.').default(false),
      },
      mapProblem,
    )
    .transform(({ secret: secrets, ...webhook }) => ({ ...webhook, secrets }));

const refProblem = 'must be a branch or a tag, such as main.';

const token = (env: Env, variable: string) =>
  secretIn(env, 'a token', variable, (text) => {
    const flaw = secretFlaw(text);
    return flaw && `names a token that ${flaw}`;
  });

const apiUrl = (fix: string, usual: string) =>
  secureUrl(fix)
    .refine(isPlainUrl, 'has a user, a query or a fragment. Use scheme, host and path only.')
    .default(usual);

const githubUrl = apiUrl(
  'Write it like https://github.example.com/api/v3, or leave it out for github.com.',
  'https://api.github.com',
);

const gitlabUrl = apiUrl(
  'Write it like https://gitlab.example.com/api/v4, or leave it out for gitlab.com.',
  'https://gitlab.com/api/v4',
);

const github = (env: Env) =>
  z
    .strictObject(
      {
        repository: matching(
          /^[\w-]{1,80}\/(?!\.{1,2}$)[\w.-]{1,100}$/,
          'must be owner and name, as in acme/infra.',
        ),
        workflow: matching(
          /^[\w.-]{1,200}\.ya?ml$/,
          'must be a file in .github/workflows, such as a.yml.',
        ).optional(),
        event: matching(/^[\w.-]{1,100}$/, 'must be the type of an event, such as docs-export.').optional(),
        ref: z.string(refProblem).refine(isGitRef, refProblem).default('main'),
        token: token(env, 'ACME_DEPLOY_SECRET'),
        apiUrl: githubUrl,
      },
      mapProblem,
    )
    .refine(
      ({ workflow, event }) => !workflow !== !event,
      'must have either a workflow or an event. Write one of them.',
    );

const deploymentProblem =
  'must have either a webhook or github. Write it like webhook: { url: https://deploy.example.com/docket, secret: { env: ACME_DEPLOY_SECRET } }.';

const siteUrlProblem = 'must be the address of the site, such as https://docs.acme.com.';

const siteUrl = z
  .string(siteUrlProblem)
  .refine((value) => readWebAddress(value) !== undefined && isPlainUrl(value), siteUrlProblem);

const deployment = (env: Env) =>
  z
    .strictObject(
      { webhook: webhook(env).optional(), github: github(env).optional(), url: siteUrl.optional() },
      deploymentProblem,
    )
    .refine(({ webhook, github }) => !webhook !== !github, deploymentProblem);

const hostProblem =
  'must have either github or gitlab. Write it like github: { token: { env: ACME_GITHUB_TOKEN } }.';

const daysProblem = 'must be a number of working days from 0 (never) to 30. The default is 3.';

const pullRequests = (env: Env) =>
  z
    .strictObject(
      {
        github: z
          .strictObject({ token: token(env, 'ACME_GITHUB_TOKEN'), apiUrl: githubUrl }, mapProblem)
          .optional(),
        gitlab: z
          .strictObject(
            {
              token: token(env, 'ACME_GITLAB_TOKEN'),
              apiUrl: gitlabUrl,
            },
            mapProblem,
          )
          .optional(),
        remindAfterDays: z.int(daysProblem).min(0, daysProblem).max(30, daysProblem).default(3),
        remind: matching(
          /^[UWS][A-Z0-9]{4,20}$/,
          "must be the id of a person (U…) or of a user group (S…). A group's: its page in the directory, ⋮, Copy group ID.",
        ).optional(),
      },
      hostProblem,
    )
    .transform(({ github, gitlab, ...rest }, context): PullRequests => {
      const given = github ?? gitlab;
      if (given && !(github && gitlab))
        return { host: github ? 'github' : 'gitlab', apiUrl: given.apiUrl, token: given.token, ...rest };
      context.addIssue(hostProblem);
      return z.NEVER;
    });

const projectSchema = (env: Env) =>
  z.strictObject(
    {
      projectId: projectId.optional(),
      organization: organization.optional(),
      domains: list(domain).default([]),
      apiKey: apiKey(env).optional(),
      channels: list(channel).default([]),
      deployments: z.record(z.string(), deployment(env), mapProblem).default({}),
      workspaces: list(z.string()).optional(),
      pullRequests: pullRequests(env).optional(),
    },
    mapProblem,
  );

type GivenProject = z.output<ReturnType<typeof projectSchema>>;

const fileSchema = (env: Env) =>
  z.strictObject(
    {
      workspaces: z
        .record(z.string(), workspaceSchema(env), 'must be a map. Put each workspace under its own name.')
        .optional(),
      projects: z
        .record(z.string(), projectSchema(env), 'must be a map. Put each project under its own name.')
        .superRefine((projects, context) => checkProjects(projects, context, env))
        .transform((projects) => Object.entries(projects).map((entry) => toProject(entry, env)))
        .optional(),
      allow: allowSchema.prefault({}),
      links: z
        .enum(['thread', 'requester'], 'must be thread or requester. The default is thread.')
        .default('thread'),
      replies: z
        .enum(['auto', 'all', 'mention'], 'must be auto, all or mention. The default is auto.')
        .default('auto'),
      whileWorking: z.enum(['wait', 'send'], 'must be wait or send. The default is wait.').default('wait'),
      context: z.enum(['ask', 'never'], 'must be ask or never. The default is ask.').default('ask'),
      limits: z.strictObject(LIMITS, mapProblem).prefault({}),
      contact: contact.optional(),
    },
    'must be a map of settings. Begin it with a line such as "projects:".',
  );

const EMPTY = 'is empty. Add settings, or unset DOCKET_CONFIG.';
const NOT_YAML =
  'is not YAML that Docket reads. Check the indentation, the quotes and the punctuation up to here, and write aliases out.';

/** The settings of the file, with defaults for missing ones. No `projects` if the project comes from the environment. */
export type ConfigFile = z.output<ReturnType<typeof fileSchema>>;

/** The settings without a file. */
export const defaultConfigFile: ConfigFile = fileSchema({}).parse({});

/**
 * Parses the text of the file at `path`. `problems` are one line each, `<path> <where> <what>. <fix>`, and never repeat
 * a key or a value in the place of a key. If there are any, `file` is undefined. `variables` are those that
 * its workspaces name; undefined without workspaces.
 */
export function readConfigFile(text: string, path: string, env: Env) {
  const { value, brokenAt } = readYaml(text);
  if (brokenAt !== undefined) return { file: undefined, problems: [`${path}:${brokenAt} ${NOT_YAML}`] };
  if (value === null) return { file: undefined, problems: [`${path} ${EMPTY}`] };
  const { data, error } = fileSchema(env).transform(checkWorkspaces).safeParse(value);
  const problems = (error?.issues ?? []).flatMap(problemsOfIssue).map((problem) => `${path} ${problem}`);
  return { file: data, problems, variables: readVariables(value) };
}

/**
 * Parses YAML without aliases: an alias can refer to nothing, or make a short file long. Repeats no part of the text,
 * as the package's messages may. `brokenAt` is the line and column of the first error.
 */
function readYaml(text: string): { value?: unknown; brokenAt?: string } {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter });
  const broken = document.errors.map(({ pos }) => pos[0]);
  visit(document, { Alias: (_, { range }) => void broken.push(range?.[0] ?? 0) });
  if (broken[0] === undefined) return { value: document.toJS() };
  const { line, col } = counter.linePos(broken[0]);
  return { brokenAt: `${line}:${col}` };
}

/** Returns the place of an issue and its problem. The part below `apiKey` may be a key, and is left out. */
function problemsOfIssue({ path, message, ...issue }: z.core.$ZodIssue): string[] {
  if (issue.code !== 'unrecognized_keys') return [`${formatPath(path)} ${message}`.trim()];
  return issue.keys.map(
    (key) => `${formatPath([...path, key])} is not a setting. docs/settings.md lists those of the file.`,
  );
}

/** Returns a path such as `projects.acme.domains[1]`. */
function formatPath(path: readonly PropertyKey[]): string {
  const key = path.indexOf('apiKey') + 1;
  const steps = path.slice(0, key === 0 ? undefined : key).map((step) => {
    if (typeof step === 'number') return `[${step}]`;
    const name = String(step);
    return `.${/^[\w-]{1,40}$/.test(name) ? name : JSON.stringify(name.slice(0, 40))}`;
  });
  return steps.join('').slice(1);
}

function checkProjects(projects: Record<string, GivenProject>, context: z.RefinementCtx, env: Env) {
  const add = (message: string, ...path: PropertyKey[]) =>
    context.addIssue({ code: 'custom', path, message });
  const hasDefaultKey = (env.DOCS_API_KEY ?? env.DOCS_API_KEY_FILE) !== undefined;
  const names = new Map<string, string>();
  const channels = new Map<string, string[]>();
  for (const [name, project] of Object.entries(projects)) {
    const same = names.get(name.toLowerCase());
    names.set(name.toLowerCase(), name);
    if (!isName.test(name)) add(`cannot be typed after --project. ${NAME_FIX}`, name);
    else if (same !== undefined)
      add(`differs from ${same} only in capitals, which --project ignores. Choose another.`, name);
    for (const deployment of Object.keys(project.deployments))
      if (!isName.test(deployment))
        add(`cannot be the name of a deployment. ${NAME_FIX}`, name, 'deployments', deployment);
    for (const [index, id] of project.channels.entries()) {
      const others = channels.get(id) ?? [];
      const owner = others.find((other) => other !== name && shareWorkspace(projects[other], project));
      channels.set(id, [...others, name]);
      if (owner !== undefined)
        add(
          `is already a channel of the project ${owner}. A channel has one default project: keep one.`,
          ...[name, 'channels', index],
        );
    }
    if (project.apiKey === undefined && !hasDefaultKey)
      add(
        'has no apiKey, and DOCS_API_KEY is not set either. Write apiKey: { env: NAME } here, or set DOCS_API_KEY.',
        name,
      );
  }
  if (names.size === 0) add('has no project. Add one, or remove it to use the project of the environment.');
}

/** Whether a channel's id may mean the same channel to both projects. */
const shareWorkspace = (one: GivenProject | undefined, other: GivenProject) =>
  !one?.workspaces || !other.workspaces || one.workspaces.some((name) => other.workspaces?.includes(name));

const toProject = ([name, { apiKey: key, ...given }]: [string, GivenProject], env: Env): Project => ({
  name,
  projectId: undefined,
  ...given,
  deployments: Object.entries(given.deployments).map(([deployment, how]) => ({ name: deployment, ...how })),
  ...(key ?? defaultKey(env)),
});

type ProjectKey = Pick<Project, 'apiKey' | 'apiKeyVariable' | 'apiKeyFile' | 'apiKeyExpires'>;

/** Returns the key of the environment. */
export function defaultKey(env: Env): ProjectKey {
  const { DOCS_API_KEY: key = '', DOCS_API_KEY_FILE: apiKeyFile, DOCS_API_KEY_EXPIRES: apiKeyExpires } = env;
  if (apiKeyFile === undefined) return { apiKey: key, apiKeyVariable: 'DOCS_API_KEY', apiKeyExpires };
  const { secret: apiKey } = readKey({ file: apiKeyFile }, env);
  return { apiKey, apiKeyVariable: 'DOCS_API_KEY_FILE', apiKeyFile, apiKeyExpires };
}

/** Returns why a file gives no key, with the fix and without path and key; undefined if it does. */
export const keyFileProblem = (file: string, env: Env) => readKey({ file }, env).problem;

const readKey = (place: SecretPlace, env: Env) => readSecret(place, env, KEY, (key) => keyProblem(key, env));

function keyProblem(key: string, { DOCS_API_KEY_PREFIX: prefix = '' }: Env): string | undefined {
  const flaw = secretFlaw(key);
  if (flaw !== undefined) return `names a key that ${flaw}`;
  return key.startsWith(prefix)
    ? undefined
    : 'names a key that does not begin with DOCS_API_KEY_PREFIX. Use an admin key of the right platform.';
}

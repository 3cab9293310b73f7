import { z } from 'zod';
import { type Allow, mapPermissions } from '../permissions.ts';
import type { Contact } from '../policy.ts';
import type { NamedSecret, Project } from '../projects.ts';
import { kindOfId, kindOfSureId } from '../slack/ids.ts';
import { lengthOf, singleLine } from '../slack/text.ts';
import { type Env, isName, list, mapProblem, NAME_FIX, secretFlaw, secretIn } from './values.ts';

const principalProblem =
  "must be everyone or an id, not a name. A person's (U…): their profile, ⋮, Copy member ID. A user group's (S…): its page in the directory, ⋮, Copy group ID.";

const isPrincipal = (kind: ReturnType<typeof kindOfId>) => kind === 'person' || kind === 'group';

const people = list(
  z
    .string(principalProblem)
    .refine((text) => text === 'everyone' || isPrincipal(kindOfId(text)), principalProblem),
);

const givenAllow = z
  .strictObject(
    mapPermissions(() => people),
    mapProblem,
  )
  .partial();

export const allowSchema = givenAllow.transform(
  (given): Allow =>
    Object.assign(
      mapPermissions(({ usual }) => (usual ? [usual] : [])),
      given,
    ),
);

const contactProblem =
  'must be a contact: the id of a person (U…) or of a user group (S…), or up to 80 characters such as "@docs-admins".';

/** A text is shown unchanged and mentions nobody. An id is shown as its name in Slack. */
export const contact = z.string(contactProblem).transform((typed, context): Contact => {
  const text = typed.length > 400 ? '' : singleLine(typed.toWellFormed());
  const kind = kindOfSureId(text);
  const isId = isPrincipal(kind);
  // People cannot read the id of a channel.
  if (text === '' || lengthOf(text) > 80 || text.startsWith('<') || (kind && !isId))
    context.addIssue(contactProblem);
  return isId ? { id: text } : { text };
});

/** Accepts the place of a secret of the app in Slack. Tokens begin with `prefix`. */
const slackSecret = (env: Env, what: string, variable: string, prefix: string) =>
  secretIn(env, what, variable, (text) => {
    const flaw = secretFlaw(text);
    if (flaw !== undefined) return `names a secret that ${flaw}`;
    if (!text.startsWith(prefix))
      return `names a secret that does not begin with ${prefix}. Copy it again from the Slack app.`;
    return text.length < 16
      ? 'names a secret that is too short. Copy it again from the Slack app.'
      : undefined;
  });

export const workspaceSchema = (env: Env) =>
  z
    .strictObject(
      {
        botToken: slackSecret(env, 'a bot token', 'ACME_BOT_TOKEN', 'xoxb-'),
        signingSecret: slackSecret(env, 'a signing secret', 'ACME_SIGNING_SECRET', '').optional(),
        appToken: slackSecret(env, 'an app-level token', 'ACME_APP_TOKEN', 'xapp-').optional(),
        allow: givenAllow.optional(),
        contact: contact.optional(),
      },
      mapProblem,
    )
    .refine(
      ({ signingSecret, appToken }) => signingSecret !== undefined || appToken !== undefined,
      'has neither a signingSecret nor an appToken. Write the first for requests over HTTP, or the second for Socket Mode.',
    );

type GivenWorkspace = z.output<ReturnType<typeof workspaceSchema>>;

const variable = z
  .object({ env: z.string() })
  .transform(({ env }) => env)
  .optional()
  .catch(undefined);
const variables = z.object({ botToken: variable, signingSecret: variable, appToken: variable });
const namedVariables = z.object({ workspaces: z.record(z.string(), variables.catch({})) });

/** The environment variables of the app in one workspace, by their keys in the file. */
export type WorkspaceVariables = z.output<typeof variables>;

/** Returns the variables that a file names for each workspace, even if it has problems; undefined without workspaces. */
export function readVariables(file: unknown): Record<string, WorkspaceVariables> | undefined {
  if (typeof file !== 'object' || file === null || !('workspaces' in file)) return undefined;
  return namedVariables.safeParse(file).data?.workspaces ?? {};
}

interface GivenFile {
  workspaces?: Record<string, GivenWorkspace> | undefined;
  projects?: readonly { name: string; workspaces?: readonly string[] | undefined }[] | undefined;
  allow: z.output<typeof allowSchema>;
  contact?: Contact | undefined;
}

/** Returns the file. Adds the problems between workspaces, projects, and people in the rest of it. */
export function checkWorkspaces<File extends GivenFile>(file: File, context: z.RefinementCtx): File {
  const { workspaces, projects = [] } = file;
  const add = (message: string, ...path: PropertyKey[]) =>
    context.addIssue({ code: 'custom', path, message });
  const names = Object.keys(workspaces ?? {});
  const isShared = names.length > 1;
  if (workspaces && names.length === 0)
    add('has no workspace. Add one, or remove it to use the tokens of the environment.', 'workspaces');
  for (const project of projects) {
    const { name, workspaces: named } = project;
    if (isShared && !named?.length)
      add('names no workspace. Write workspaces: [acme], so that nobody else sees it.', 'projects', name);
    if (named?.some((one) => !names.includes(one)))
      add(
        'names a workspace that the file does not have. Add it, or remove it here.',
        'projects',
        name,
        'workspaces',
      );
  }
  const known = new Set<string>();
  for (const [name, { botToken, signingSecret, appToken }] of Object.entries(workspaces ?? {})) {
    if (!isName.test(name)) add(`cannot be a part of an address. ${NAME_FIX}`, 'workspaces', name);
    for (const [key, one] of Object.entries({ botToken, signingSecret, appToken }))
      if (one && known.has(one.secret))
        add('is that of another workspace. Each has an app of its own.', 'workspaces', name, key);
      else if (one) known.add(one.secret);
    if (isShared && !projects.some((project) => project.workspaces?.includes(name)))
      add('has no project. Name it in the workspaces of one.', 'workspaces', name);
  }
  if (!isShared) return file;
  // The same id may be somebody else in another workspace.
  if (
    Object.values(file.allow)
      .flat()
      .some((entry) => entry !== 'everyone')
  )
    add('has ids, which belong to one workspace. Write allow below each workspace.', 'allow');
  if (file.contact && 'id' in file.contact)
    add('is an id, which belongs to one workspace. Write contact below each workspace.', 'contact');
  return file;
}

/** A workspace of Slack, with the secrets of the app there, the permissions and the projects of its people. */
export interface WorkspaceSettings extends Pick<GivenFile, 'allow' | 'contact'> {
  /** Missing if the environment has its secrets: then it is the only one. */
  name?: string;
  botToken: NamedSecret;
  signingSecret?: NamedSecret | undefined;
  /** If set, requests come over Socket Mode. */
  appToken?: NamedSecret | undefined;
  projects: readonly Project[];
  docsDomain: string | undefined;
}

/** Returns the workspaces of the file, else the one of the environment. */
export function workspacesOf(
  data: Partial<
    Record<'slackBotToken' | 'slackSigningSecret' | 'slackAppToken' | 'docsDomain', string | undefined>
  >,
  { workspaces, ...file }: GivenFile,
  projects: readonly Project[],
): WorkspaceSettings[] {
  const { slackBotToken = '', slackSigningSecret, slackAppToken, docsDomain } = data;
  const named = (name: string, secret: string | undefined) => secret && { name, secret };
  if (workspaces === undefined)
    return [
      {
        botToken: { name: 'SLACK_BOT_TOKEN', secret: slackBotToken },
        signingSecret: named('SLACK_SIGNING_SECRET', slackSigningSecret) || undefined,
        appToken: named('SLACK_APP_TOKEN', slackAppToken) || undefined,
        projects,
        docsDomain,
        allow: file.allow,
        contact: file.contact,
      },
    ];
  return Object.entries(workspaces).map(([name, { allow, contact = file.contact, ...own }]) => {
    const seen = projects.filter((project) => project.workspaces?.includes(name) ?? true);
    const takesDomain = seen.some(({ domains = [docsDomain] }) => domains.some((one) => one === docsDomain));
    return {
      ...own,
      name,
      contact,
      allow: Object.assign({}, file.allow, allow),
      projects: seen,
      docsDomain: takesDomain ? docsDomain : undefined,
    };
  });
}

/** Returns tokens and secrets for a check of other settings. Each is different: two workspaces cannot have the same one. */
export const placeholdersOf = (workspaces: readonly WorkspaceVariables[]): Env =>
  Object.fromEntries(
    workspaces.flatMap(({ botToken, signingSecret, appToken }) => [
      [botToken, `xoxb-placeholder-${botToken}`],
      [signingSecret, `placeholder-of-${signingSecret}`],
      [appToken, `xapp-placeholder-${appToken}`],
    ]),
  );

import { readFileSync } from 'node:fs';
import { BlockList, isIP, isIPv6 } from 'node:net';
import { z } from 'zod';
import { secretsOfWebhook } from '../deployments/webhook.ts';
import { readDomain } from '../domain.ts';
import { logLevels } from '../runtime/log.ts';
import { OperatorError } from '../runtime/operator-error.ts';
import {
  decodeCredential,
  type RedisAddress,
  type RedisUrl,
  readRedisUrl,
} from '../store/redis/connections.ts';
import {
  type ConfigFile,
  defaultConfigFile,
  defaultKey,
  hostName,
  isLoopback,
  isPlainUrl,
  keyFileProblem,
  projectId,
  readConfigFile,
  secureUrl,
} from './file.ts';
import { date, type Env, secretFlaw } from './values.ts';
import { placeholdersOf, workspacesOf } from './workspaces.ts';

/** The checked settings. Secrets are plain strings here and must not be logged. */
export type Settings = ReturnType<typeof readSettings>;

/** Returns the secret values of the settings, for the log to hide. */
export function secretsOf(settings: Settings): string[] {
  const { workspaces, projects } = settings;
  const keys = projects.flatMap(({ apiKey, deployments = [], pullRequests }) => [
    apiKey,
    pullRequests?.token.secret,
    ...deployments.flatMap(({ webhook, github }) => [
      github?.token.secret,
      ...(webhook ? secretsOfWebhook(webhook) : []),
    ]),
  ]);
  const slack = workspaces.flatMap((one) => [one.botToken, one.signingSecret, one.appToken]);
  const tokens = [...slack.map((one) => one?.secret), settings.redisSentinelPassword, ...keys];
  const { httpProxy, httpsProxy } = settings.proxies;
  const addresses = [settings.redisUrl, settings.slackApiUrl, settings.docsApiUrl, httpProxy, httpsProxy];
  const secrets = [...tokens, ...addresses.flatMap((address) => secretsInAddress(address ?? ''))];
  return [...new Set(secrets.filter((secret): secret is string => Boolean(secret)))];
}

/** Returns the Redis address in the settings; undefined if Docket runs its own. */
export function redisAddressOf(settings: Settings): RedisAddress | undefined {
  const { redisUrl: url, redisCa: ca, redisSentinelUser: sentinelUser } = settings;
  if (url === undefined) return undefined;
  return { url, ca, sentinelUser, sentinelPassword: settings.redisSentinelPassword };
}

/** Every problem of the settings, one per line, each with its fix and none with a value. */
export class SettingsError extends OperatorError {
  override readonly name = 'SettingsError';
  readonly problems: string[];

  constructor(problems: string[]) {
    super(
      `Docket can't start with these settings:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
    this.problems = problems;
  }
}

// Schemas for the kinds of values in settings; their messages name the fix.

const certificate = z.string().transform((path, context) => {
  try {
    const text = readFileSync(path, 'utf8');
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text;
  } catch {}
  context.addIssue('does not name a readable certificate. Set it to the PEM file of the authority.');
  return z.NEVER;
});

const commaList = z
  .string()
  .default('')
  .transform((list) => list.split(',').flatMap((entry) => entry.trim() || []));

const ADDRESSES = 'must list addresses or ranges separated by commas, such as 10.0.0.7,10.1.0.0/16,fd00::/8.';

/** Accepts addresses and CIDR ranges separated by commas. */
export const addresses = commaList
  .pipe(z.array(z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()], ADDRESSES)))
  .transform((entries) => {
    const list = new BlockList();
    for (const entry of entries) {
      const [address = '', bits] = entry.split('/');
      const isV6 = isIPv6(address);
      list.addSubnet(address, Number(bits ?? (isV6 ? 128 : 32)), isV6 ? 'ipv6' : 'ipv4');
    }
    return list;
  });

const wholeNumber = (min: number, max: number, problem: string) =>
  z.coerce.number(problem).int(problem).min(min, problem).max(max, problem);

const portNumber = wholeNumber(0, 65535, 'must be a port number.');

const seconds = wholeNumber(1, 3600, 'must be a whole number of seconds from 1 to 3600.');

/**
 * Returns the parts of an address with a password that no log may contain: the whole address, and the password as
 * written, as `URL` encodes it, and decoded. The address may be invalid.
 */
export function secretsInAddress(address: string): string[] {
  const user = address.slice(Math.max(0, address.indexOf('://') + 3), Math.max(0, address.lastIndexOf('@')));
  const colon = user.indexOf(':');
  if (colon < 0) return [];
  const password = user.slice(colon + 1);
  return [address, password, URL.parse(address)?.password ?? '', decodeCredential(password)].filter(Boolean);
}

const isRedisAddress = /^rediss?(?:\+(?:sentinel|cluster))?:\/\//;

/** The allowed end of an address. With any other end, ioredis would use database 0, which may be another Docket's. */
const PATHS: Record<RedisUrl['kind'], RegExp> = {
  server: /^\d{0,9}$/,
  sentinel: /^[\w.-]{1,100}(?:\/\d{0,9})?$/,
  // A number would be a database, and a cluster has one only.
  cluster: /^(?:[a-z][a-z0-9-]{0,39})?$/,
};

const WRONG_END =
  'REDIS_URL ends with something else than it needs. For one server, end it with nothing or the number of a database, ' +
  'such as /1; for sentinels, with the name of the primary, such as /mymaster or /mymaster/1; for a cluster, with nothing, ' +
  'or, if several Dockets share it, with a name of lower-case letters, digits and dashes, such as /staging.';

/** Returns the problems of the address of Redis, each with its fix and without any part of the address. */
export function redisProblems({ REDIS_URL: address, REDIS_ALLOW: allow = '' }: Env): string[] {
  if (address === undefined || !isRedisAddress.test(address)) return [];
  const url = readRedisUrl(address);
  if (url === undefined)
    return [
      'REDIS_URL is not a valid address. In its user and password, write %2F for /, %23 for #, %3F for ? and ' +
        '%40 for @; the rest is such as rediss://user:password@redis.example.com:6379/0, or for several hosts ' +
        'rediss+sentinel://host1:26379,host2/name or rediss+cluster://host1:6379,host2.',
    ];
  const problems: string[] = [];
  const isHere = url.nodes.every(({ host }) => isLoopback(host.includes(':') ? `[${host}]` : host));
  const [scheme = ''] = address.split('://', 1);
  if (!isHere && !url.tls && !allow.includes('plaintext'))
    problems.push(
      `REDIS_URL begins with ${scheme}:// and names another machine: all data of Docket would cross the network in ` +
        `the clear. Use ${scheme.replace('redis', 'rediss')}://, or set REDIS_ALLOW=plaintext if you trust that network.`,
    );
  if (!PATHS[url.kind].test(url.path)) problems.push(WRONG_END);
  return problems;
}

const proxyAddress = z
  .string()
  .regex(/^https?:\/\/\S+$/, 'must be the address of a proxy, such as http://proxy.example.com:3128.')
  .refine((address) => URL.canParse(address), 'is not a valid address. In its password, write %40 for @.')
  .default('');

/** A row per setting. Its variable has the same name in capitals: SLACK_BOT_TOKEN. */
const table = z.object({
  docketRole: z.enum(['all', 'web', 'worker'], 'must be all, web or worker.').default('all'),
  slackBotToken: z
    .string('is missing. Copy it from your Slack app, "OAuth & Permissions", Bot User OAuth Token.')
    .startsWith('xoxb-', 'must be a bot token, which begins with xoxb-. See "OAuth & Permissions".'),
  /** Verifies requests over HTTP; Socket Mode has no signatures. */
  slackSigningSecret: z
    .string()
    .min(16, 'is too short. Copy it from "Basic Information", App Credentials.')
    .optional(),
  /** If set, requests come over Socket Mode. */
  slackAppToken: z
    .string()
    .startsWith('xapp-', 'must be an app-level token, which begins with xapp-. See "Basic Information".')
    .optional(),
  slackApiUrl: secureUrl("Unset it to use Slack's own.")
    .default('https://slack.com/api/')
    .transform((url) => (url.endsWith('/') ? url : `${url}/`)),
  port: portNumber.default(3000),
  /** The port of the role `worker` for health checks. */
  healthPort: portNumber.optional(),
  /** The address to listen on; all of this machine's if it is not set. */
  host: z
    .string()
    .refine((host) => isIP(host) !== 0, 'must be an address of this machine, such as 127.0.0.1, or unset.')
    .optional(),
  /** How long a connection without a request stays open. */
  keepAliveSeconds: seconds.default(75),
  docsApiUrl: secureUrl("Set it to the base address of the docs platform's API.").refine(
    isPlainUrl,
    'has a user, a query or a fragment. Use scheme, host and path only; the API key has a setting of its own.',
  ),
  docsApiKey: z.string().optional(),
  docsApiKeyFile: z.string().optional(),
  docsApiKeyExpires: date.optional(),
  docsApiKeyPrefix: z.string().optional(),
  docsProjectId: projectId.optional(),
  docsDomain: hostName('must be a host name such as docs.example.com.').optional(),
  redisUrl: z
    .string()
    .regex(
      isRedisAddress,
      'must begin with redis:// or rediss://. For several hosts, +sentinel or +cluster comes before the colon.',
    )
    .optional(),
  /** Problems of Redis that Docket accepts. */
  redisAllow: commaList.pipe(
    z.array(
      z.enum(
        ['plaintext', 'eviction', 'volatile'],
        'may list plaintext, eviction and volatile, separated by commas.',
      ),
    ),
  ),
  redisCa: certificate.optional(),
  /** Docket's user at the sentinels, which have their own users. */
  redisSentinelUser: z.string().optional(),
  redisSentinelPassword: z.string().optional(),
  dataDir: z.string().default('./data'),
  docketConfig: z.string().optional(),
  queueDashboardPort: portNumber.optional(),
  otelExporterOtlpEndpoint: z
    .string()
    .regex(
      /^https?:\/\/[^\s@?#]+$/,
      'must be the http(s) address of a collector, such as http://127.0.0.1:4318.',
    )
    .optional(),
  httpProxy: proxyAddress,
  httpsProxy: proxyAddress,
  noProxy: z.string().default(''),
  nodeExtraCaCerts: certificate.optional(),
  /** Addresses that may read /metrics, in addition to this machine. */
  metricsAddress: addresses,
  logLevel: z.enum(logLevels, `must be one of ${logLevels.join(', ')}.`).default('info'),
});

/** The same if the file has the tokens of Slack. */
const withoutToken = table.extend({ slackBotToken: z.string().optional() });

const variableOf = (setting: string) => setting.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

/** The names of all variables. */
export const settingNames = Object.keys(table.shape).map(variableOf);

/** Returns the problems between two settings, independent of other problems. */
function crossProblems(set: Env, file: ConfigFile | undefined, hasWorkspaces: boolean): string[] {
  const { DOCS_API_KEY: key, DOCS_API_KEY_PREFIX: prefix, DOCS_API_KEY_FILE: keyFile } = set;
  const wellFormed = secretFlaw(key ?? '') === undefined && secretFlaw(prefix ?? '') === undefined;
  const domain = readDomain(set.DOCS_DOMAIN ?? '');
  const projects = file?.projects;
  const isUnlisted =
    domain.kind === 'domain' && projects?.every(({ domains }) => !domains?.includes(domain.domain));
  const fileProblem = keyFile && keyFileProblem(keyFile, set);
  return [
    ...['SLACK_BOT_TOKEN', 'SLACK_SIGNING_SECRET', 'SLACK_APP_TOKEN'].map(
      (name) =>
        hasWorkspaces &&
        set[name] !== undefined &&
        `${name} has no effect when DOCKET_CONFIG has workspaces. Name it there, or unset it.`,
    ),
    !hasWorkspaces &&
      set.SLACK_APP_TOKEN === undefined &&
      set.SLACK_SIGNING_SECRET === undefined &&
      'SLACK_APP_TOKEN is missing. Create one in your Slack app, "Basic Information", App-Level Tokens, with the scope connections:write. If Slack reaches a public address of yours, set SLACK_SIGNING_SECRET instead.',
    file !== undefined &&
      projects === undefined &&
      (key ?? keyFile) === undefined &&
      'DOCS_API_KEY is missing. Create an admin API key on the API keys page of the docs platform.',
    isUnlisted &&
      'DOCS_DOMAIN is not in any project of DOCKET_CONFIG. Add it to the domains of one, or set it to one of those.',
    projects !== undefined &&
      set.DOCS_PROJECT_ID !== undefined &&
      'DOCS_PROJECT_ID has no effect when DOCKET_CONFIG has projects. Set projectId there, and unset it here.',
    ...redisProblems(set),
    (set.DOCKET_ROLE === 'web' || set.DOCKET_ROLE === 'worker') &&
      set.REDIS_URL === undefined &&
      'REDIS_URL is missing. Processes with the roles web and worker share one Redis: set its address.',
    wellFormed &&
      key !== undefined &&
      !key.startsWith(prefix ?? '') &&
      'DOCS_API_KEY does not begin with DOCS_API_KEY_PREFIX. Use an admin key of the right platform.',
    fileProblem && `DOCS_API_KEY_FILE ${fileProblem}`,
  ].filter((problem): problem is string => Boolean(problem));
}

/** Returns whether a variable holds a secret, or a part of one. */
export const isSecret = (name: string): boolean => /_(?:TOKEN|SECRET|KEY|KEY_PREFIX|PASSWORD)$/.test(name);

/** Returns flaws that make all other checks of a value pointless, such as quotes, by variable. */
function valueFlaws(set: Env): Map<string, string> {
  return new Map(
    settingNames.flatMap((name) => {
      const value = set[name] ?? '';
      const flaw = isSecret(name) || /^(["'`]).*\1$/s.test(value) ? secretFlaw(value) : undefined;
      return flaw === undefined ? [] : [[name, flaw] as const];
    }),
  );
}

/** Returns the settings of the file, none if it is unusable, and its problems. */
function readFile(set: Env) {
  const path = set.DOCKET_CONFIG;
  if (path === undefined) return { file: defaultConfigFile, problems: [], variables: undefined };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
    return readConfigFile(text, path, set);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    // It does not repeat the path: a wrong value may be a secret.
    const problem = `DOCKET_CONFIG cannot be read (${code}). Set it to a YAML file in UTF-8 that Docket's user may read; a relative path begins where Docket starts.`;
    return { file: undefined, problems: [problem], variables: undefined };
  }
}

/** An empty variable counts as not set. */
const setIn = (env: NodeJS.ProcessEnv): Env =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()));

/** Reads the settings. Throws a `SettingsError` with all problems. */
export function readSettings(env: NodeJS.ProcessEnv) {
  const set = setIn(env);
  // As in other programs, the lowercase name has priority.
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'])
    set[name] = set[name.toLowerCase()] ?? set[name];
  const { file, problems: fileProblems, variables } = readFile(set);
  const hasWorkspaces = variables !== undefined;
  const flaws = valueFlaws(set);
  const given = Object.keys(table.shape).map((setting) => [setting, set[variableOf(setting)]]);
  const parsed = (hasWorkspaces ? withoutToken : table).safeParse(Object.fromEntries(given));
  const issues = (parsed.error?.issues ?? []).map(
    ({ path, message }) => [variableOf(String(path[0])), message] as const,
  );
  const problems = [
    ...[...flaws, ...issues.filter(([name]) => !flaws.has(name))].map((problem) => problem.join(' ')),
    ...fileProblems,
    ...crossProblems(set, file, hasWorkspaces),
  ];
  if (!parsed.success || file === undefined || problems.length > 0)
    throw new SettingsError([...new Set(problems)]);
  const { docketRole: role, httpProxy, httpsProxy, noProxy, ...data } = parsed.data;
  const { port, healthPort = port, docsProjectId } = data;
  const own = { name: 'default', projectId: docsProjectId, domains: undefined, channels: [] };
  const projects = file.projects ?? [{ ...own, ...defaultKey(set) }];
  return {
    ...file,
    ...data,
    role,
    healthPort,
    /** At least one. */
    projects,
    /** At least one. */
    workspaces: workspacesOf(parsed.data, file, projects),
    /** Outgoing proxies to Slack and to the platform. */
    proxies: { httpProxy, httpsProxy, noProxy },
  };
}

const PLACEHOLDERS = { DOCS_API_URL: 'https://docs-api.invalid' };
const SLACK_PLACEHOLDERS = { SLACK_BOT_TOKEN: 'xoxb-', SLACK_SIGNING_SECRET: '0'.repeat(32) };

/** Returns the variables that the settings file names for each workspace; undefined without workspaces. */
export const workspaceVariables = (env: NodeJS.ProcessEnv) => readFile(setIn(env)).variables;

/** Reads settings that may lack tokens, keys and addresses. Throws a `SettingsError` about the others. */
export function readPartialSettings(env: NodeJS.ProcessEnv): Settings {
  const set = setIn(env);
  const key = set.DOCS_API_KEY_FILE === undefined && `${set.DOCS_API_KEY_PREFIX ?? ''}placeholder`;
  const workspaces = workspaceVariables(set);
  const slack = workspaces ? placeholdersOf(Object.values(workspaces)) : SLACK_PLACEHOLDERS;
  return readSettings({ ...PLACEHOLDERS, ...slack, ...(key && { DOCS_API_KEY: key }), ...set });
}

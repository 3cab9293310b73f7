import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { z } from 'zod';
import { readDomain } from '../domain.ts';
import { logLevels } from '../runtime/log.ts';
import { OperatorError } from '../runtime/operator-error.ts';
import type { RedisAddress } from '../store/redis/address.ts';
import {
  type ConfigFile,
  defaultConfigFile,
  defaultKey,
  type Env,
  keyFileProblem,
  readConfigFile,
} from './file.ts';
import { isRedisAddress, redisProblems, secretsInAddress } from './redis.ts';
import {
  addresses,
  certificate,
  commaList,
  date,
  hostName,
  isPlainUrl,
  portNumber,
  projectId,
  seconds,
  secretFlaw,
  secureUrl,
} from './values.ts';

/** The checked settings. Secrets are plain strings here and must not be logged. */
export type Settings = ReturnType<typeof readSettings>;

/** Returns the secret values of the settings, for the log to hide. */
export function secretsOf(settings: Settings): string[] {
  const { slackBotToken, slackSigningSecret, slackAppToken, projects } = settings;
  const keys = projects.map(({ apiKey }) => apiKey);
  const tokens = [slackBotToken, slackSigningSecret, slackAppToken, settings.redisSentinelPassword, ...keys];
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

const variableOf = (setting: string) => setting.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

/** The variable of each setting. */
const variables = new Map(Object.keys(table.shape).map((setting) => [setting, variableOf(setting)]));

/** The names of all variables. */
export const settingNames = [...variables.values()];

/** Returns the problems between two settings, independent of other problems. */
function crossProblems(set: Env, file: ConfigFile | undefined): string[] {
  const { DOCS_API_KEY: key, DOCS_API_KEY_PREFIX: prefix, DOCS_API_KEY_FILE: keyFile } = set;
  const wellFormed = secretFlaw(key ?? '') === undefined && secretFlaw(prefix ?? '') === undefined;
  const domain = readDomain(set.DOCS_DOMAIN ?? '');
  const projects = file?.projects;
  const isUnlisted =
    domain.kind === 'domain' && projects?.every(({ domains }) => !domains?.includes(domain.domain));
  const fileProblem = keyFile && keyFileProblem(keyFile, set);
  return [
    set.SLACK_APP_TOKEN === undefined &&
      set.SLACK_SIGNING_SECRET === undefined &&
      'SLACK_SIGNING_SECRET is missing. Copy it from your Slack app, "Basic Information", App Credentials.',
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

/** Returns flaws that make all other checks of a value pointless, such as quotes, by variable. */
function valueFlaws(set: Env): Map<string, string> {
  return new Map(
    settingNames.flatMap((name) => {
      const value = set[name] ?? '';
      const isSecret = /_(?:TOKEN|SECRET|KEY|KEY_PREFIX|PASSWORD)$/.test(name);
      const flaw = isSecret || /^(["'`]).*\1$/s.test(value) ? secretFlaw(value) : undefined;
      return flaw === undefined ? [] : [[name, flaw] as const];
    }),
  );
}

/** Returns the settings of the file, none if it is unusable, and its problems. */
function readFile(set: Env): ReturnType<typeof readConfigFile> {
  const path = set.DOCKET_CONFIG;
  if (path === undefined) return { file: defaultConfigFile, problems: [] };
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
    return readConfigFile(text, path, set);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    // It does not repeat the path: a wrong value may be a secret.
    const problem = `DOCKET_CONFIG cannot be read (${code}). Set it to a YAML file in UTF-8 that Docket's user may read; a relative path begins where Docket starts.`;
    return { file: undefined, problems: [problem] };
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
  const { file, problems: fileProblems } = readFile(set);
  const flaws = valueFlaws(set);
  const given = [...variables].map(([setting, variable]) => [setting, set[variable]]);
  const parsed = table.safeParse(Object.fromEntries(given));
  const issues = (parsed.error?.issues ?? []).map(
    ({ path, message }) => [variableOf(String(path[0])), message] as const,
  );
  const problems = [
    ...[...flaws, ...issues.filter(([name]) => !flaws.has(name))].map((problem) => problem.join(' ')),
    ...fileProblems,
    ...crossProblems(set, file),
  ];
  if (!parsed.success || file === undefined || problems.length > 0)
    throw new SettingsError([...new Set(problems)]);
  const { docketRole: role, httpProxy, httpsProxy, noProxy, ...data } = parsed.data;
  const { port, healthPort = port, docsProjectId } = data;
  const own = { name: 'default', projectId: docsProjectId, domains: undefined, channels: [] };
  return {
    ...{ ...file, ...data, role, healthPort },
    /** At least one. */
    projects: file.projects ?? [{ ...own, ...defaultKey(set) }],
    /** Outgoing proxies to Slack and to the platform. */
    proxies: { httpProxy, httpsProxy, noProxy },
  };
}

const PLACEHOLDERS = {
  SLACK_BOT_TOKEN: 'xoxb-',
  SLACK_SIGNING_SECRET: '0'.repeat(32),
  DOCS_API_URL: 'https://docs-api.invalid',
};

/** Reads settings that may lack tokens, keys and addresses. Throws a `SettingsError` about the others. */
export function readPartialSettings(env: NodeJS.ProcessEnv): Settings {
  const set = setIn(env);
  const key = set.DOCS_API_KEY_FILE === undefined && `${set.DOCS_API_KEY_PREFIX ?? ''}placeholder`;
  return readSettings({ ...PLACEHOLDERS, ...(key && { DOCS_API_KEY: key }), ...set });
}

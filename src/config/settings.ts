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

/** Returns warnings about suspicious settings, each with its fix and without its value; Docket still starts. */
export function warningsOf({ slackSigningSecret, slackAppToken }: Settings): string[] {
  if (slackAppToken !== undefined || slackSigningSecret === undefined) return [];
  if (/^[0-9a-f]{32}$/i.test(slackSigningSecret)) return [];
  return [
    "SLACK_SIGNING_SECRET is not 32 hexadecimal characters, as Slack's are. If its requests are refused, copy it again from the App Credentials of your Slack app.",
  ];
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

const signingSecret = z
  .string('is missing. Copy it from your Slack app, "Basic Information", App Credentials.')
  .min(16, 'is too short. Copy it from "Basic Information", App Credentials.');

const proxyAddress = z
  .string()
  .regex(/^https?:\/\/\S+$/, 'must be the address of a proxy, such as http://proxy.example.com:3128.')
  .refine((address) => URL.canParse(address), 'is not a valid address. In its password, write %40 for @.')
  .default('');

const envSchema = z.object({
  DOCKET_ROLE: z.enum(['all', 'web', 'worker'], 'must be all, web or worker.').default('all'),
  SLACK_BOT_TOKEN: z
    .string('is missing. Copy it from your Slack app, "OAuth & Permissions", Bot User OAuth Token.')
    .startsWith('xoxb-', 'must be a bot token, which begins with xoxb-. See "OAuth & Permissions".'),
  SLACK_SIGNING_SECRET: signingSecret,
  SLACK_APP_TOKEN: z
    .string()
    .startsWith('xapp-', 'must be an app-level token, which begins with xapp-. See "Basic Information".')
    .optional(),
  SLACK_API_URL: secureUrl("Unset it to use Slack's own.").default('https://slack.com/api/'),
  PORT: portNumber.default(3000),
  HEALTH_PORT: portNumber.optional(),
  HOST: z
    .string()
    .refine((host) => isIP(host) !== 0, 'must be an address of this machine, such as 127.0.0.1, or unset.')
    .optional(),
  KEEP_ALIVE_SECONDS: seconds.default(75),
  DOCS_API_URL: secureUrl("Set it to the base address of the docs platform's API.").refine(
    isPlainUrl,
    'has a user, a query or a fragment. Use scheme, host and path only; the API key has a setting of its own.',
  ),
  DOCS_API_KEY: z.string().optional(),
  DOCS_API_KEY_FILE: z.string().optional(),
  DOCS_API_KEY_EXPIRES: date.optional(),
  DOCS_API_KEY_PREFIX: z.string().optional(),
  DOCS_PROJECT_ID: projectId.optional(),
  DOCS_DOMAIN: hostName('must be a host name such as docs.example.com.').optional(),
  REDIS_URL: z
    .string()
    .regex(
      isRedisAddress,
      'must begin with redis:// or rediss://. For several hosts, +sentinel or +cluster comes before the colon.',
    )
    .optional(),
  REDIS_ALLOW: commaList.pipe(
    z.array(
      z.enum(
        ['plaintext', 'eviction', 'volatile'],
        'may list plaintext, eviction and volatile, separated by commas.',
      ),
    ),
  ),
  REDIS_CA: certificate(
    "does not name a readable certificate. Set it to the PEM file of the authority that signed Redis' certificate.",
  ).optional(),
  REDIS_SENTINEL_USER: z.string().optional(),
  REDIS_SENTINEL_PASSWORD: z.string().optional(),
  DATA_DIR: z.string().default('./data'),
  DOCKET_CONFIG: z.string().optional(),
  QUEUE_DASHBOARD_PORT: portNumber.optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .string()
    .regex(
      /^https?:\/\/[^\s@?#]+$/,
      'must be the http(s) address of a collector, such as http://127.0.0.1:4318.',
    )
    .optional(),
  HTTP_PROXY: proxyAddress,
  HTTPS_PROXY: proxyAddress,
  NO_PROXY: z.string().default(''),
  NODE_EXTRA_CA_CERTS: certificate(
    'does not name a readable certificate. Set it to the PEM file of the authority.',
  ).optional(),
  METRICS_ADDRESS: addresses,
  LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(', ')}.`).default('info'),
});

/** Socket Mode has no signatures. */
const socketSchema = envSchema.extend({ SLACK_SIGNING_SECRET: signingSecret.optional() });

/** Returns the problems between two settings, independent of other problems. */
function crossProblems(set: Env): string[] {
  const problems = redisProblems(set);
  if ((set.DOCKET_ROLE === 'web' || set.DOCKET_ROLE === 'worker') && set.REDIS_URL === undefined) {
    problems.push(
      'REDIS_URL is missing. Processes with the roles web and worker share one Redis: set its address.',
    );
  }
  const { DOCS_API_KEY: key, DOCS_API_KEY_PREFIX: prefix } = set;
  const wellFormed = secretFlaw(key ?? '') === undefined && secretFlaw(prefix ?? '') === undefined;
  if (wellFormed && key !== undefined && prefix !== undefined && !key.startsWith(prefix)) {
    problems.push(
      'DOCS_API_KEY does not begin with DOCS_API_KEY_PREFIX. Use an admin key of the right platform.',
    );
  }
  const fileProblem = set.DOCS_API_KEY_FILE && keyFileProblem(set.DOCS_API_KEY_FILE, set);
  if (fileProblem) problems.push(`DOCS_API_KEY_FILE ${fileProblem}`);
  return problems;
}

/** The names of settings with a token, key or secret. */
const SECRET_NAME = /_(?:TOKEN|SECRET|KEY|KEY_PREFIX|PASSWORD)$/;

/** Returns flaws that make all other checks of a value pointless, such as quotes, by variable. */
function valueFlaws(set: Env): Map<string, string> {
  const flaws = new Map<string, string>();
  for (const name of Object.keys(envSchema.shape)) {
    const value = set[name] ?? '';
    const isQuoted = /^(["'`]).*\1$/s.test(value);
    const flaw = SECRET_NAME.test(name) || isQuoted ? secretFlaw(value) : undefined;
    if (flaw !== undefined) flaws.set(name, flaw);
  }
  return flaws;
}

/** Returns the file's settings and the problems, also with the environment; no `file` if it is unusable. */
function readFile(set: Env): { file: ConfigFile | undefined; problems: string[] } {
  const path = set.DOCKET_CONFIG;
  if (path === undefined)
    return { file: defaultConfigFile, problems: projectProblems(defaultConfigFile, set) };
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    // It does not repeat the path: a wrong value may be a secret.
    const problem = `DOCKET_CONFIG cannot be read (${code}). Set it to a YAML file in UTF-8 that Docket's user may read; a relative path begins where Docket starts.`;
    return { file: undefined, problems: [problem] };
  }
  const { file, problems } = readConfigFile(text, path, set);
  return { file, problems: file ? projectProblems(file, set) : problems };
}

function projectProblems({ projects }: ConfigFile, set: Env): string[] {
  if (projects === undefined) {
    return (set.DOCS_API_KEY ?? set.DOCS_API_KEY_FILE) === undefined
      ? ['DOCS_API_KEY is missing. Create an admin API key on the API keys page of the docs platform.']
      : [];
  }
  const problems: string[] = [];
  const read = readDomain(set.DOCS_DOMAIN ?? '');
  if (read.kind === 'domain' && !projects.some(({ domains }) => domains?.includes(read.domain)))
    problems.push(
      'DOCS_DOMAIN is not in any project of DOCKET_CONFIG. Add it to the domains of one, or set it to one of those.',
    );
  if (set.DOCS_PROJECT_ID !== undefined)
    problems.push(
      'DOCS_PROJECT_ID has no effect when DOCKET_CONFIG has projects. Set projectId there, and unset it here.',
    );
  return problems;
}

/** Reads the settings. Throws a `SettingsError` with all problems. An empty variable counts as not set. */
export function readSettings(env: NodeJS.ProcessEnv) {
  const set = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ''),
  );
  // As in other programs, the lowercase name has priority.
  for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'])
    set[name] = set[name.toLowerCase()] ?? set[name];
  const parsed = (set.SLACK_APP_TOKEN === undefined ? envSchema : socketSchema).safeParse(set);
  const issues = parsed.error?.issues ?? [];
  const { file, problems: fileProblems } = readFile(set);
  const flaws = valueFlaws(set);
  const problems = [
    ...[...flaws].map(([name, flaw]) => `${name} ${flaw}`),
    ...issues
      .filter(({ path }) => !flaws.has(String(path[0])))
      .map(({ path, message }) => `${String(path[0])} ${message}`),
    ...fileProblems,
    ...crossProblems(set),
  ];
  if (!parsed.success || file === undefined || problems.length > 0)
    throw new SettingsError([...new Set(problems)]);
  const { data } = parsed;
  return {
    ...file,
    role: data.DOCKET_ROLE,
    slackBotToken: data.SLACK_BOT_TOKEN,
    /** Verifies requests over HTTP; not needed with `slackAppToken`. */
    slackSigningSecret: data.SLACK_SIGNING_SECRET,
    /** If set, requests come over Socket Mode. */
    slackAppToken: data.SLACK_APP_TOKEN,
    slackApiUrl: data.SLACK_API_URL.endsWith('/') ? data.SLACK_API_URL : `${data.SLACK_API_URL}/`,
    port: data.PORT,
    /** The port of the role `worker` for health checks. */
    healthPort: data.HEALTH_PORT ?? data.PORT,
    /** The address to listen on; all of this machine's if it is not set. */
    host: data.HOST,
    /** How long a connection without a request stays open. */
    keepAliveMs: data.KEEP_ALIVE_SECONDS * 1000,
    docsApiUrl: data.DOCS_API_URL,
    /** At least one. */
    projects: file.projects ?? [
      {
        name: 'default',
        projectId: data.DOCS_PROJECT_ID,
        domains: undefined,
        channels: [],
        ...defaultKey(set),
      },
    ],
    docsDomain: data.DOCS_DOMAIN,
    redisUrl: data.REDIS_URL,
    /** Problems of Redis that Docket accepts. */
    redisAllow: data.REDIS_ALLOW,
    /** The certificate of the authority that signed Redis' own, as PEM. */
    redisCa: data.REDIS_CA,
    /** Docket's user at the sentinels, which have their own users. */
    redisSentinelUser: data.REDIS_SENTINEL_USER,
    redisSentinelPassword: data.REDIS_SENTINEL_PASSWORD,
    dataDir: data.DATA_DIR,
    /** Outgoing proxies to Slack and to the platform. */
    proxies: { httpProxy: data.HTTP_PROXY, httpsProxy: data.HTTPS_PROXY, noProxy: data.NO_PROXY },
    /** Further trusted certificate authorities, as PEM. */
    extraCa: data.NODE_EXTRA_CA_CERTS,
    /** The target of traces, if any. */
    traceEndpoint: data.OTEL_EXPORTER_OTLP_ENDPOINT,
    /** The port of the queue dashboard on this machine; none by default. */
    queueDashboardPort: data.QUEUE_DASHBOARD_PORT,
    /** Addresses that may read /metrics, in addition to this machine. */
    metricsAddresses: data.METRICS_ADDRESS,
    logLevel: data.LOG_LEVEL,
  };
}

const PLACEHOLDERS = {
  SLACK_BOT_TOKEN: 'xoxb-',
  SLACK_SIGNING_SECRET: '0'.repeat(32),
  DOCS_API_URL: 'https://docs-api.invalid',
};

/**
 * Reads settings that may lack tokens, keys and addresses; placeholders replace them. Throws a `SettingsError` with the
 * problems of the others.
 */
export function readPartialSettings(env: NodeJS.ProcessEnv): Settings {
  const set = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim()));
  const key = set.DOCS_API_KEY_FILE === undefined && `${set.DOCS_API_KEY_PREFIX ?? ''}placeholder`;
  return readSettings({ ...PLACEHOLDERS, ...(key && { DOCS_API_KEY: key }), ...set });
}

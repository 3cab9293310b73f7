import { z } from 'zod';
import { logLevels } from './log.ts';

/** What the operator set, checked. Secrets are plain strings here and must not be logged. */
export interface Settings {
  role: 'all' | 'web' | 'worker';
  slackBotToken: string;
  /** Checks requests over HTTP; not needed with `slackAppToken`. */
  slackSigningSecret: string | undefined;
  /** When set, requests come over Socket Mode. */
  slackAppToken: string | undefined;
  slackApiUrl: string;
  port: number;
  docsApiUrl: string;
  docsApiKey: string;
  docsDomain: string | undefined;
  redisUrl: string | undefined;
  dataDir: string;
  logLevel: (typeof logLevels)[number];
}

/** The password as it is; an address may hold a `%` that encodes nothing. */
function decoded(password: string): string {
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}

/** The values of the settings that no log may hold. */
export function secretsOf(settings: Settings): string[] {
  const { slackBotToken, slackSigningSecret, slackAppToken, docsApiKey, redisUrl } = settings;
  const password = redisUrl === undefined ? undefined : URL.parse(redisUrl)?.password;
  const tokens = [slackBotToken, slackSigningSecret, slackAppToken, docsApiKey];
  const secrets = [...tokens, password, password && decoded(password)];
  return [...new Set(secrets.filter((secret): secret is string => Boolean(secret)))];
}

/** Every problem of the settings, one a line, each with its fix and none with a value. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  readonly problems: string[];

  constructor(problems: string[]) {
    super(
      `Docket can't start with these settings:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
    this.problems = problems;
  }
}

const loopback = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** `https`, or any scheme to this very machine: keys and tokens must not cross a network in the clear. */
function secureUrl(fix: string) {
  return z.string(`is missing. ${fix}`).refine((value) => {
    if (!URL.canParse(value)) return false;
    const { protocol, hostname } = new URL(value);
    return protocol === 'https:' || (protocol === 'http:' && loopback.test(hostname));
  }, `must be an https address (http only for this machine). ${fix}`);
}

const signingSecret = z
  .string('is missing. Copy it from your Slack app, "Basic Information", App Credentials.')
  .min(16, 'is too short to be one. Copy it from "Basic Information", App Credentials.');

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
  PORT: z.coerce
    .number('must be a port number.')
    .int('must be a port number.')
    .min(0, 'must be a port number.')
    .max(65535, 'must be a port number.')
    .default(3000),
  DOCS_API_URL: secureUrl("Set it to the base address of the docs platform's API."),
  DOCS_API_KEY: z.string('is missing. Create an admin API key on the API keys page of the docs platform.'),
  DOCS_API_KEY_PREFIX: z.string().optional(),
  DOCS_DOMAIN: z.hostname('must be a host name such as docs.example.com.').optional(),
  REDIS_URL: z
    .string()
    .regex(/^rediss?:\/\//, 'must begin with redis:// or rediss://.')
    .optional(),
  DATA_DIR: z.string().default('./data'),
  DOCKET_CONFIG: z
    .never('is set, but this version of Docket does not read a YAML file. Unset it.')
    .optional(),
  LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(', ')}.`).default('info'),
});

/** Over a socket nothing is signed. */
const socketSchema = envSchema.extend({ SLACK_SIGNING_SECRET: signingSecret.optional() });

/** Problems between two settings; they are found whatever else is wrong. */
function crossProblems(set: Record<string, string | undefined>): string[] {
  const problems: string[] = [];
  if ((set.DOCKET_ROLE === 'web' || set.DOCKET_ROLE === 'worker') && set.REDIS_URL === undefined) {
    problems.push(
      'REDIS_URL is missing. Processes with the roles web and worker share one Redis: set its address.',
    );
  }
  const { DOCS_API_KEY: key, DOCS_API_KEY_PREFIX: prefix } = set;
  if (key !== undefined && prefix !== undefined && !key.startsWith(prefix)) {
    problems.push(
      'DOCS_API_KEY does not begin with DOCS_API_KEY_PREFIX. Take an admin key of the right platform.',
    );
  }
  return problems;
}

/** Reads the settings, or throws a `SettingsError` with all problems at once. An empty variable counts as not set. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const set = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ''),
  );
  const parsed = (set.SLACK_APP_TOKEN === undefined ? envSchema : socketSchema).safeParse(set);
  const issues = parsed.error?.issues ?? [];
  const problems = [
    ...issues.map(({ path, message }) => `${path.join('.')} ${message}`),
    ...crossProblems(set),
  ];
  if (!parsed.success || problems.length > 0) throw new SettingsError(problems);
  const { data } = parsed;
  return {
    role: data.DOCKET_ROLE,
    slackBotToken: data.SLACK_BOT_TOKEN,
    slackSigningSecret: data.SLACK_SIGNING_SECRET,
    slackAppToken: data.SLACK_APP_TOKEN,
    slackApiUrl: data.SLACK_API_URL.endsWith('/') ? data.SLACK_API_URL : `${data.SLACK_API_URL}/`,
    port: data.PORT,
    docsApiUrl: data.DOCS_API_URL,
    docsApiKey: data.DOCS_API_KEY,
    docsDomain: data.DOCS_DOMAIN,
    redisUrl: data.REDIS_URL,
    dataDir: data.DATA_DIR,
    logLevel: data.LOG_LEVEL,
  };
}

/** What is known while questions are asked: the settings so far, those of the environment included. */
export interface Known {
  env: NodeJS.ProcessEnv;
  /** Slack's requests come over Socket Mode. */
  overSocket: boolean;
}

/** A setting that is asked for when it is missing or has a wrong form. */
export interface Question {
  variable: string;
  /** What is asked, and where the answer is found. */
  text: string;
  secret: boolean;
  /** Whether Enter leaves it unset. */
  optional?: boolean;
  isNeeded(known: Known): boolean;
  /** The checks of the doctor that judge the answer. */
  checks: readonly string[];
}

export const QUESTIONS: readonly Question[] = [
  {
    variable: 'SLACK_BOT_TOKEN',
    text: 'Bot token ("OAuth & Permissions", after "Install to Workspace"; begins with xoxb-)',
    secret: true,
    isNeeded: () => true,
    checks: ['slack-bot-token', 'slack-scopes'],
  },
  {
    variable: 'SLACK_APP_TOKEN',
    text: 'App-level token ("Basic Information", App-Level Tokens, with the scope connections:write; begins with xapp-)',
    secret: true,
    isNeeded: ({ overSocket }) => overSocket,
    checks: ['slack-app-token'],
  },
  {
    variable: 'SLACK_SIGNING_SECRET',
    text: 'Signing secret ("Basic Information", App Credentials)',
    secret: true,
    isNeeded: ({ overSocket }) => !overSocket,
    checks: ['slack-signing-secret'],
  },
  {
    variable: 'DOCS_API_URL',
    text: "Address of the docs platform's administrative API, without /v1 or /v2",
    secret: false,
    isNeeded: () => true,
    checks: ['docs-api'],
  },
  {
    variable: 'DOCS_API_KEY',
    text: 'Admin API key (the API keys page of its dashboard)',
    secret: true,
    // The settings file names the keys of its projects.
    isNeeded: ({ env }) => !env.DOCKET_CONFIG?.trim() && !env.DOCS_API_KEY_FILE?.trim(),
    checks: ['docs-key-form', 'docs-key'],
  },
  {
    variable: 'DOCS_PROJECT_ID',
    text: "The project's id, for the docs agent and digests (the same page; press Enter to skip)",
    secret: false,
    optional: true,
    isNeeded: ({ env }) => !env.DOCKET_CONFIG?.trim(),
    checks: ['docs-project'],
  },
];

export const PUBLIC_URL_QUESTION =
  'Public https address of this machine that Slack can reach (press Enter for none: Socket Mode needs none)';

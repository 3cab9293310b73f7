import { readFileSync } from 'node:fs';
import { readEnvFile } from '../config/env-file.ts';
import { readPartialSettings } from '../config/partial-settings.ts';
import { type Settings, SettingsError } from '../config/settings.ts';
import { diagnose, inRoot, manifestScopes } from '../doctor/diagnose.ts';
import { isGood, type Line, render, renderAll, wrong } from '../doctor/lines.ts';
import { checkBotToken, checkProjects, checkRequests } from '../doctor/services.ts';
import { prepareWayOut } from '../runtime/outgoing.ts';
import { valueProblem, withSetting, writePrivately } from './env-text.ts';
import { createAppUrl } from './manifest.ts';
import type { Terminal } from './terminal.ts';

/** A setting to ask for if it is missing or malformed. */
interface Question {
  variable: string;
  /** The question, and where to find the answer. */
  text: string;
  isSecret: boolean;
  isOptional?: boolean;
  /** If one of these settings is set, it is not needed. */
  unless: readonly string[];
  /** Checks an answer. Only the lines about its variable count. */
  check(settings: Settings): Promise<Line[]>;
}

const QUESTIONS: readonly Question[] = [
  {
    variable: 'SLACK_BOT_TOKEN',
    text: 'Bot token ("OAuth & Permissions", after "Install to Workspace"; begins with xoxb-)',
    isSecret: true,
    unless: [],
    check: (settings) => checkBotToken(settings, manifestScopes()),
  },
  {
    variable: 'SLACK_APP_TOKEN',
    text: 'App-level token ("Basic Information", App-Level Tokens, with the scope connections:write; begins with xapp-)',
    isSecret: true,
    unless: ['SLACK_SIGNING_SECRET'],
    check: checkRequests,
  },
  {
    variable: 'SLACK_SIGNING_SECRET',
    text: 'Signing secret ("Basic Information", App Credentials)',
    isSecret: true,
    unless: ['SLACK_APP_TOKEN'],
    check: checkRequests,
  },
  {
    variable: 'DOCS_API_URL',
    text: "Address of the docs platform's administrative API, without /v1 or /v2",
    isSecret: false,
    unless: [],
    check: checkProjects,
  },
  {
    variable: 'DOCS_API_KEY',
    text: 'Admin API key (the API keys page of its dashboard)',
    isSecret: true,
    unless: ['DOCKET_CONFIG', 'DOCS_API_KEY_FILE'],
    check: checkProjects,
  },
  {
    variable: 'DOCS_PROJECT_ID',
    text: "The project's id, for the docs agent and digests (the same page; press Enter to skip)",
    isSecret: false,
    isOptional: true,
    unless: ['DOCKET_CONFIG'],
    check: checkProjects,
  },
];

export interface SetupOptions {
  /** Variables of the environment; they override those of `.env`. */
  variables: NodeJS.ProcessEnv;
  /** Docket's address for Slack; if left out, Socket Mode. */
  publicUrl: string | undefined;
  terminal: Terminal;
}

/**
 * Asks for each setting that is missing or malformed, checks every answer as the doctor does, and writes it to `.env`
 * at once. Returns whether the doctor then finds no error. Rejects with `Interrupted`.
 */
export async function setUpDocket({ variables, publicUrl, terminal }: SetupOptions): Promise<boolean> {
  const file = readEnvFile(inRoot('.env'));
  let text = file.is === 'read' ? file.text : readFileSync(inRoot('.env.example'), 'utf8');
  const env = { ...(file.is === 'read' && file.values), ...variables };
  const problems = file.is === 'unreadable' ? [file.problem] : dropFlawedAnswers(env);
  for (const problem of problems) terminal.say(render(wrong('Settings', problem)));
  if (problems.length > 0) return false;
  prepareWayOut(readPartialSettings(env));

  const notUsed = publicUrl === undefined ? 'SLACK_SIGNING_SECRET' : 'SLACK_APP_TOKEN';
  if (!isSet(env, 'SLACK_BOT_TOKEN')) terminal.say(createAppText(publicUrl));
  for (const question of QUESTIONS) {
    const { variable, unless } = question;
    if (isSet(env, variable) || variable === notUsed || unless.some((name) => isSet(env, name))) continue;
    const value = await askFor(question, env, terminal);
    if (value === undefined) continue;
    env[variable] = value;
    text = withSetting(text, variable, value);
    writePrivately(inRoot('.env'), text);
  }
  terminal.say('\nnpm run doctor:');
  const lines = await diagnose(variables);
  terminal.say(renderAll(lines));
  terminal.say(
    isGood(lines)
      ? 'Start Docket: npm start. Then in Slack: /invite @Docket'
      : 'Fix what is wrong, and run npm run setup again.',
  );
  return isGood(lines);
}

const isSet = (env: NodeJS.ProcessEnv, variable: string) => Boolean(env[variable]?.trim());

/** Removes malformed answers, so that they are asked for again. Returns the problems of all other settings. */
function dropFlawedAnswers(env: NodeJS.ProcessEnv): string[] {
  const problems = problemsOf(env);
  const flawed = QUESTIONS.filter(({ variable }) => problems.some((text) => text.startsWith(`${variable} `)));
  for (const { variable } of flawed) delete env[variable];
  return flawed.length === 0 ? problems : problemsOf(env);
}

function problemsOf(env: NodeJS.ProcessEnv): string[] {
  try {
    readPartialSettings(env);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
}

/** Asks until an answer is right, or the person keeps a wrong one. Returns undefined if it is skipped. */
async function askFor(question: Question, env: NodeJS.ProcessEnv, terminal: Terminal) {
  const { variable, text, isSecret, isOptional, check } = question;
  let kept: string | undefined;
  for (;;) {
    const typed = await terminal.ask(kept === undefined ? text : `${text}; press Enter to keep it`, isSecret);
    if (typed === '' && (kept !== undefined || isOptional)) return kept;
    if (typed === '') continue;
    const answered = { ...env, [variable]: typed };
    const problem = valueProblem(typed) ?? problemsOf(answered).join(' ');
    const lines = problem
      ? [wrong(variable, problem)]
      : (await check(readPartialSettings(answered))).filter(({ about }) => about === variable);
    for (const line of lines) terminal.say(render(line));
    if (isGood(lines)) return typed;
    kept = problem ? undefined : typed;
  }
}

/** Returns how to create the app in Slack, and what to copy from there. */
export function createAppText(publicUrl: string | undefined): string {
  const overSocket = publicUrl === undefined;
  return `
1. Open this page, choose your workspace, and create the app (if you have it: https://api.slack.com/apps):

${createAppUrl(readFileSync(inRoot('manifest.yml'), 'utf8'), publicUrl)}

2. On its page, choose "Install to Workspace".${overSocket ? ' Then "Basic Information", App-Level Tokens, "Generate": with the scope connections:write.' : ''}
3. Copy the ${overSocket ? 'two tokens' : 'token and the signing secret'} here; what you paste is not shown, and goes to .env, which only you can read.
${overSocket ? '\nThis sets up Socket Mode, which needs no public address. To use one: npm run setup -- https://docket.example.com\n' : ''}`;
}

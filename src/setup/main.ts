import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { parse } from 'yaml';
import { readEnvFile } from '../config/env-file.ts';
import { isSecret, readPartialSettings, SettingsError, workspaceVariables } from '../config/settings.ts';
import type { WorkspaceVariables } from '../config/workspaces.ts';
import { inRoot, isGood, render, wrong } from '../doctor/checks.ts';
import { checkCalls, diagnose, readArguments } from '../doctor/main.ts';
import { configureOutgoing } from '../runtime/outgoing.ts';

const USAGE = `Usage: npm run setup [-- [--workspace NAME] https://the.address.that.slack.reaches]
Without an address it sets up Socket Mode, which needs none.
NAME is a workspace in the file that DOCKET_CONFIG names.
`;

/** A setting to ask for if it is missing or malformed. */
interface Question {
  variable: string;
  /** The question, and where to find the answer. */
  text: string;
  /** Settings that replace this one. */
  unless?: readonly string[];
  /** Whether the answer is a secret, if its name does not say so. */
  isHidden?: boolean;
}

const SLACK_QUESTIONS = {
  botToken: {
    variable: 'SLACK_BOT_TOKEN',
    text: 'Bot token ("OAuth & Permissions", after "Install to Workspace"; begins with xoxb-)',
  },
  appToken: {
    variable: 'SLACK_APP_TOKEN',
    text: 'App-level token ("Basic Information", App-Level Tokens, with the scope connections:write; begins with xapp-)',
    unless: ['SLACK_SIGNING_SECRET'],
  },
  signingSecret: {
    variable: 'SLACK_SIGNING_SECRET',
    text: 'Signing secret ("Basic Information", App Credentials)',
    unless: ['SLACK_APP_TOKEN'],
  },
} satisfies Record<keyof WorkspaceVariables, Question>;

const OTHER_QUESTIONS: readonly Question[] = [
  {
    variable: 'DOCS_API_URL',
    text: "Address of the docs platform's administrative API, without /v1 or /v2",
  },
  {
    variable: 'DOCS_API_KEY',
    text: 'Admin API key (the API keys page of its dashboard)',
    unless: ['DOCKET_CONFIG', 'DOCS_API_KEY_FILE'],
  },
  {
    variable: 'DOCS_PROJECT_ID',
    text: "The project's id, for everything but exports (the same page)",
    unless: ['DOCKET_CONFIG'],
  },
];

/** Asks for missing settings, or prints the steps if there is no terminal; exits with 0 if all is well. */
async function main(env: NodeJS.ProcessEnv): Promise<void> {
  const { workspace, positionals } = readArguments();
  const [typed] = positionals;
  const publicUrl = typed === undefined ? undefined : readPublicUrl(typed);
  process.exitCode = 1;
  if (typed !== undefined && publicUrl === undefined) return void process.stderr.write(USAGE);
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    return void process.stdout.write(
      `Setup asks questions, and needs a terminal. By hand: docs/setup.md.\n${createAppText(publicUrl, workspace)}`,
    );
  const terminal = createTerminal();
  try {
    process.exitCode = (await askForSettings(env, publicUrl, workspace, terminal)) ? 0 : 1;
  } catch (error) {
    // Ctrl-C or Ctrl-D.
    if (!(error instanceof Error) || error.name !== 'AbortError') throw error;
    terminal.say('\nStopped. Your answers so far are saved; run npm run setup to continue.\n');
    process.exitCode = 130;
  } finally {
    terminal.close();
  }
}

/** Asks for each missing or malformed setting, and saves and checks the answers. Returns whether all is well then. */
async function askForSettings(
  variables: NodeJS.ProcessEnv,
  typedUrl: string | undefined,
  workspace: string | undefined,
  terminal: Terminal,
): Promise<boolean> {
  const file = readEnvFile(inRoot('.env'));
  let text = file.text ?? readFileSync(inRoot('.env.example'), 'utf8');
  const env = { ...file.values, ...variables };
  const isSet = (variable: string) => Boolean(env[variable]?.trim());
  const named = workspaceVariables(env);
  const own = named?.[workspace ?? ''];
  if ((named !== undefined || workspace !== undefined) && own === undefined) {
    const known = Object.keys(named ?? {}).join(', ') || 'none';
    terminal.say(`Add --workspace and one of the workspaces in the file of DOCKET_CONFIG: ${known}\n`);
    return false;
  }
  const questions = questionsOf(own);
  // A malformed answer is asked for again.
  for (const { variable } of questions)
    if (problemsOf(env).some((problem) => problem.startsWith(`${variable} `))) delete env[variable];
  const problems = file.problem === undefined ? problemsOf(env) : [file.problem];
  terminal.say(render(problems.map((problem) => wrong('Settings', problem))));
  if (problems.length > 0) return false;
  const settings = readPartialSettings(env);
  configureOutgoing(settings);

  // The file says how Slack reaches a workspace's app.
  const overSocket = settings.workspaces.some(({ name, appToken }) => name === workspace && appToken);
  const publicUrl = own && overSocket ? undefined : typedUrl;
  const isNew = !isSet(questions[0]?.variable ?? '');
  if (own && isNew && !overSocket && publicUrl === undefined) {
    const command = `npm run setup -- --workspace ${workspace} ${PLACEHOLDER}`;
    terminal.say(`The file gives ${workspace} no appToken. Add the address that Slack reaches: ${command}\n`);
    return false;
  }
  const notUsed = publicUrl === undefined ? 'SLACK_SIGNING_SECRET' : 'SLACK_APP_TOKEN';
  if (isNew) terminal.say(createAppText(publicUrl, workspace));
  for (const { variable, text: question, unless = [], isHidden = isSecret(variable) } of questions) {
    if (variable === notUsed || [variable, ...unless].some(isSet)) continue;
    for (;;) {
      const hint = isSet(variable) ? 'press Enter to keep it' : 'press Enter to skip it';
      const typed = await terminal.ask(`${question}; ${hint}`, isHidden);
      if (typed === '') break;
      const answered = { ...env, [variable]: typed };
      // docker would keep quotes around a value.
      const problem = /[\s"'`#\\]|[^\x21-\x7e]/.test(typed)
        ? 'It contains a space, a quote or another invalid character. Copy it again.'
        : problemsOf(answered).join(' ');
      if (problem) {
        terminal.say(render([wrong(variable, problem)]));
        continue;
      }
      env[variable] = typed;
      text = withSetting(text, variable, typed);
      writeFileSync(inRoot('.env'), text, { mode: 0o600, flush: true });
      chmodSync(inRoot('.env'), 0o600);
      const checked = await checkCalls(readPartialSettings(env), workspace);
      const lines = checked.filter(({ about }) => about === variable);
      terminal.say(render(lines));
      if (isGood(lines)) break;
    }
  }
  terminal.say('\nnpm run doctor:\n');
  const lines = await diagnose(variables, workspace);
  terminal.say(render(lines));
  terminal.say(
    isGood(lines)
      ? 'Start Docket: npm start. Then in Slack: /invite @Docket\n'
      : 'Fix what is wrong, and run npm run setup again.\n',
  );
  return isGood(lines);
}

/** Returns the questions; those about Slack ask for the variables of a workspace, if it names some. */
function questionsOf(own: WorkspaceVariables | undefined): readonly Question[] {
  const names = ['botToken', 'appToken', 'signingSecret'] as const;
  const ofSlack = names.flatMap((name): Question[] => {
    const question = SLACK_QUESTIONS[name];
    if (own === undefined) return [question];
    const variable = own[name];
    return variable === undefined ? [] : [{ variable, text: question.text, isHidden: true }];
  });
  return [...ofSlack, ...OTHER_QUESTIONS];
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

/** Returns how to create the app in Slack, and what to copy from there. */
function createAppText(publicUrl: string | undefined, workspace: string | undefined): string {
  const overSocket = publicUrl === undefined;
  return `
1. Open this page, choose your workspace, and create the app (if you have it: https://api.slack.com/apps):

${createAppUrl(readFileSync(inRoot('manifest.yml'), 'utf8'), publicUrl, workspace)}

2. On its page, choose "Install to Workspace".${overSocket ? ' Then "Basic Information", App-Level Tokens, "Generate": with the scope connections:write.' : ''}
3. Copy the ${overSocket ? 'two tokens' : 'token and the signing secret'} here; what you paste is not shown, and goes to .env, which only you can read.
${overSocket ? `\nThis sets up Socket Mode, which needs no public address. To use one: ${workspace ? 'name a signingSecret in place of the appToken' : `npm run setup -- ${PLACEHOLDER}`}\n` : ''}
`;
}

/** The address in manifest.yml that an operator replaces. */
const PLACEHOLDER = 'https://docket.example.com';

/** Returns the address of Slack's page that creates the app: for requests to a public address, or Socket Mode. */
export function createAppUrl(yaml: string, publicUrl: string | undefined, workspace?: string): string {
  const own = workspace ? yaml.replaceAll('/slack/events', `/slack/${workspace}/events`) : yaml;
  const manifest = parse(publicUrl === undefined ? own : own.replaceAll(PLACEHOLDER, publicUrl));
  manifest.settings.socket_mode_enabled = publicUrl === undefined;
  // Socket Mode needs no addresses, and Slack would call an invented one.
  const isLeftOut = (name: string) => publicUrl === undefined && (name === 'url' || name === 'request_url');
  const json = JSON.stringify(manifest, (name, value) => (isLeftOut(name) ? undefined : value));
  return `https://api.slack.com/apps?new_app=1&manifest_json=${encodeURIComponent(json)}`;
}

/** Returns a public address, without the path of Slack's requests at its end; undefined if it is not an https address. */
export function readPublicUrl(typed: string): string | undefined {
  const url = URL.parse(typed);
  if (url?.protocol !== 'https:') return undefined;
  return url.origin + url.pathname.replace(/\/$/, '').replace(/\/slack\/(?:[\w-]{1,40}\/)?events$/, '');
}

/** Returns the text with a setting: in the line that sets it, else at the end. All other lines stay. */
function withSetting(text: string, name: string, value: string): string {
  const line = `${name}=${value}`;
  const lines = text.split('\n');
  const set = lines.findLastIndex((one) => one.split('=', 1)[0]?.replace('export ', '').trim() === name);
  if (set >= 0) return lines.with(set, line).join('\n');
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`;
}

type Terminal = ReturnType<typeof createTerminal>;

function createTerminal() {
  const { stdin: input, stdout } = process;
  // Also between questions: text pasted before its question may be a secret.
  let hidden = true;
  const output = new Writable({
    write(part, _encoding, done) {
      if (!hidden) stdout.write(part);
      done();
    },
  });
  const lines = createInterface({ input, output, terminal: true, historySize: 0 });
  return {
    say: (text: string) => void stdout.write(text),
    /** Returns the typed text, trimmed. A secret is not shown. */
    async ask(question: string, isHidden: boolean): Promise<string> {
      hidden = false;
      const answer = lines.question(`${question}: `);
      hidden = isHidden;
      try {
        return (await answer).trim();
      } finally {
        hidden = true;
        if (isHidden) stdout.write('\n');
      }
    },
    close: () => lines.close(),
  };
}

if (import.meta.main) await main(process.env);

import { readEnvFile } from '../config/env-file.ts';
import { readUsableSettings } from '../config/usable-settings.ts';
import { type DiagnoseOptions, diagnose, type Finding } from '../doctor/diagnose.ts';
import { isGood, renderLines, SIGNS } from '../doctor/render.ts';
import { valueProblem, withSetting, writePrivately } from './env-text.ts';
import { createAppUrl, manifestFor, readPublicUrl } from './manifest.ts';
import { type Known, PUBLIC_URL_QUESTION, QUESTIONS, type Question } from './questions.ts';
import type { Terminal } from './terminal.ts';

export interface SetupOptions extends DiagnoseOptions {
  envFile: string;
  /** The text of manifest.yml. */
  manifest: string;
  /** What a new `.env` begins with. */
  envExample: string;
}

/** The file cannot be read: nothing is asked, since it would be lost. */
export class SetupProblem extends Error {
  override name = 'SetupProblem';
}

interface State extends Known {
  text: string;
}

/**
 * Asks for each setting that is missing or has a wrong form, checks every answer as the doctor does, and keeps it at once.
 * Returns whether the doctor finds nothing wrong then. Rejects with `Interrupted`, and with `SetupProblem`.
 */
export async function setUpDocket(options: SetupOptions, terminal: Terminal): Promise<boolean> {
  let state = readState(options);
  const open = missing(state);
  if (open.length > 0)
    terminal.say(`Missing settings are saved in ${options.envFile}, which only you can read.\n`);
  if (open.some(({ variable }) => variable.startsWith('SLACK_'))) state = await introduceSlack(state);
  for (const question of QUESTIONS) {
    if (missing(state).includes(question)) state = await answer(question, state);
  }
  terminal.say('\nnpm run doctor:');
  const findings = await diagnose(options);
  terminal.say(renderLines(findings));
  const good = isGood(findings);
  terminal.say(
    good
      ? 'Start Docket: npm start. Then in Slack: /invite @Docket'
      : 'Fix what is wrong, and run npm run setup again.',
  );
  return good;

  /** Finds out how Slack reaches Docket, and has the app created. */
  async function introduceSlack(before: State): Promise<State> {
    const secret = secretOfApp(before.env);
    const hasToken = isSet(before.env.SLACK_BOT_TOKEN);
    if (secret !== undefined) {
      if (!hasToken) terminal.say(appExistsText(secret));
      return before;
    }
    const publicUrl = await askAddress();
    if (!hasToken) terminal.say(createAppText(options.manifest, publicUrl));
    return { ...before, overSocket: publicUrl === undefined };
  }

  async function askAddress(): Promise<string | undefined> {
    for (;;) {
      const typed = await terminal.ask(PUBLIC_URL_QUESTION);
      if (typed === '') return undefined;
      const read = readPublicUrl(typed);
      if ('url' in read) return read.url;
      terminal.say(`✖ ${read.problem}`);
    }
  }

  async function answer(question: Question, before: State): Promise<State> {
    const { variable, text, secret, optional } = question;
    let kept: string | undefined;
    for (;;) {
      const typed = await terminal.ask(kept === undefined ? text : `${text}; press Enter to keep it`, {
        secret,
      });
      const value = typed.startsWith(`${variable}=`) ? typed.slice(variable.length + 1) : typed;
      if (value === '' && kept !== undefined) return keep(variable, kept, before);
      if (value === '' && optional) return before;
      if (value === '') continue;
      const problem = valueProblem(value);
      if (problem !== undefined) {
        terminal.say(`✖ ${problem}`);
        continue;
      }
      const findings = await judge(question, value, before);
      for (const { status, text: said } of findings)
        if (status !== 'not checked') terminal.say(`${SIGNS[status].sign} ${said}`);
      if (findings.every(({ status }) => status !== 'wrong')) return keep(variable, value, before);
      // Only what has the right form: what has not would be asked for again at once.
      kept = readUsableSettings({ ...before.env, [variable]: value }).flawed.has(variable)
        ? undefined
        : value;
    }
  }

  async function judge(question: Question, value: string, { env }: State): Promise<Finding[]> {
    const { variable, checks } = question;
    return await diagnose({
      ...options,
      env: { ...env, [variable]: value },
      envFile: undefined,
      only: checks,
    });
  }

  function keep(variable: string, value: string, before: State): State {
    const text = withSetting(before.text, variable, value);
    writePrivately(options.envFile, text);
    return { ...before, text, env: { ...before.env, [variable]: value } };
  }
}

const isSet = (value: string | undefined) => value !== undefined && value.trim() !== '';

/** Returns the questions whose setting is missing, or has a form that no start would take. */
function missing(known: Known): Question[] {
  const { flawed } = readUsableSettings(known.env);
  return QUESTIONS.filter(
    ({ variable, isNeeded, optional }) =>
      isNeeded(known) &&
      (flawed.has(variable) || !isSet(known.env[variable])) &&
      (!optional || !known.env[variable]),
  );
}

function readState({ env, envFile, envExample }: SetupOptions): State {
  const file = readEnvFile(envFile);
  if (file.is === 'unreadable') throw new SetupProblem(file.problem);
  const all = file.is === 'read' ? { ...file.values, ...env } : env;
  return {
    text: file.is === 'read' ? file.text : envExample,
    env: all,
    overSocket: isSet(all.SLACK_APP_TOKEN) || !isSet(all.SLACK_SIGNING_SECRET),
  };
}

/** Returns the setting that shows that there is an app, and how Slack reaches it. A second app would have other secrets. */
const secretOfApp = (env: NodeJS.ProcessEnv) =>
  (['SLACK_APP_TOKEN', 'SLACK_SIGNING_SECRET'] as const).find((name) => isSet(env[name]));

const appExistsText = (secret: string) => `
${secret} is set, so the app exists. Find the missing values on its pages: https://api.slack.com/apps
`;

function createAppText(manifest: string, publicUrl: string | undefined): string {
  return `
1. Open this page, choose your workspace, and create the app:

${createAppUrl(manifestFor(manifest, publicUrl))}

2. On its page, choose "Install to Workspace".${publicUrl === undefined ? ' Then "Basic Information", App-Level Tokens, "Generate": with the scope connections:write.' : ''}
3. Copy the ${publicUrl === undefined ? 'two tokens' : 'token and the signing secret'} here; what you paste is not shown.
`;
}

/** Returns what to do where nobody can be asked, and whether something is missing. */
export function describeSetup(options: SetupOptions): { text: string; missing: boolean } {
  const state = readState(options);
  const open = missing(state).filter(({ optional }) => !optional);
  if (open.length === 0) return { text: 'No setting is missing. Run: npm run doctor\n', missing: false };
  const lines = open.map(({ variable, text }) => `  ${variable}: ${text}`);
  const secret = secretOfApp(state.env);
  const app = secret === undefined ? createAppText(options.manifest, undefined) : appExistsText(secret);
  const text = `Setup needs a terminal to ask questions. Run npm run setup in one, or do it by hand:
${isSet(state.env.SLACK_BOT_TOKEN) ? '' : app}
Then set these in ${options.envFile} (chmod 600; start from .env.example) or in the environment:
${lines.join('\n')}
With a public https address, leave SLACK_APP_TOKEN out, set SLACK_SIGNING_SECRET, and create the app from manifest.yml
with that address in it.
`;
  return { text, missing: true };
}

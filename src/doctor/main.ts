import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { readEnvFile } from '../config/env-file.ts';
import { readPartialSettings, readSettings, type Settings, SettingsError } from '../config/settings.ts';
import { configureOutgoing } from '../runtime/outgoing.ts';
import { tryOr } from '../runtime/try-or.ts';
import {
  checkPort,
  checkProject,
  checkStorage,
  inRoot,
  isGood,
  judgeEnvFile,
  type Line,
  ok,
  render,
  warning,
  wrong,
} from './checks.ts';
import { probePlatform, renderProbes } from './platform.ts';
import { createReport } from './report.ts';
import { checkBotToken, checkMessages, checkRequests } from './slack.ts';

/**
 * Checks everything that Docket needs; with `workspace`, only the tokens of that one. Returns a line for each part, or for
 * each problem of the settings.
 */
export async function diagnose(variables: NodeJS.ProcessEnv, workspace?: string): Promise<Line[]> {
  const file = readEnvFile(inRoot('.env'));
  const env = { ...file.values, ...variables };
  try {
    const settings = readSettings(env);
    configureOutgoing(settings);
    const lines = await Promise.all([
      [judgeEnvFile(file), ok('Settings', 'All are valid.')],
      checkCalls(settings, workspace),
      checkStorage(settings, env.PATH ?? ''),
      checkPort(settings, env),
    ]);
    return lines.flat();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return [
      judgeEnvFile(file),
      ...error.problems.map((text) => wrong('Settings', text)),
      warning('Slack, docs platform, Redis, port', 'Not checked. Fix the settings first.'),
    ];
  }
}

/** Checks what calls can verify: the tokens of Slack, and the platform's address, keys and ids of projects. */
export async function checkCalls(settings: Settings, workspace?: string): Promise<Line[]> {
  const workspaces = settings.workspaces.filter(({ name }) => workspace === undefined || name === workspace);
  const known = settings.workspaces.map(({ name = 'none' }) => name).join(', ');
  if (workspaces.length === 0)
    return [wrong('Settings', `They have no workspace ${workspace}. DOCKET_CONFIG names: ${known}.`)];
  const projects = settings.projects.map((project) => checkProject(settings, project));
  const slack = workspaces.flatMap((one) => [checkBotToken(settings, one), checkRequests(settings, one)]);
  return Promise.all([...slack, ...projects]);
}

/** Returns the arguments of setup and doctor. Unknown ones are ignored. */
export function readArguments() {
  const [string, boolean] = [{ type: 'string' }, { type: 'boolean' }] as const;
  const options = { workspace: string, log: string, platform: boolean, messages: boolean, report: boolean };
  const { values, positionals } = parseArgs({ options, strict: false, allowPositionals: true });
  return { ...values, workspace: values.workspace?.toString(), log: values.log?.toString(), positionals };
}

/** Reads settings that may lack those of other parts. Throws a `SettingsError` about the rest. */
function readFor(env: NodeJS.ProcessEnv, others: RegExp): Settings {
  try {
    return readSettings(env);
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    const problems = error.problems.filter((problem) => !others.test(problem));
    if (problems.length > 0) throw new SettingsError(problems);
    return readPartialSettings(env);
  }
}

/** Prints the table of each project. Returns whether nothing is refused. */
async function showPlatform(settings: Settings, print: (text: string) => void): Promise<boolean> {
  const all = await Promise.all(settings.projects.map((project) => probePlatform(settings, project)));
  const titles = settings.projects.map(({ name }) => `The docs platform, project ${name}`);
  print(all.map((probes, index) => renderProbes(titles[index] ?? '', probes)).join('\n'));
  return all.flat().every(({ result }) => result !== 'refused');
}

/** Problems that do not concern the docs platform. */
const OF_SLACK = /^SLACK_\w+ is missing/;

/** Does what the arguments say; without any, prints a line for each part that Docket needs. Returns whether all is good. */
async function run(variables: NodeJS.ProcessEnv, print: (text: string) => void): Promise<boolean> {
  const { workspace, platform, messages, report, log } = readArguments();
  const env = { ...readEnvFile(inRoot('.env')).values, ...variables };
  try {
    if (report) {
      const lines = await diagnose(variables, workspace);
      const settings = tryOr(undefined, () => readFor(env, OF_SLACK));
      if (settings) configureOutgoing(settings);
      print(await createReport({ env, lines, log, settings }));
      return true;
    }
    if (platform || messages) {
      const settings = readFor(env, platform ? OF_SLACK : /^(?!SLACK_BOT_TOKEN)\w+ is missing/);
      configureOutgoing(settings);
      return platform
        ? await showPlatform(settings, print)
        : await checkMessages({ settings, workspace, sleep, print });
    }
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    print(render(error.problems.map((text) => wrong('Settings', text))));
    return false;
  }
  const lines = await diagnose(variables, workspace);
  const count = (wanted: Line['status']) => lines.filter(({ status }) => status === wanted).length;
  print(`${render(lines)}${count('wrong')} wrong, ${count('warning')} to look at.\n`);
  return isGood(lines);
}

/** Ends the process: with 1 on an error, else with 0. */
async function main(env: NodeJS.ProcessEnv): Promise<void> {
  const isAllGood = await run(env, (text) => void process.stdout.write(text));
  process.stdout.write('', () => process.exit(isAllGood ? 0 : 1));
}

if (import.meta.main) await main(process.env);

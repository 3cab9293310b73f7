import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { type EnvFile, readEnvFile } from '../config/env-file.ts';
import { healthAddressOf } from '../config/health-port.ts';
import { readSettings, SettingsError } from '../config/settings.ts';
import { prepareWayOut } from '../runtime/outgoing.ts';
import { type Line, notChecked, ok, warning, wrong } from './lines.ts';
import { checkPort, checkStorage } from './machine.ts';
import { checkBotToken, checkProjects, checkRequests } from './services.ts';

/** Returns the path of a file beside package.json. */
export const inRoot = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));

/** Returns the scopes of the bot in manifest.yml. */
export const manifestScopes = (): string[] =>
  parse(readFileSync(inRoot('manifest.yml'), 'utf8')).oauth_config.scopes.bot;

/** Checks everything that Docket needs. Returns a line for each part; for wrong settings, one for each problem. */
export async function diagnose(variables: NodeJS.ProcessEnv): Promise<Line[]> {
  const file = readEnvFile(inRoot('.env'));
  const env = { ...(file.is === 'read' && file.values), ...variables };
  try {
    const settings = readSettings(env);
    prepareWayOut(settings);
    const lines = await Promise.all([
      [judgeEnvFile(file), ok('Settings', 'All are valid.')],
      checkBotToken(settings, manifestScopes()),
      checkRequests(settings),
      checkProjects(settings),
      checkStorage(settings, env.PATH ?? ''),
      checkPort(settings, healthAddressOf(env)),
    ]);
    return lines.flat();
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return [
      judgeEnvFile(file),
      ...error.problems.map((text) => wrong('Settings', text)),
      notChecked('Slack, docs platform, Redis, port', 'Fix the settings first.'),
    ];
  }
}

function judgeEnvFile(file: EnvFile): Line {
  if (file.is === 'unreadable') return wrong('.env', file.problem);
  if (file.is === 'absent')
    return ok('.env', 'There is none: settings come from the environment. npm run setup writes one.');
  return file.warning === undefined
    ? ok('.env', 'Only its owner can read it.')
    : warning('.env', file.warning);
}

import { DocsApiSettingsError } from '../docs-api/errors.ts';
import { parseBaseUrl } from '../docs-api/settings.ts';
import { readSettings, type Settings, SettingsError } from './settings.ts';

/** Settings that are looked at although some are missing or wrong. */
export interface UsableSettings {
  /** What stands in the place of a flawed setting is made up: ask `flawed` before using one. */
  settings: Settings | undefined;
  problems: { variable: string; text: string }[];
  /** The variables with a problem. */
  flawed: ReadonlySet<string>;
}

/** They only let the other settings be read. */
const MADE_UP = {
  SLACK_BOT_TOKEN: 'xoxb-',
  SLACK_SIGNING_SECRET: '0'.repeat(32),
  DOCS_API_URL: 'https://docs-api.invalid',
  DOCS_API_KEY: 'made-up',
};

/** Reads the settings as far as they are right. Never throws; no problem repeats a value. */
export function readUsableSettings(env: NodeJS.ProcessEnv): UsableSettings {
  const found = problemsOf(env);
  const isAddressRight = !found.some(({ variable }) => variable === 'DOCS_API_URL');
  const problems = [...found, ...(isAddressRight ? addressProblems(env.DOCS_API_URL ?? '') : [])];
  const flawed = new Set(problems.map(({ variable }) => variable));
  return { settings: readWithout(env, flawed), problems, flawed };
}

function problemsOf(env: NodeJS.ProcessEnv): UsableSettings['problems'] {
  try {
    readSettings(env);
    return [];
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return error.problems.map((text) => ({ variable: variableOf(text), text }));
  }
}

/** Returns what is found only when the client of the docs API is made. */
function addressProblems(address: string): UsableSettings['problems'] {
  try {
    parseBaseUrl(address);
    return [];
  } catch (error) {
    if (!(error instanceof DocsApiSettingsError)) throw error;
    return [{ variable: 'DOCS_API_URL', text: error.message }];
  }
}

/** What names no variable is about a line of the settings file. */
const variableOf = (problem: string) => /^[A-Z][A-Z0-9_]*(?= )/.exec(problem)?.[0] ?? 'DOCKET_CONFIG';

function readWithout(env: NodeJS.ProcessEnv, flawed: ReadonlySet<string>): Settings | undefined {
  const isUsed = ([name, value]: [string, string | undefined]) => !flawed.has(name) && value?.trim();
  const rest: NodeJS.ProcessEnv = Object.fromEntries(Object.entries(env).filter(isUsed));
  // A made-up key has no prefix, and the other roles need an address of Redis.
  if (rest.DOCS_API_KEY === undefined) delete rest.DOCS_API_KEY_PREFIX;
  if (rest.REDIS_URL === undefined) delete rest.DOCKET_ROLE;
  try {
    return readSettings({ ...MADE_UP, ...rest });
  } catch (error) {
    if (error instanceof SettingsError) return undefined;
    throw error;
  }
}

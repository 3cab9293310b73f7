import { readSettings, type Settings } from './settings.ts';

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

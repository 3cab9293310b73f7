import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { readSettings, SettingsError } from '../../../src/config/settings.ts';

/** Settings with which Docket starts. */
export const sound = {
  SLACK_BOT_TOKEN: 'xoxb-1-2-abc',
  SLACK_SIGNING_SECRET: '0123456789abcdef0123456789abcdef',
  DOCS_API_URL: 'https://api.docs.example/v1',
  DOCS_API_KEY: 'adm_0123456789',
};

/** Returns what is wrong with these settings; nothing where they are read. */
export function problemsOf(env: NodeJS.ProcessEnv): string[] {
  try {
    readSettings(env);
    return [];
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return error.problems;
  }
}

/** Returns a folder of this test file's own, which goes at its end, and `fileWith`, which returns the path of a file there. */
export function configFolder() {
  const folder = mkdtempSync(join(tmpdir(), 'docket-config-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const fileWith = (content: string | Uint8Array, name = 'docket.yml'): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  return { folder, fileWith };
}

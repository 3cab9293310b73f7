import { startApp } from '../../src/app.ts';
import { readSettings } from '../../src/config/settings.ts';
import { createLog } from '../../src/runtime/log.ts';

const env = {
  SLACK_BOT_TOKEN: 'xoxb-1-2-abc',
  SLACK_SIGNING_SECRET: '0123456789abcdef0123456789abcdef',
  // Nobody is there: what it calls fails at once.
  SLACK_API_URL: 'http://127.0.0.1:9/api/',
  DOCS_API_URL: 'http://127.0.0.1:9/',
  DOCS_API_KEY: 'adm_0123456789',
  PORT: '0',
};

/** Docket in the process of the test, what it logs, and how to ask it over HTTP. */
export async function startTestApp(
  more: NodeJS.ProcessEnv,
  options: Partial<Parameters<typeof startApp>[1]> = {},
) {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('debug', [], { write: (line: string) => void lines.push(JSON.parse(line)) });
  const docket = await startApp(readSettings({ ...env, ...more }), { log, ...options });
  return {
    ...docket,
    lines,
    async get(path: string) {
      const answer = await fetch(`http://127.0.0.1:${docket.port}${path}`);
      const text = await answer.text();
      return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
    },
  };
}

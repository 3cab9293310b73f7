import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { endsWithTests } from './children.ts';

/** Docket as `npm start` runs it. Slack and the platform are not there. */
export function startDocket(env: NodeJS.ProcessEnv, stdout: 'pipe' | number = 'pipe') {
  const child: ChildProcess = endsWithTests(
    spawn(process.execPath, ['src/app.ts'], {
      cwd: new URL('../../..', import.meta.url).pathname,
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        SLACK_BOT_TOKEN: 'xoxb-1-2-abc',
        SLACK_SIGNING_SECRET: '0123456789abcdef0123456789abcdef',
        SLACK_API_URL: 'http://127.0.0.1:9/api/',
        DOCS_API_URL: 'http://127.0.0.1:9/',
        DOCS_API_KEY: 'adm_0123456789',
        ...env,
      },
      stdio: ['ignore', stdout, 'pipe'],
    }),
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { child, ended, output: () => output };
}

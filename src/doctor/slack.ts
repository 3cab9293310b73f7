import { connectionProblem } from '../docs-api/connection-problem.ts';
import type { Check } from './check.ts';
import type { HttpAnswer } from './http.ts';
import { notChecked, type Outcome, ok, warning, wrong } from './outcome.ts';

const NOT_THERE = 'Check the network of this machine, its proxy, and SLACK_API_URL if it is set';

/** Returns why Slack did not accept a call; `undefined` when it did. */
function refusalOf(answer: HttpAnswer, variable: string, copyFrom: string): Outcome | undefined {
  if (answer.is === 'none')
    return wrong(
      connectionProblem(answer.why, 'Slack') ?? `Slack cannot be reached (${answer.why}). ${NOT_THERE}.`,
    );
  const { ok: accepted, error } = fieldsOf(answer.body);
  if (accepted === true) return undefined;
  return error === undefined
    ? wrong(`Slack's API does not answer as it should (${answer.status}). ${NOT_THERE}.`)
    : wrong(`Slack does not accept ${variable} (${error}). ${copyFrom}`);
}

function fieldsOf(body: unknown): {
  ok?: unknown;
  error: string | undefined;
  team?: unknown;
  bot_id?: unknown;
} {
  if (typeof body !== 'object' || body === null) return { error: undefined };
  const { ok: accepted, error, team, bot_id } = body as Record<string, unknown>;
  const code = typeof error === 'string' ? error.replace(/[^\w-]/g, '').slice(0, 60) : undefined;
  return { ok: accepted, error: code, team, bot_id };
}

const COPY_BOT = 'Copy it again from your Slack app, "OAuth & Permissions", Bot User OAuth Token.';
const COPY_APP = 'Create one under "Basic Information", App-Level Tokens, with the scope connections:write.';

function judgeBotToken(answer: HttpAnswer): Outcome {
  const refusal = refusalOf(answer, 'SLACK_BOT_TOKEN', COPY_BOT);
  if (refusal !== undefined) return refusal;
  const { team, bot_id } = fieldsOf(answer.is === 'answer' ? answer.body : undefined);
  if (bot_id === undefined) return wrong(`SLACK_BOT_TOKEN is not a bot token. ${COPY_BOT}`);
  return ok(
    `Slack accepts SLACK_BOT_TOKEN${typeof team === 'string' ? `, in the workspace ${printable(team)}` : ''}.`,
  );
}

/** Returns a name of somebody else's without what a terminal would obey. */
const printable = (name: string) => name.replace(/\p{C}/gu, '').slice(0, 80);

function judgeScopes(answer: HttpAnswer, wanted: readonly string[]): Outcome {
  const held = answer.is === 'answer' ? answer.header('x-oauth-scopes') : null;
  if (held === null || refusalOf(answer, 'SLACK_BOT_TOKEN', '') !== undefined)
    return notChecked('Slack must accept SLACK_BOT_TOKEN first: its answer lists the scopes.');
  const names = held.split(',').map((name) => name.trim());
  const missing = wanted.filter((name) => !names.includes(name));
  if (missing.length > 0)
    return wrong(
      `The app lacks ${missing.join(', ')}. Replace its manifest with manifest.yml, and reinstall it in the workspace.`,
    );
  return ok(`The app has all ${wanted.length} scopes of manifest.yml.`);
}

function judgeSigningSecret(secret: string | undefined, overSocket: boolean): Outcome {
  if (overSocket) return ok('Not needed with Socket Mode.');
  if (!/^[0-9a-f]{32}$/i.test(secret ?? ''))
    return warning(
      'SLACK_SIGNING_SECRET is not 32 hexadecimal characters, as Slack\'s are. Copy it again from "Basic Information", App Credentials.',
    );
  return ok(
    'SLACK_SIGNING_SECRET has the right form. No call can verify it: once Docket runs, /readyz reports requests with another signature.',
  );
}

/** Asking for a connection opens none: only who uses the address in the answer does. */
function judgeAppToken(answer: HttpAnswer | undefined): Outcome {
  if (answer === undefined) return ok('SLACK_APP_TOKEN is not set: requests come over HTTP.');
  return (
    refusalOf(answer, 'SLACK_APP_TOKEN', COPY_APP) ??
    ok('Slack accepts SLACK_APP_TOKEN: requests come over Socket Mode, without a public address.')
  );
}

export const slackChecks: Check[] = [
  {
    id: 'slack-bot-token',
    title: 'Bot token',
    reports: ['SLACK_BOT_TOKEN'],
    needs: ['SLACK_API_URL'],
    run: async ({ botToken }) => judgeBotToken(await botToken()),
  },
  {
    id: 'slack-scopes',
    title: 'Scopes',
    needs: ['SLACK_BOT_TOKEN', 'SLACK_API_URL'],
    run: async ({ botToken, manifestScopes }) => judgeScopes(await botToken(), manifestScopes),
  },
  {
    id: 'slack-signing-secret',
    title: 'Signing secret',
    reports: ['SLACK_SIGNING_SECRET'],
    run: ({ settings, env }) =>
      judgeSigningSecret(settings.slackSigningSecret, Boolean(env.SLACK_APP_TOKEN?.trim())),
  },
  {
    id: 'slack-app-token',
    title: 'Socket Mode',
    reports: ['SLACK_APP_TOKEN'],
    needs: ['SLACK_API_URL'],
    run: async ({ appToken }) => judgeAppToken(await appToken()),
  },
];

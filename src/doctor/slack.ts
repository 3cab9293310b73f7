import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Settings } from '../config/settings.ts';
import type { WorkspaceSettings } from '../config/workspaces.ts';
import { connectionProblem } from '../docs-api/errors.ts';
import { createLog } from '../runtime/log.ts';
import { type SlackApiError, toSlackApiError } from '../slack/errors.ts';
import { createSlackWeb, ORG_WIDE_TEXT } from '../slack/web-calls.ts';
import { inRoot, LIMIT_MS, type Line, ok, warning, wrong } from './lines.ts';

/** Returns a client of Slack that makes each call once. */
export const slackCalls = ({ slackApiUrl: apiUrl }: Settings, token: string) =>
  createSlackWeb({
    token,
    apiUrl,
    timing: { slackCallMs: LIMIT_MS, retryMaxMs: 0 },
    log: createLog('silent', []),
    monotonicMs: () => performance.now(),
    onCall() {},
  });

/** Checks the bot token, and whether it has the scopes of manifest.yml. */
export async function checkBotToken(settings: Settings, { botToken }: WorkspaceSettings): Promise<Line> {
  const { name, secret } = botToken;
  const scopes: string[] = parse(readFileSync(inRoot('manifest.yml'), 'utf8')).oauth_config.scopes.bot;
  return askSlack(settings, name, BOT_TOKEN_FIX, async () => {
    const answer = await slackCalls(settings, secret).call('auth.test', {});
    if (answer.is_enterprise_install) return wrong(name, ORG_WIDE_TEXT);
    if (answer.bot_id === undefined) return wrong(name, `It is not a bot token. ${BOT_TOKEN_FIX}`);
    const held = answer.response_metadata?.scopes ?? [];
    const missing = scopes.filter((scope) => !held.includes(scope));
    const lacks = `The app lacks ${missing.join(', ')}. Replace its manifest with manifest.yml, and reinstall it in the workspace.`;
    if (missing.length > 0) return wrong(name, lacks);
    // Without control characters, which a terminal would obey.
    const team = String(answer.team).replace(/\p{C}/gu, '').slice(0, 80);
    return ok(name, `Slack accepts it in the workspace ${team}, with all scopes of manifest.yml.`);
  });
}

export const BOT_TOKEN_FIX =
  'Copy it again from your Slack app, "OAuth & Permissions", Bot User OAuth Token.';

/** Checks the token of Socket Mode, if any. The request opens no connection. */
export async function checkRequests(settings: Settings, { appToken, signingSecret }: WorkspaceSettings) {
  if (appToken === undefined) {
    const text = 'It is set. No call can verify it: /readyz reports requests with another signature.';
    return ok(signingSecret?.name ?? '', text);
  }
  const { name, secret } = appToken;
  const fix = 'Create one under "Basic Information", App-Level Tokens, with the scope connections:write.';
  return askSlack(settings, name, fix, async () => {
    await slackCalls(settings, secret).call('apps.connections.open', {});
    return ok(name, 'Slack accepts it: requests come over Socket Mode, without a public address.');
  });
}

const askSlack = (settings: Settings, name: string, fix: string, check: () => Promise<Line>): Promise<Line> =>
  check().catch((error: unknown) => lineOfError(settings, name, fix, toSlackApiError(name, error)));

/** Returns why a call with the token of this setting has no result. Only a refusal of the token is about the token. */
export function lineOfError(
  { slackApiUrl }: Settings,
  name: string,
  fix: string,
  { kind, code, retryAfterMs = 60_000 }: SlackApiError,
): Line {
  if (kind === 'limited')
    return warning(
      name,
      `It was not checked, because Slack limits these calls (${code}). Run the doctor again in ${Math.ceil(retryAfterMs / 1000)} s.`,
    );
  if (/^http_5|^(?:internal_error|fatal_error|service_unavailable|request_timeout)$/.test(code))
    return warning(
      name,
      `It was not checked, because Slack itself fails (${code}). See https://slack-status.com, and run the doctor again later.`,
    );
  if (kind !== 'unreachable' && kind !== 'unclear')
    return wrong(name, `Slack does not accept it (${code}). ${fix}`);
  // Slack's own address is right, so its name can be looked up wherever there is DNS.
  const isOwn = slackApiUrl.startsWith('https://slack.com/');
  if (isOwn && /^(?:ENOTFOUND|EAI_AGAIN)$/.test(code))
    return wrong(
      name,
      `This machine can't look up slack.com (${code}). Check its DNS and its network, and HTTPS_PROXY if it is set.`,
    );
  const way = 'Check the network of this machine, its proxy, and SLACK_API_URL if it is set.';
  const where = isOwn ? 'Slack' : 'SLACK_API_URL';
  return wrong(name, connectionProblem(code, where) ?? `Slack cannot be reached (${code}). ${way}`);
}

import { readdirSync, readFileSync } from 'node:fs';
import type { View } from '@slack/web-api';
import { parse } from 'yaml';
import type { Settings } from '../config/settings.ts';
import type { WorkspaceSettings } from '../config/workspaces.ts';
import { connectionProblem } from '../docs-api/errors.ts';
import { createLog } from '../runtime/log.ts';
import { tryOr } from '../runtime/try-or.ts';
import { fillLinks, type Message } from '../slack/blocks.ts';
import { type SlackApiError, toSlackApiError } from '../slack/errors.ts';
import { createSlackWeb, ORG_WIDE_TEXT } from '../slack/web-calls.ts';
import { inRoot, LIMIT_MS, type Line, ok, render, warning, wrong } from './checks.ts';

/** Returns a client of Slack that makes each call once. */
const slackCalls = ({ slackApiUrl: apiUrl }: Settings, token: string) =>
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

const BOT_TOKEN_FIX = 'Copy it again from your Slack app, "OAuth & Permissions", Bot User OAuth Token.';

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
  error: SlackApiError,
): Line {
  const { kind, code, retryAfterMs = 60_000 } = error;
  const unchecked = (why: string, when: string) =>
    warning(name, `It was not checked, because Slack ${why} (${code}). ${when}`);
  if (kind === 'limited')
    return unchecked('limits these calls', `Run the doctor again in ${Math.ceil(retryAfterMs / 1000)} s.`);
  if (/^http_5|^(?:internal_error|fatal_error|service_unavailable|request_timeout)$/.test(code))
    return unchecked('itself fails', 'See https://slack-status.com, and run the doctor again later.');
  if (kind !== 'unreachable' && kind !== 'unclear')
    return wrong(name, `Slack does not accept it (${code}). ${fix}`);
  const isOwn = slackApiUrl.startsWith('https://slack.com/');
  // Slack's own address is right, so its name can be looked up wherever there is DNS.
  const noDns = `This machine can't look up slack.com (${code}). Check its DNS and its network, and HTTPS_PROXY if it is set.`;
  if (isOwn && /^(?:ENOTFOUND|EAI_AGAIN)$/.test(code)) return wrong(name, noDns);
  const other = `Slack cannot be reached (${code}). Check the network of this machine, its proxy, and SLACK_API_URL if it is set.`;
  return wrong(name, connectionProblem(code, isOwn ? 'Slack' : 'SLACK_API_URL') ?? other);
}

/** Slack publishes no rate for `blocks.validate`, only that it has one of its own. */
const EVERY_MS = 1000;

/** The samples of all messages, modals and Home tabs, in the repository. */
const FOLDER = 'test/outside/golden';

/** A sample: a message, a modal or a Home tab in one state, by its name. */
export type Samples = Record<string, Message | View>;

/** Returns the samples, none outside of a checkout of the repository. */
function readSamples(): Samples {
  const names = tryOr([], () => readdirSync(inRoot(FOLDER)));
  return Object.assign({}, ...names.map((name) => parse(readFileSync(inRoot(`${FOLDER}/${name}`), 'utf8'))));
}

interface MessagesParts {
  settings: Settings;
  /** The workspace whose token is used; by default, the first. */
  workspace?: string | undefined;
  samples?: Samples;
  sleep: (ms: number) => Promise<unknown>;
  print: (text: string) => void;
}

/**
 * Asks Slack whether it takes each sample: `blocks.validate` shows them to nobody. Prints what Slack refuses, and returns
 * whether it takes all.
 */
export async function checkMessages(parts: MessagesParts): Promise<boolean> {
  const { settings, workspace, samples = readSamples(), sleep, print } = parts;
  const own = settings.workspaces.find(({ name }) => workspace === undefined || name === workspace);
  const states = Object.entries(samples);
  const missing = `The samples are in ${FOLDER} of a checkout of Docket, and this isn't one.`;
  if (own === undefined || states.length === 0) {
    print(render([wrong('Messages', own ? missing : `There is no workspace ${workspace} in the settings.`)]));
    return false;
  }
  const { call } = slackCalls(settings, own.botToken.secret);
  print(`${states.length} samples, one a second: about ${Math.ceil(states.length / 60)} min.\n`);
  let refused = 0;
  for (const [name, shown] of states) {
    const error = await validate(shown);
    if (error === undefined) continue;
    if (error.kind !== 'blocks' && error.pointers.length === 0) {
      print(render([lineOfError(settings, own.botToken.name, BOT_TOKEN_FIX, error)]));
      return false;
    }
    refused += 1;
    print(render([wrong(name, [error.code, ...error.pointers].join('\n    '))]));
  }
  print(`Slack takes ${states.length - refused} of ${states.length} samples.\n`);
  return refused === 0;

  /** Returns Slack's error, if any. Stops for as long as Slack says. */
  async function validate(shown: Message | View): Promise<SlackApiError | undefined> {
    const filled = 'type' in shown ? { view: shown } : await fillLinks(shown, async () => LINK);
    const payload = 'view' in filled ? filled : { message: { blocks: filled.blocks } };
    for (;;) {
      await sleep(EVERY_MS);
      const error = await call('blocks.validate', payload).then(
        () => undefined,
        (reason: unknown) => toSlackApiError('blocks.validate', reason),
      );
      if (error?.kind !== 'limited') return error;
      const waitMs = error.retryAfterMs ?? 60_000;
      print(`Slack limits these calls: the next one is in ${Math.ceil(waitMs / 1000)} s.\n`);
      await sleep(waitMs);
    }
  }
}

/** In place of a download link. */
const LINK = 'https://bundles.example/export.tar.gz';

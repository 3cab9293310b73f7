import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { expect } from 'vitest';
import { createStandInSlack, type StandInSlack } from '../../../demo/slack/slack.ts';
import { listenLocally } from '../../../demo/wire.ts';
import { type Stage, stageOf } from './stage.ts';
import { type Bot, type BotOptions, createWorld, type World, type WorldOptions } from './world.ts';

export const GLOBEX = {
  id: 'T0GLOBEX',
  domain: 'globex',
  name: 'Globex',
  url: 'https://globex.slack.com/',
};

/** Keys that workspaces share: queues, the due list, health, and what belongs to projects and to their API keys. */
const SHARED =
  /^\{docket\}:(?:docs-\w+|slack-outbox|runs:active|health|schema|limit:(?:\w+-status|analytics|follow-ups|agent-jobs|agent-turns|previews|site-updates)|alias:deployment .*)(?::|$)/;

const GLOBEX_KEY = `adm_${randomUUID()}`;

interface TwoWorkspacesOptions extends Pick<WorldOptions, 'startMs' | 'transport'> {
  /** The deployment `production` of acme's project, as in the settings. Its secret is in `env`. */
  production?: string;
  env?: Record<string, string>;
}

interface StartOptions extends BotOptions {
  only?: 'acme';
  /** Changes the settings file. */
  edit?: (config: string) => string;
}

export interface TwoWorkspaces {
  world: World;
  acme: Stage;
  globex: Stage;
  /** Starts a bot that serves both workspaces, or `only` one. */
  startBot(options?: StartOptions): Promise<Bot>;
  /** The keys in Redis that name neither a workspace nor a record, and are not meant to be shared. */
  keysOfNoWorkspace(): Promise<string[]>;
  /** Forgets what happened so far, in both. */
  forget(): Promise<void>;
  close(): Promise<void>;
}

/**
 * Two workspaces of one Docket, whose people and channels have the same ids. Each has a project of its own. Acme may be
 * reached over Socket Mode.
 */
export async function createTwoWorkspaces({
  transport = 'http',
  production,
  env,
  ...options
}: TwoWorkspacesOptions = {}): Promise<TwoWorkspaces> {
  const world = await createWorld({
    ...options,
    transport,
    platform: {
      domains: ['docs.acme.com'],
      others: [{ apiKey: GLOBEX_KEY, domains: ['docs.globex.com'] }],
      analyticsPerHour: 100_000,
    },
    mayViolate: /invalid_auth/,
  });
  const other = createStandInSlack({ team: GLOBEX, rateLimits: 10, transport: 'http', now: world.now });
  const slacks: StandInSlack[] = [world.slack, other];
  // Response URLs and uploads have an address of their own each.
  const servers = [await world.slack.listen(), await other.listen()];
  const router = await listenLocally(
    createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const token = request.headers.authorization?.replace('Bearer ', '');
      const slack =
        slacks.find(({ tokens }) => tokens.bot === token) ?? revoked.get(token ?? '') ?? world.slack;
      const address = new URL((request.url ?? '').replace('/api/', ''), slack.apiUrl);
      const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as const);
      const body = Buffer.concat(chunks);
      const answer = await slack.fetch(address.href, {
        method: 'POST',
        headers: [...headers] as never,
        body,
      });
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
    }),
  );
  const revoked = new Map(slacks.map((slack) => [slack.tokens.bot, slack]));
  for (const { tokens } of slacks) for (const secret of Object.values(tokens)) world.hidden.add(secret);

  const { id: ana } = world.slack.person('ana');
  const app = (name: string, allow: string, secret = `signingSecret: { env: ${name}_SIGNING_SECRET }`) => `
    botToken: { env: ${name}_BOT_TOKEN }
    ${secret}
    allow: { ${allow} }`;
  const deployments = production === undefined ? '' : `, deployments: { production: ${production} }`;
  const projectOfAcme = `{ projectId: ${world.platform.projectId}, domains: [docs.acme.com], workspaces: [acme]${deployments} }`;
  const projectOfGlobex =
    '{ projectId: prj_globex, domains: [docs.globex.com], apiKey: { env: GLOBEX_KEY }, workspaces: [globex] }';
  const configOf = (only: string | undefined) => `
workspaces:
  acme:${app('ACME', `admin: [${ana}]`, transport === 'socket' ? 'appToken: { env: ACME_APP_TOKEN }' : undefined)}
  ${only ? '' : `globex:${app('GLOBEX', `export: [${ana}], deploy: [${ana}]`)}`}
projects:
  docs: ${projectOfAcme}
  ${only ? '' : `shop: ${projectOfGlobex}`}
`;

  async function startBot({ only, edit = (config) => config, ...options }: StartOptions = {}) {
    const bot = await world.startBot({
      config: edit(configOf(only)),
      ...options,
      env: {
        ...{ SLACK_BOT_TOKEN: '', SLACK_SIGNING_SECRET: '', SLACK_APP_TOKEN: '' },
        ...{ SLACK_API_URL: `${router.url}/api/`, ACME_APP_TOKEN: world.slack.tokens.app },
        ...{ ACME_BOT_TOKEN: slacks[0]?.tokens.bot ?? '', GLOBEX_BOT_TOKEN: other.tokens.bot },
        ACME_SIGNING_SECRET: world.slack.tokens.signingSecret,
        GLOBEX_SIGNING_SECRET: other.tokens.signingSecret,
        GLOBEX_KEY,
        ...env,
        ...options.env,
      },
    });
    world.slack.botUrl = `http://127.0.0.1:${bot.port}/slack/acme/events`;
    other.botUrl = `http://127.0.0.1:${bot.port}/slack/globex/events`;
    return bot;
  }

  return {
    world,
    acme: stageOf(() => world),
    globex: stageOf(() => ({ ...world, slack: other })),
    startBot,
    async keysOfNoWorkspace() {
      const all = await world.redis.client.keys('*');
      return all.filter((key) => !SHARED.test(key) && !/T0ACME|T0GLOBEX|:[0-9a-f]{24}/.test(key));
    },
    async forget() {
      other.wire.clear();
      await world.forget();
      for (const list of [other.messages, other.ephemerals, other.files, other.wire.calls]) list.splice(0);
      while (other.person('ana').modal()) await other.person('ana').closes();
      other.channel('#docs').kind = 'public';
      other.forgetCalls();
    },
    async close() {
      other.stop();
      await world.close();
      await Promise.all([router.close(), ...servers.map((server) => server.close())]);
      expect(other.violations.filter((rule) => !/invalid_auth/.test(rule))).toEqual([]);
      expect(other.limited).toEqual([]);
    },
  };
}

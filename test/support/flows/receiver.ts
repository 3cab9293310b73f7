import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach } from 'vitest';
import { listenLocally } from '../../../demo/wire.ts';
import type { Timing } from '../../../src/runtime/timing.ts';
import { plain } from './reading.ts';
import { type Stage, type StageOptions, stage } from './stage.ts';

/** A webhook that arrived, signed as it should be. */
interface Received {
  id: string;
  /** Which attempt of its update it is, and which link: such as `1_0`. */
  nth: string;
  headers: Record<string, string>;
  body: string;
  askedAt: string;
  data: { jobId: string; version?: string; bundleUrl?: string; expiresAt?: string };
}

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

interface Callback {
  /** The callback's own id; that of the webhook and the state when left out. */
  own?: string;
  atMs?: number;
  secret?: string;
  headers?: Record<string, string>;
}

/** The part of a presigned link that is its secret. */
export const signatureOf = (link = '') => new URL(link).searchParams.get('X-Signature') ?? '';

/** A bare server in place of a deployment: it answers webhooks as a test says, and calls back when a test says. */
export async function startReceiver(scene: () => Stage) {
  let secret = `whsec_${randomBytes(24).toString('base64')}`;
  const received: Received[] = [];
  const taken: Answer = (response) => void response.writeHead(204).end();
  let answer = taken;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const headers = request.headers as Record<string, string>;
    const { 'webhook-id': id = '', 'webhook-signature': signature = '' } = headers;
    const sentMs = Number(headers['webhook-timestamp']) * 1000;
    // The clock of a test may be in another year, so not by `verify`.
    if (!signature.split(' ').includes(new Webhook(secret).sign(id, new Date(sentMs), body)))
      return response.writeHead(401).end('forged');
    const { data, askedAt } = JSON.parse(body);
    for (const one of signature.split(' ')) scene().world.hidden.add(one);
    if (data.bundleUrl !== undefined) scene().world.hidden.add(signatureOf(data.bundleUrl));
    const [, update, , renewal] = id.split('_');
    const ofUpdate = received.filter((one) => one.id.includes(`${update}`)).map((one) => one.askedAt);
    const attempts = [...new Set([...ofUpdate, askedAt])].sort();
    const nth = `${attempts.indexOf(askedAt) + 1}_${renewal}`;
    received.push({ id, nth, headers, body, askedAt, data });
    return answer(response, request);
  });
  const { url, close } = await listenLocally(server);
  return {
    url,
    get secret() {
      return secret;
    },
    received,
    close,
    /** How it answers from now on: with a status and a text, or at all. */
    answers(how: number | Answer, body = '') {
      answer = typeof how === 'number' ? (response) => void response.writeHead(how).end(body) : how;
    },
    /** Replaces its secret by another, which it returns. */
    rotates(next = `whsec_${randomBytes(24).toString('base64')}`) {
      secret = next;
      return next;
    },
    /** Forgets what came, and takes what comes. */
    reset() {
      received.splice(0);
      answer = taken;
    },
    /** Calls Docket back about a webhook, by default of the last one. Returns the status of its answer. */
    async callsBack(body: object | string, about = received.at(-1)?.id ?? '', how: Callback = {}) {
      const sent = typeof body === 'string' ? body : JSON.stringify(body);
      const { world } = scene();
      const { own = `${about}_${sent.includes('live') ? 'live' : 'failed'}`, atMs = world.now() } = how;
      const signature = new Webhook(how.secret ?? secret).sign(own, new Date(atMs), sent);
      const signed = { 'webhook-id': own, 'webhook-timestamp': `${Math.floor(atMs / 1000)}` };
      const headers = { ...signed, 'webhook-signature': signature, ...how.headers };
      const address = `http://127.0.0.1:${world.bots.at(-1)?.port}/deployments/${about}`;
      const response = await fetch(address, { method: 'POST', headers, body: sent });
      return `${response.status} ${await response.text()}`.trim();
    },
  };
}

/** What the ending of an export begins with, whichever version it has. Its card does, too, and is older. */
export const exportedText = (version?: string) =>
  version === undefined ? 'Exported · ' : `Exported · docs.acme.com ${version} · `;

interface DeploymentStage extends Omit<StageOptions, 'bot'> {
  /** Lines of the settings for further ones. */
  deployments?: string;
  /** Whether production gets links. */
  link?: boolean;
  /** Where its secrets are. */
  secret?: string;
  allow?: string;
  /** The address of production's site. */
  siteUrl?: string;
  env?: Record<string, string>;
  timing?: Partial<Timing>;
}

/** Sets the stage with a Docket that has the receiver as its deployment production. */
export async function deploymentStage({
  deployments = '',
  link = false,
  secret = '{ env: DEPLOY_SECRET }',
  allow = 'deploy: [U0ANA]',
  siteUrl,
  env = {},
  timing = {},
  ...options
}: DeploymentStage = {}) {
  let scene: Stage;
  const receiver = await startReceiver(() => scene);
  const configOf = (all: string) => `
projects:
  acme:
    domains: [docs.acme.com]
    deployments:
${all}
allow: { ${allow} }
`;
  const webhook = `{ url: ${receiver.url}/hook?tenant=1, secret: ${secret}, includeLink: ${link} }`;
  const bot = {
    config: configOf(
      `      production: { webhook: ${webhook}${siteUrl === undefined ? '' : `, url: ${siteUrl}`} }\n${deployments}`,
    ),
    env: { DEPLOY_SECRET: receiver.secret, ...env },
    timing,
  };
  scene = stage({ ...options, bot });
  afterEach(() => receiver.reset());
  afterAll(() => receiver.close());
  const { exporting } = scene;

  /** Exports a version; the ending of the export is there when it returns. */
  async function exports(version: string, more = '', who: 'ana' | 'ben' = 'ana') {
    await exporting(`/docs-export docs.acme.com --version ${version}${more}`, { who });
    scene.platform.finish('docs.acme.com');
    const isEnding = (text: string) => text.includes(exportedText(version)) && text.includes('job se_');
    await scene.slack.until(() => scene.sees().some(isEnding));
    return scene.sees();
  }
  /** Clicks [Deploy to production], or to another one, under the export of a version. */
  async function asksFor(version?: string, who: 'ana' | 'ben' = 'ana', name = 'production') {
    const ending = scene.messageWith(exportedText(version));
    const [person, label] = [scene.person(who), `Deploy to ${name}`];
    if (scene.slack.read(ending).includes(`[${label}]`)) return person.clicks(ending, label);
    await person.clicks(ending, 'More deployments');
    return person.clicks(await scene.slack.until(() => person.modal()), label);
  }

  return {
    ...{ scene, receiver, bot, configOf, exports, asksFor },
    /** The messages that show deployments. */
    shown: () =>
      scene
        .sees()
        .filter(
          (text) => /^[^\n]* · docs\.acme\.com v\d\n/.test(text) && !/exported|link expired/i.test(text),
        ),
    /** What a person reads in the form that is open. */
    formOf: (who: 'ana' | 'ben') => plain(scene.person(who).reads(scene.person(who).modal())),
    /** Whether no run has a step to do, since the last jump. */
    async isIdle() {
      const due = await scene.world.redis.client.zrange('{docket}:runs:active', 0, '-1', 'WITHSCORES');
      return due.filter((_, index) => index % 2 === 1).every((score) => Number(score) > Date.now());
    },
    /** Exports a version and asks to deploy it to production, or to another one. */
    async deploys(version: string, more = '', name = 'production') {
      await exports(version, more);
      return asksFor(version, 'ana', name);
    },
  };
}

import { randomBytes } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import { afterEach } from 'vitest';
import { listenLocally } from '../../../demo/wire.ts';
import { type Stage, type StageOptions, stage } from './stage.ts';

/** A webhook that arrived, signed as it should be. */
interface Received {
  id: string;
  headers: IncomingHttpHeaders;
  body: string;
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

/** A bare server in place of a deployment: it answers webhooks as a test says, and calls back when a test says. */
async function startReceiver(scene: () => Stage) {
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  const received: Received[] = [];
  const taken: Answer = (response) => void response.writeHead(204).end();
  let answer = taken;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const {
      'webhook-id': id = '',
      'webhook-signature': signature = '',
      'webhook-timestamp': timestamp,
    } = {
      ...(request.headers as Record<string, string>),
    };
    // The clock of a test may be in another year, so not by `verify`.
    const expected = new Webhook(secret).sign(id, new Date(Number(timestamp) * 1000), body);
    if (signature !== expected) return response.writeHead(401).end('forged');
    const { data } = JSON.parse(body);
    const link =
      data.bundleUrl === undefined ? [] : [new URL(data.bundleUrl).searchParams.get('X-Signature')];
    for (const hidden of [signature, ...link]) scene().world.hidden.add(String(hidden));
    received.push({ id, headers: request.headers, body, data });
    return answer(response, request);
  });
  const { url, close } = await listenLocally(server);
  return {
    url,
    secret,
    received,
    close,
    /** How it answers from now on: with a status and a text, or at all. */
    answers(how: number | Answer, body = '') {
      answer = typeof how === 'number' ? (response) => void response.writeHead(how).end(body) : how;
    },
    /** Forgets what came, and takes what comes. */
    reset() {
      received.splice(0);
      answer = taken;
    },
    /** Tells Docket what came of a webhook, by default of the last one. Returns the status of its answer. */
    async callsBack(body: object | string, about = received.at(-1)?.id ?? '', how: Callback = {}) {
      const sent = typeof body === 'string' ? body : JSON.stringify(body);
      const { own = `${about}_${sent.includes('live') ? 'live' : 'failed'}`, atMs = scene().world.now() } =
        how;
      const signature = new Webhook(how.secret ?? secret).sign(own, new Date(atMs), sent);
      const signed = { 'webhook-id': own, 'webhook-timestamp': `${Math.floor(atMs / 1000)}` };
      const headers = { ...signed, 'webhook-signature': signature, ...how.headers };
      const address = `http://127.0.0.1:${scene().world.bots.at(-1)?.port}/deployments/${about}`;
      const response = await fetch(address, { method: 'POST', headers, body: sent });
      return `${response.status} ${await response.text()}`.trim();
    },
  };
}

/** Sets the stage with a Docket that has deployments. `deployments` are lines of the settings, by the receiver's address. */
export async function deploymentStage({
  deployments = '',
  link = false,
  allow = 'deploy: [U0ANA]',
  env = {},
  timing = {},
  ...options
}: Omit<StageOptions, 'bot'> & {
  deployments?: string;
  link?: boolean;
  allow?: string;
  env?: Record<string, string>;
  timing?: NonNullable<Exclude<StageOptions['bot'], (...args: never) => unknown>>['timing'];
} = {}) {
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
  const webhook = `{ url: ${receiver.url}/hook?tenant=1, secret: { env: DEPLOY_SECRET }, includeLink: ${link} }`;
  const bot = {
    config: configOf(`      production: { webhook: ${webhook} }\n${deployments}`),
    env: { DEPLOY_SECRET: receiver.secret, ...env },
    timing,
  };
  scene = stage({ ...options, bot });
  afterEach(() => receiver.reset());
  const { exporting, until, clicks } = scene;

  /** Exports a version; the ending of the export is there when it returns. */
  async function exports(version: string, more = '', who: 'ana' | 'ben' = 'ana') {
    await exporting(`/docs-export docs.acme.com --version ${version}${more}`, { who });
    scene.platform.finish('docs.acme.com');
    return until([`docs.acme.com (${version}) is exported`]);
  }
  return {
    ...{ scene, receiver, bot, configOf, exports },
    /** Exports a version and clicks [Update production], or another one. */
    async updates(version: string, more = '', name = 'production') {
      await exports(version, more);
      return clicks('ana', `(${version}) is exported`, `Update ${name}`);
    },
  };
}

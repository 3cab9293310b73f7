import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, realpathSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join, sep } from 'node:path';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { noteCaused } from '../caused.ts';
import { createWire, listenLocally, type Wire } from '../wire.ts';
import { startReceiver } from './receiver.ts';

/** The export that a deployment serves. */
export interface Served {
  jobId: string;
  version?: string;
  domain: string;
}

/** A callback of the receiver, and Docket's answer; 503 without a Docket. */
interface Callback {
  /** The id of the webhook that it is about. */
  id: string;
  body: { state: 'live' | 'failed'; message?: string };
  status: number;
}

/** A self-hosted docs site that `examples/receiver.mjs` keeps current. */
export interface StandInDeployment {
  /** Webhooks are calls `POST /docket`. Only the type and the data without the link are logged. */
  readonly wire: Wire;
  /** The address of the site. */
  readonly url: string;
  readonly webhookUrl: string;
  /** `whsec_…` */
  readonly secret: string;
  /** Where callbacks go. May be changed at any time. */
  docketUrl: string | undefined;
  readonly callbacks: readonly Callback[];
  /** The export that readers see now; undefined before the first one. */
  serves(): Served | undefined;
  /** Ends everything, and leaves nothing. */
  stop(): Promise<void>;
}

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

/** Starts a deployment on loopback. Its receiver's clock follows `nowMs`. */
export async function startDeployment({
  nowMs = Date.now,
  docketUrl,
  secret = `whsec_${randomBytes(24).toString('base64')}`,
}: {
  nowMs?: () => number;
  docketUrl?: string;
  secret?: string;
} = {}): Promise<StandInDeployment> {
  const site = mkdtempSync(join(tmpdir(), 'docket-deployment-'));
  const wire = createWire(nowMs);
  const callbacks: Callback[] = [];
  const app = new Hono<{ Bindings: Partial<HttpBindings> }>();
  const { url, close } = await listenLocally(createServer(getRequestListener(app.fetch)));
  const receiver = await startReceiver({ site, secret, docketUrl: `${url}/callback` }).catch(
    async (error) => {
      await close();
      await rm(site, { recursive: true, force: true });
      throw error;
    },
  );

  const deployment: StandInDeployment = {
    wire,
    url,
    webhookUrl: `${url}/docket`,
    secret,
    docketUrl,
    callbacks,
    serves: () => servedFrom(site),
    async stop() {
      await receiver.stop();
      await close();
      await rm(site, { recursive: true, force: true });
    },
  };

  app.post('/docket', async (c) => {
    const body = await c.req.text();
    return wire.serve(c, 'POST /docket', { id: c.req.header('webhook-id'), ...shown(body) }, async () => {
      await receiver.moveClock(nowMs() - Date.now());
      const answer = await forwarded(c, receiver.url, body);
      if (answer.status === 202) noteCaused('the deployment fetches the bundle');
      return answer;
    });
  });

  app.post('/callback/deployments/:id', async (c) => {
    const body = await c.req.text();
    const id = c.req.param('id');
    const to = deployment.docketUrl;
    const answer =
      to === undefined
        ? new Response(null, { status: 503 })
        : await forwarded(c, `${to}/deployments/${id}`, body);
    callbacks.push({ id, body: JSON.parse(body), status: answer.status });
    return answer;
  });

  app.get('*', async (c) => {
    const served = servedFrom(site);
    if (served === undefined) return c.text('This site has not been published yet.', 404);
    const file = await fileOf(site, c.req.path);
    if (file === undefined) return c.text('There is no such page.', 404);
    const type = TYPES[extname(file.name)] ?? 'application/octet-stream';
    const bytes = type.startsWith('text/html') ? withVersion(file.bytes, served) : file.bytes;
    return c.body(Uint8Array.from(bytes), 200, { 'content-type': type, 'cache-control': 'no-cache' });
  });

  return deployment;
}

/** What may stand in the log of a webhook: the link is a secret. */
function shown(body: string): Record<string, unknown> {
  try {
    const { type, data } = JSON.parse(body);
    const { bundleUrl, ...rest } = data;
    return { type, data: { ...rest, hasLink: bundleUrl !== undefined } };
  } catch {
    return {};
  }
}

/** Sends a webhook on as it came; 502 when nobody is there. */
async function forwarded(c: Context, to: string, body: string): Promise<Response> {
  const names = ['content-type', 'webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const headers = names.flatMap((name): [string, string][] => {
    const value = c.req.header(name);
    return value === undefined ? [] : [[name, value]];
  });
  try {
    const answer = await fetch(to, { method: 'POST', headers, body, redirect: 'manual' });
    return new Response(answer.status === 204 ? null : await answer.text(), { status: answer.status });
  } catch {
    return new Response(null, { status: 502 });
  }
}

function servedFrom(site: string): Served | undefined {
  try {
    return JSON.parse(readFileSync(join(site, 'current', 'docket.json'), 'utf8'));
  } catch {
    return undefined;
  }
}

/** The file at a path of the site, `index.html` of a folder; undefined outside of it. */
async function fileOf(site: string, path: string): Promise<{ name: string; bytes: Buffer } | undefined> {
  try {
    const root = realpathSync(join(site, 'current'));
    const wanted = join(root, decodeURIComponent(path.endsWith('/') ? `${path}index.html` : path));
    const name = realpathSync(wanted);
    return name.startsWith(root + sep) ? { name, bytes: await readFile(name) } : undefined;
  } catch {
    return undefined;
  }
}

function withVersion(page: Buffer, { jobId, version }: Served): Buffer {
  const text = `Version ${version ?? 'without a label'} · ${jobId}`.replace(
    /[&<>"]/gu,
    (character) => `&#${character.codePointAt(0)};`,
  );
  return Buffer.concat([page, Buffer.from(`<footer>${text}</footer>\n`)]);
}

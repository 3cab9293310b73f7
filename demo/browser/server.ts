import { readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { createAdaptorServer } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import type { z } from 'zod';
import { act } from './act.ts';
import { createGuard, refuse } from './guard.ts';
import { createLive } from './live.ts';
import type { Outcome } from './protocol.ts';
import { actionSchema, troubleSchema, visitor } from './schemas.ts';
import { mayHave, seenBy } from './seen.ts';
import { createTimeline } from './timeline.ts';
import { createSwitchboard, makeTrouble } from './trouble.ts';
import type { World } from './world.ts';

const MAX_BODY = 64 * 1024;
const MAX_READ_AWAY = 1024 * 1024;

const PAGE_TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json',
};
/** Types that a browser may show by itself; all others are downloads. */
const SHOWN = ['image/png', 'image/jpeg', 'image/gif'];

export interface DemoServer {
  /** Begins to serve: on this port, or on any free one when it is taken. Returns the address. */
  listen(port: number): Promise<string>;
  /** The bot, Redis or the clock is another. */
  changed(): void;
  close(): Promise<void>;
}

/** The server of the demo's page, on this machine alone. `pageFolder` is the built page. */
export function createServer(
  world: World,
  options: { pageFolder: string; limitMs?: number; onError?: (error: unknown) => void },
): DemoServer {
  const { slack } = world;
  const live = createLive();
  const timeline = createTimeline(world, live.changed);
  const switches = createSwitchboard(world, live.changed, options.limitMs);
  const page = filesOf(options.pageFolder);
  const ignoring = slack.workspace.onChange(live.changed);
  let port = 0;
  /** The clock moves between two actions. */
  let moving: Promise<unknown> = Promise.resolve();

  const app = new Hono();
  app.use(createGuard(() => port));
  app.use(
    bodyLimit({
      maxSize: MAX_BODY,
      onError: async (c) => {
        await readAway(c.req.raw.body);
        return refuse(c, 413, 'That is too much at once: at most 64 kB.');
      },
    }),
  );
  app.onError((error, c) => {
    options.onError?.(error);
    return refuse(c, 500, 'The demo itself made a mistake; its terminal says which.');
  });

  app.get('/live', (c) => {
    const as = visitor.safeParse(c.req.query('as'));
    if (!as.success) return refuse(c, 400, 'Nobody here is called that.');
    const stream = live.connect(() => seenBy(as.data, world, { timeline, switches }));
    if (!stream) return refuse(c, 503, 'Too many pages of the demo are open.');
    return c.body(stream, 200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  });

  app.post('/act', async (c) => {
    const action = await bodyOf(c, actionSchema);
    if (action instanceof Response) return action;
    await moving;
    const outcome = await act(slack, action);
    live.changed();
    return c.json<Outcome>(outcome);
  });

  app.post('/trouble', async (c) => {
    const trouble = await bodyOf(c, troubleSchema);
    if (trouble instanceof Response) return trouble;
    const making = moving.then(() =>
      makeTrouble(world, { switches, timeline, onChange: live.changed }, trouble),
    );
    if (trouble.do === 'move-clock' || trouble.do === 'pull-request') moving = making.catch(() => {});
    return c.json<Outcome>(await making);
  });

  app.get('/files/:id', (c) => {
    const as = visitor.safeParse(c.req.query('as'));
    const file = slack.files.find(({ id }) => id === c.req.param('id'));
    if (!as.success || !file || !mayHave(as.data, world, file.id))
      return refuse(c, 404, 'There is no such file.');
    const { name, bytes, mimetype = 'application/octet-stream' } = file;
    const shown = SHOWN.includes(mimetype);
    return c.body(Uint8Array.from(bytes), 200, {
      'content-type': mimetype.startsWith('text/') ? `${mimetype}; charset=utf-8` : mimetype,
      'content-disposition': `${shown ? 'inline' : 'attachment'}; filename*=UTF-8''${encodeURIComponent(name)}`,
      'cache-control': 'private, max-age=3600',
    });
  });

  app.get('*', (c) => {
    const path = c.req.path === '/' ? '/index.html' : c.req.path;
    const file = page.get(path);
    if (!file) return refuse(c, 404, 'There is nothing here.');
    return c.body(file.bytes, 200, { 'content-type': file.type, 'cache-control': 'no-cache' });
  });

  const server = createAdaptorServer({ fetch: app.fetch });

  const listenOn = (wanted: number) =>
    new Promise<number>((resolve, reject) => {
      server.once('error', reject);
      server.listen(wanted, '127.0.0.1', () => {
        server.off('error', reject);
        const address = server.address();
        resolve(typeof address === 'object' && address !== null ? address.port : wanted);
      });
    });

  return {
    async listen(wanted) {
      port = await listenOn(wanted).catch((error: NodeJS.ErrnoException) => {
        if (!['EADDRINUSE', 'EACCES'].includes(error.code ?? '')) throw error;
        return listenOn(0);
      });
      return `http://127.0.0.1:${port}`;
    },
    changed: live.changed,
    async close() {
      ignoring();
      switches.stop();
      live.close();
      if (!server.listening) return;
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      });
    },
  };
}

/** Reads what is left, up to a limit: a connection with an unread body is closed, maybe under the next request. */
async function readAway(body: ReadableStream<Uint8Array> | null) {
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.length;
    if (length > MAX_READ_AWAY) return;
  }
}

/** The body of a request that a page of ours sends, or the refusal. */
async function bodyOf<T extends z.ZodType>(c: Context, schema: T): Promise<z.infer<T> | Response> {
  // A form of another origin cannot send JSON unasked.
  if (!/^application\/json\b/i.test(c.req.header('content-type') ?? ''))
    return refuse(c, 415, 'The body has to be JSON.');
  const body = schema.safeParse(await c.req.json().catch(() => undefined));
  return body.success ? body.data : refuse(c, 400, 'The demo cannot make sense of that.');
}

/** All files of the built page, by the path of their address: what is not among them is not served. */
function filesOf(folder: string): Map<string, { bytes: Uint8Array<ArrayBuffer>; type: string }> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return new Map(
    files.map((file) => {
      const path = join(file.parentPath, file.name);
      const type = PAGE_TYPES[extname(path)] ?? 'application/octet-stream';
      return [
        `/${relative(folder, path).split(sep).join('/')}`,
        { bytes: Uint8Array.from(readFileSync(path)), type },
      ];
    }),
  );
}

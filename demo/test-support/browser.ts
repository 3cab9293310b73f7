import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { expect } from 'vitest';
import { temporaryFolder } from '../../test/support/flows/world.ts';
import {
  type Action,
  type Change,
  type Entity,
  keyOf,
  type Outcome,
  type Trouble,
  type Visitor,
} from '../browser/protocol.ts';
import { createServer } from '../browser/server.ts';
import { startDemo } from '../browser/start.ts';
import { createClock, type World } from '../browser/world.ts';
import { createStandInPlatform } from '../docs-platform/platform.ts';
import { createStandInSlack } from '../slack/slack.ts';

type Of<Kind extends Entity['kind']> = Extract<Entity, { kind: Kind }>;

/** What a page knows of the demo by its stream of changes. */
export interface Page {
  changes: Change[];
  /** All of one kind. */
  all<Kind extends Entity['kind']>(kind: Kind): Of<Kind>[];
  one<Kind extends Exclude<Entity['kind'], 'message'>>(kind: Kind): Of<Kind> | undefined;
  /** The id of a conversation. */
  channel(label: string): string;
  /** Does something as this person. */
  does(action: DistributiveOmit<Action, 'as'>): Promise<Outcome>;
  /** Resolves with what `find` finds, now or after a change. */
  until<T>(find: () => T | undefined | false): Promise<T>;
  close(): void;
}

type DistributiveOmit<T, Key extends string> = T extends unknown ? Omit<T, Key> : never;

export interface OpenDemo {
  url: string;
  world: World;
  /** Sends JSON as the page of the demo does. */
  post(path: string, body: unknown): Promise<{ status: number; outcome: Outcome }>;
  trouble(trouble: Trouble): Promise<Outcome>;
  open(as: Visitor): Promise<Page>;
  close(): Promise<void>;
}

const files = { 'index.html': '<!doctype html><title>Demo</title>', 'assets/page.js': 'export {};' };

function pageFolder(path: string): string {
  const folder = join(path, 'page');
  mkdirSync(join(folder, 'assets'), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

/** The whole demo, bot and Redis included. */
export async function openDemo(): Promise<OpenDemo> {
  const folder = temporaryFolder();
  const demo = await startDemo({
    pageFolder: pageFolder(folder.path),
    port: 0,
    keep: join(folder.path, 'kept'),
    searchPath: process.env.PATH,
  });
  return opened(demo.url, demo.world, async () => {
    await demo.stop();
    expect(existsSync(join(folder.path, 'kept', 'docket.log'))).toBe(true);
    folder.remove();
  });
}

/** The server alone: nobody is behind Slack. */
export async function openStandIns({ limitMs = 60_000 } = {}): Promise<OpenDemo> {
  const folder = temporaryFolder();
  const clock = createClock();
  const world: World = {
    clock,
    slack: createStandInSlack({ now: clock.now, transport: 'http' }),
    platform: createStandInPlatform({ nowMs: clock.now }),
  };
  const server = createServer(world, { pageFolder: pageFolder(folder.path), limitMs });
  return opened(await server.listen(0), world, async () => {
    world.slack.stop();
    await server.close();
    folder.remove();
  });
}

function opened(url: string, world: World, close: () => Promise<void>): OpenDemo {
  const pages: Page[] = [];
  async function post(path: string, body: unknown) {
    const answer = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: url },
      body: JSON.stringify(body),
    });
    return { status: answer.status, outcome: (await answer.json()) as Outcome };
  }
  return {
    url,
    world,
    post,
    trouble: async (trouble) => (await post('/trouble', trouble)).outcome,
    async open(as) {
      const page = await openPage(url, as, async (action) => (await post('/act', { as, ...action })).outcome);
      pages.push(page);
      return page;
    },
    async close() {
      for (const page of pages) page.close();
      await close();
    },
  };
}

async function openPage(url: string, as: Visitor, does: Page['does']): Promise<Page> {
  const ending = new AbortController();
  const answer = await fetch(`${url}/live?as=${as}`, { signal: ending.signal });
  const changes: Change[] = [];
  const known = new Map<string, Entity>();
  const waiting = new Set<() => void>();

  async function read(body: ReadableStream<Uint8Array>) {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true });
      const events = text.split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) if (event.startsWith('data: ')) take(JSON.parse(event.slice(6)) as Change);
      for (const look of [...waiting]) look();
    }
  }

  function take(change: Change) {
    changes.push(change);
    if (change.fresh) known.clear();
    for (const key of change.gone) known.delete(key);
    for (const entity of change.put) known.set(keyOf(entity), entity);
  }

  if (!answer.body) throw new Error(`/live answered ${answer.status}`);
  read(answer.body).catch(() => {});
  const all: Page['all'] = (kind) => [...known.values()].filter((one) => one.kind === kind) as never;
  const page: Page = {
    changes,
    all,
    one: (kind) => all(kind)[0],
    channel(label) {
      const found = all('conversation').find((conversation) => conversation.label === label);
      if (!found) throw new Error(`${as} has no ${label}`);
      return found.id;
    },
    does,
    until: (find) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = find();
          if (found === undefined || found === false) return;
          waiting.delete(look);
          clearTimeout(limit);
          resolve(found);
        };
        const limit = setTimeout(() => {
          waiting.delete(look);
          const seen = [...known.values()].filter(({ kind }) => kind !== 'workspace' && kind !== 'person');
          reject(new Error(`It did not come; there is ${JSON.stringify(seen, null, 1).slice(-6000)}`));
        }, 20_000);
        waiting.add(look);
        look();
      }),
    close: () => ending.abort(),
  };
  await page.until(() => changes.length > 0);
  return page;
}

/** What a request with any headers comes to; `fetch` sets some of them itself. */
export function raw(
  url: string,
  {
    method = 'GET',
    headers = {},
    body = '',
  }: { method?: string; headers?: Record<string, string>; body?: string },
): Promise<{ status: number; headers: Record<string, string | string[] | undefined>; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (answer) => {
      let text = '';
      // A stream of events has no end.
      if (answer.headers['content-type'] === 'text/event-stream') {
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text });
        sent.destroy();
      }
      answer.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }));
      answer.on('error', () => {});
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

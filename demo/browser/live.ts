import { type Change, type Entity, keyOf } from './protocol.ts';

const EVERY_MS = 40;
/** What moves by the clock alone, such as an export's progress. */
const RECHECK_MS = 400;
const KEEP_ALIVE_MS = 15_000;
/** A page that does not read any more is sent nothing until it does. */
const UNREAD = 8;
const MAX_CONNECTIONS = 60;

/** Tells pages what has changed. */
export interface Live {
  /** Something may have changed. */
  changed(): void;
  /** A stream of server-sent events of what `look` finds; `undefined` when there are too many. */
  connect(look: () => Entity[]): ReadableStream<Uint8Array> | undefined;
  readonly connections: number;
  close(): void;
}

export function createLive(): Live {
  const pages = new Set<{ update(): void; keepAlive(): void; close(): void }>();
  const encoder = new TextEncoder();
  let soon: NodeJS.Timeout | undefined;

  const recheck = setInterval(() => pages.size > 0 && changed(), RECHECK_MS);
  const keepAlive = setInterval(() => {
    for (const page of pages) page.keepAlive();
  }, KEEP_ALIVE_MS);
  recheck.unref();
  keepAlive.unref();

  function changed(): void {
    soon ??= setTimeout(() => {
      soon = undefined;
      for (const page of pages) page.update();
    }, EVERY_MS);
  }

  return {
    changed,
    get connections() {
      return pages.size;
    },
    connect(look) {
      if (pages.size >= MAX_CONNECTIONS) return undefined;
      const sent = new Map<string, string>();
      let fresh = true;
      let behind = false;
      let page: { update(): void; keepAlive(): void; close(): void } | undefined;
      return new ReadableStream<Uint8Array>(
        {
          start(controller) {
            const send = (text: string) => controller.enqueue(encoder.encode(text));
            page = {
              update() {
                behind = (controller.desiredSize ?? 0) <= 0;
                if (behind) return;
                const change = changeSince(sent, look());
                if (!fresh && change.put.length === 0 && change.gone.length === 0) return;
                send(`data: ${JSON.stringify({ fresh, ...change } satisfies Change)}\n\n`);
                fresh = false;
              },
              keepAlive() {
                if ((controller.desiredSize ?? 0) > 0) send(': still here\n\n');
              },
              close: () => controller.close(),
            };
            pages.add(page);
            page.update();
          },
          pull() {
            if (behind) page?.update();
          },
          cancel() {
            if (page) pages.delete(page);
          },
        },
        { highWaterMark: UNREAD },
      );
    },
    close() {
      clearTimeout(soon);
      clearInterval(recheck);
      clearInterval(keepAlive);
      for (const page of pages) page.close();
      pages.clear();
    },
  };
}

/** What is different from what was sent, which is brought up to date. */
function changeSince(sent: Map<string, string>, entities: Entity[]): Pick<Change, 'put' | 'gone'> {
  const now = new Map(entities.map((entity) => [keyOf(entity), entity]));
  const gone = [...sent.keys()].filter((key) => !now.has(key));
  for (const key of gone) sent.delete(key);
  const put: Entity[] = [];
  for (const [key, entity] of now) {
    const text = JSON.stringify(entity);
    if (sent.get(key) === text) continue;
    sent.set(key, text);
    put.push(entity);
  }
  return { put, gone };
}

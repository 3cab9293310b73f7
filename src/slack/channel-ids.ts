/**
 * Slack gives a channel another id when it becomes shared. Docket continues with the id that it knows: threads,
 * schedules and messages stay unchanged, and ids are replaced in incoming requests and outgoing calls.
 */
export type ChannelIds = ReturnType<typeof createChannelIds>;

/** Returns the exchange of ids, which changes none until it is begun. */
export function createChannelIds() {
  let toPresent = new Map<string, string>();
  let toKnown = new Map<string, string>();
  let load: (() => Promise<Record<string, string>>) | undefined;
  let timer: NodeJS.Timeout | undefined;

  async function refresh() {
    const before = JSON.stringify([...toPresent]);
    const entries = Object.entries((await load?.()) ?? {});
    toPresent = new Map(entries);
    toKnown = new Map(entries.map(([known, present]) => [present, known]));
    return JSON.stringify(entries) !== before;
  }

  return {
    /** Returns the text with Slack's present ids. */
    toSlack: (text: string) => replaceIds(text, toPresent),
    /** Returns the text with the ids that Docket knows. */
    fromSlack: (text: string) => replaceIds(text, toKnown),
    /** Reloads them. Returns whether they have changed; false if they cannot be loaded. */
    refresh: () => refresh().catch(() => false),
    /** Loads them now and again every `everyMs`, since any process may record a change. */
    async begin(from: () => Promise<Record<string, string>>, everyMs: number) {
      if (load !== undefined) return;
      load = from;
      timer = setInterval(() => void refresh().catch(() => {}), everyMs);
      await refresh().catch(() => {});
    },
    stop: () => clearInterval(timer),
  };
}

/**
 * Possible conversation ids. They are capital letters and digits, so they look the same in JSON and in forms, except
 * that an encoded character before one (`%3D`) is not part of it.
 */
const ENCODED_OR_ID = /%[0-9A-F]{2}|[CDG][A-Z0-9]{2,}/g;

function replaceIds(text: string, ids: ReadonlyMap<string, string>): string {
  if (ids.size === 0) return text;
  return text.replace(ENCODED_OR_ID, (id) => ids.get(id) ?? id);
}

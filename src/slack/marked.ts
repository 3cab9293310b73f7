/** The mark of a message of ours, kept in its metadata, by which it is found again after an unclear post. */
export interface DeliveryMark {
  key: string;
  hash: string;
}

/** A message of ours as Slack has it, and the hash of what was posted. */
export interface Marked {
  channel: string;
  ts: string;
  hash: string;
}

const EVENT_TYPE = 'docket_message';

export const metadataOf = (mark: DeliveryMark) => ({ event_type: EVENT_TYPE, event_payload: { ...mark } });

/** Clocks inside Slack may differ by this much, in seconds. */
const CLOCK_SLACK_S = 120;

/** A busy conversation of many days, where the time of a post is not known. */
const PAGES = 50;

/** Asks for one page of a conversation, or of the thread under `ts`. */
export interface Page {
  channel: string;
  ts?: string;
  oldest?: string;
  cursor?: string;
  limit: number;
  include_all_metadata: true;
}

/** What `conversations.history` and `.replies` answer. */
interface PageRead {
  messages?: { ts?: string; metadata?: { event_type?: string; event_payload?: object } }[];
  response_metadata?: { next_cursor?: string };
}

/** The messages of ours in a place, by the key of their mark, since a time of Slack's clock (epoch). */
export async function markedIn(
  { channel, threadTs }: { channel: string; threadTs?: string },
  sinceMs: number,
  read: (page: Page) => Promise<PageRead>,
): Promise<ReadonlyMap<string, Marked>> {
  const page: Page = { channel, limit: 200, include_all_metadata: true };
  if (threadTs !== undefined) page.ts = threadTs;
  if (sinceMs > 0) page.oldest = String(Math.floor(sinceMs / 1000) - CLOCK_SLACK_S);
  const found = new Map<string, Marked>();
  for (let pages = 0; pages < PAGES; pages += 1) {
    const { messages = [], response_metadata: more } = await read(page);
    for (const { ts, metadata } of messages) {
      if (ts === undefined || metadata?.event_type !== EVENT_TYPE) continue;
      const { key, hash = '' } = metadata.event_payload as Partial<DeliveryMark>;
      if (key !== undefined) found.set(key, { channel, ts, hash });
    }
    if (!more?.next_cursor) break;
    page.cursor = more.next_cursor;
  }
  return found;
}

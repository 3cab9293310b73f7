/** The metadata of our messages: after a post with unknown outcome, the message is searched by its `key`. */
export interface DeliveryMetadata {
  key: string;
  hash: string;
}

/** A message of ours that Slack has, and the hash of what was posted. */
export interface FoundMessage {
  channel: string;
  ts: string;
  hash: string;
}

const EVENT_TYPE = 'docket_message';

export const toMetadata = (delivery: DeliveryMetadata) => ({
  event_type: EVENT_TYPE,
  event_payload: { ...delivery },
});

/** Clocks inside Slack may differ by this much, in seconds. */
const CLOCK_TOLERANCE_S = 120;

/** Enough for a busy conversation of many days, when the time of a post is unknown. */
const MAX_PAGES = 50;

/** The request for one page of a conversation, or of the thread under `ts`. */
export interface PageRequest {
  channel: string;
  ts?: string;
  oldest?: string;
  cursor?: string;
  limit: number;
  include_all_metadata: true;
}

/** The response of `conversations.history` and `conversations.replies`. */
interface PageResponse {
  messages?: { ts?: string; metadata?: { event_type?: string; event_payload?: object } }[];
  response_metadata?: { next_cursor?: string };
}

/** Returns our messages in a place since a time of Slack's clock (epoch milliseconds), by the key in their metadata. */
export async function findMessages(
  { channel, threadTs }: { channel: string; threadTs?: string },
  sinceMs: number,
  read: (page: PageRequest) => Promise<PageResponse>,
): Promise<ReadonlyMap<string, FoundMessage>> {
  const page: PageRequest = { channel, limit: 200, include_all_metadata: true };
  if (threadTs !== undefined) page.ts = threadTs;
  if (sinceMs > 0) page.oldest = String(Math.floor(sinceMs / 1000) - CLOCK_TOLERANCE_S);
  const found = new Map<string, FoundMessage>();
  for (let pages = 0; pages < MAX_PAGES; pages += 1) {
    const { messages = [], response_metadata: more } = await read(page);
    for (const { ts, metadata } of messages) {
      if (ts === undefined || metadata?.event_type !== EVENT_TYPE) continue;
      const { key, hash = '' } = metadata.event_payload as Partial<DeliveryMetadata>;
      if (key !== undefined) found.set(key, { channel, ts, hash });
    }
    if (!more?.next_cursor) break;
    page.cursor = more.next_cursor;
  }
  return found;
}

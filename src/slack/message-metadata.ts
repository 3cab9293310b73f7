/** The metadata of our messages: after a post with unknown outcome, the message is searched by its `key`. */
export interface DeliveryMetadata {
  key: string;
  hash: string;
}

/** One of our messages in Slack, and the hash of its posted form. */
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

/** The content of one page: our messages by the key in their metadata, and the cursor of the next page. */
export interface MessagePage {
  found: [key: string, message: FoundMessage][];
  nextCursor: string | undefined;
}

/** Returns the request for a page of a place, since a time of Slack's clock (epoch milliseconds). */
export function pageRequest(
  { channel, threadTs }: { channel: string; threadTs?: string },
  sinceMs: number,
  cursor: string | undefined,
): PageRequest {
  return {
    channel,
    limit: 200,
    include_all_metadata: true,
    ...(threadTs !== undefined && { ts: threadTs }),
    ...(sinceMs > 0 && { oldest: String(Math.floor(sinceMs / 1000) - CLOCK_TOLERANCE_S) }),
    ...(cursor !== undefined && { cursor }),
  };
}

export function readPage(
  channel: string,
  { messages = [], response_metadata: more }: PageResponse,
): MessagePage {
  const found = messages.flatMap(({ ts, metadata }): MessagePage['found'] => {
    if (ts === undefined || metadata?.event_type !== EVENT_TYPE) return [];
    const { key, hash = '' } = metadata.event_payload as Partial<DeliveryMetadata>;
    return key === undefined ? [] : [[key, { channel, ts, hash }]];
  });
  return { found, nextCursor: more?.next_cursor || undefined };
}

import type { Timing } from '../runtime/timing.ts';
import type { Pace, PaceStore } from '../store/rate-limit.ts';
import { SlackApiError } from './errors.ts';

/** How long Slack is left alone when it says "too many" without saying until when. */
export const LIMITED_MS = 30_000;

/** Turns that may be taken at once; a rate that was lifted is not held up by the burst of the usual one. */
const burst = (usual: number, perMinute: number) => Math.max(usual, Math.ceil(perMinute / 60));

/** About one message a second and conversation, short bursts tolerated: Slack's rate limits page. */
export const postPace = (channel: string, { postsPerMinute }: Pick<Timing, 'postsPerMinute'>): Pace => ({
  bucket: `post:${channel}`,
  perMinute: postsPerMinute,
  burst: burst(2, postsPerMinute),
});

/** `chat.update` is tier 3, 50 a minute for the whole workspace; two are left for calls that travel slowly. */
export const editPace = (teamId: string, { editsPerMinute }: Pick<Timing, 'editsPerMinute'>): Pace => ({
  bucket: `edit:${teamId}`,
  perMinute: editsPerMinute,
  burst: burst(8, editsPerMinute),
});

/** `reactions.add` is tier 3 as well, with a count of its own. */
export const reactionPace = (
  teamId: string,
  { reactionsPerMinute }: Pick<Timing, 'reactionsPerMinute'>,
): Pace => ({
  bucket: `react:${teamId}`,
  perMinute: reactionsPerMinute,
  burst: burst(8, reactionsPerMinute),
});

/** `reactions.remove` is tier 2: 20 a minute. */
export const reactionRemovalPace = (
  teamId: string,
  { reactionRemovalsPerMinute }: Pick<Timing, 'reactionRemovalsPerMinute'>,
): Pace => ({
  bucket: `unreact:${teamId}`,
  perMinute: reactionRemovalsPerMinute,
  burst: burst(3, reactionRemovalsPerMinute),
});

/** `conversations.info`, `.history` and `.replies` are tier 3, each with a count of its own. */
export const readPace = (
  method: 'info' | 'history' | 'replies',
  teamId: string,
  { readsPerMinute }: Pick<Timing, 'readsPerMinute'>,
): Pace => ({
  bucket: `${method}:${teamId}`,
  perMinute: readsPerMinute,
  burst: burst(8, readsPerMinute),
});

/** Keeps everybody from the bucket that Slack says is empty; rejects with what it was given. */
export const holdWhenLimited = (pace: Pick<PaceStore, 'hold'>, pacer: Pace) => async (error: unknown) => {
  if (error instanceof SlackApiError && error.kind === 'limited') {
    await pace.hold(pacer, error.retryAfterMs ?? LIMITED_MS);
  }
  throw error;
};

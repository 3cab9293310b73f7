import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { z } from 'zod';
import type { Wire } from '../wire.ts';
import { flag, ts } from './arguments.ts';
import { botUser, channelById, type Inside } from './inside.ts';
import { contentOf } from './methods-chat.ts';
import { notifiedBy } from './notifies.ts';
import { Refused } from './refused.ts';
import type { Ephemeral, SentMessage } from './workspace.ts';
import { isMessage } from './workspace.ts';

// "up to 5 times within 30 minutes" (https://docs.slack.dev/interactivity/handling-user-interaction).
const MAX_USES = 5;
const LIFE_MS = 30 * 60_000;

/** Where an answer to one request goes. */
export interface ReplyPlace {
  channel: string;
  user: string;
  /** What was clicked: replaced by an answer that does not say `replace_original: false`. */
  original?: SentMessage | Ephemeral;
}

const replySchema = z.object({
  text: z.string().optional(),
  blocks: z.unknown().optional(),
  attachments: z.unknown().optional(),
  metadata: z.unknown().optional(),
  response_type: z.enum(['ephemeral', 'in_channel']).default('ephemeral'),
  replace_original: flag,
  delete_original: flag,
  thread_ts: ts.optional(),
});

export interface Replies {
  /** A new response_url for one request. */
  urlFor(place: ReplyPlace): string;
  /** Shows an answer, from a response_url or an acknowledgement. */
  show(place: ReplyPlace, body: unknown, via: 'ack' | 'response_url'): SentMessage | Ephemeral | undefined;
  app: Hono<{ Bindings: Partial<HttpBindings> }>;
}

/** `POST /response/<id>`: five answers within half an hour, without a token. */
export function createReplies(inside: Inside, wire: Wire): Replies {
  const { workspace, violations } = inside;
  const given = new Map<string, { place: ReplyPlace; atMs: number; uses: number }>();
  const app = new Hono<{ Bindings: Partial<HttpBindings> }>();

  function show(place: ReplyPlace, body: unknown, via: 'ack' | 'response_url') {
    const checked = replySchema.safeParse(body);
    if (!checked.success) throw new Refused('invalid_payload');
    const reply = checked.data;
    const { original } = place;
    if (reply.delete_original) {
      if (original) workspace.remove(original);
      return undefined;
    }
    const content = contentOf(inside, reply);
    // "Be sure to set replace_original to false or you'll overwrite the message" (handling-user-interaction).
    if (reply.replace_original !== false && original && !original.deleted) {
      workspace.replace(original, content);
      return original;
    }
    const channel = channelById(workspace, place.channel);
    if (!channel) throw new Refused('channel_not_found');
    if (reply.response_type === 'in_channel') {
      return workspace.post(
        // An answer only reaches a thread as `in_channel` with a `thread_ts`; a click in a thread is not enough.
        { ...content, channel, user: botUser(inside), threadTs: reply.thread_ts },
        notifiedBy(content.text, content.blocks),
      );
    }
    return workspace.addEphemeral({ ...content, channel: channel.id, to: place.user, via });
  }

  app.post('/response/:id', async (c) => {
    const id = c.req.param('id');
    const body: unknown = await c.req.json().catch(() => undefined);
    const detail = body !== null && typeof body === 'object' ? { ...body } : { body };
    return wire.serve(c, 'response_url', detail, () => {
      const url = given.get(id);
      try {
        if (!url || workspace.nowMs() - url.atMs > LIFE_MS) throw new Refused('expired_url');
        if (url.uses >= MAX_USES) throw new Refused('used_url');
        url.uses += 1;
        show(url.place, body, 'response_url');
        return Response.json({ ok: true });
      } catch (refusal) {
        if (!(refusal instanceof Refused)) throw refusal;
        violations.push(`response_url: ${refusal.code}`);
        const gone = refusal.code === 'expired_url' || refusal.code === 'used_url';
        return Response.json(
          { ok: false, error: refusal.code, ...refusal.detail },
          { status: gone ? 404 : 400 },
        );
      }
    });
  });

  return {
    app,
    show,
    urlFor(place) {
      const id = workspace.newId('R');
      given.set(id, { place, atMs: workspace.nowMs(), uses: 0 });
      return `${inside.baseUrl()}/response/${id}`;
    },
  };
}

/** Sorts what `show` made into the two fields of an answer. */
export function asAnswer(shown: SentMessage | Ephemeral | undefined) {
  if (!shown) return {};
  return isMessage(shown) ? { message: shown } : { ephemeral: shown };
}

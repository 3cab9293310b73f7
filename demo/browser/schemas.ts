import { z } from 'zod';
import { type Action, PULL_REQUEST_CHANGES, SWITCHES, type Trouble, VISITORS } from './protocol.ts';

/** As much as Slack takes in one message. */
const MAX_TEXT = 40_000;
/** A day more than a year. */
const MAX_MOVE_MS = 367 * 86_400_000;

export const visitor = z.enum(VISITORS);
const id = z.string().min(1).max(300);
const text = z.string().max(MAX_TEXT);
const chosen = z.union([text, z.array(text).max(100)]);
const message = { channel: id, ts: id };
const by = { as: visitor };

export const actionSchema = z.discriminatedUnion('do', [
  z.strictObject({
    ...by,
    do: z.literal('write'),
    channel: id,
    text,
    threadTs: id.exactOptional(),
    alsoToChannel: z.boolean().exactOptional(),
  }),
  z.strictObject({ ...by, do: z.literal('edit'), ...message, text }),
  z.strictObject({ ...by, do: z.literal('delete'), ...message }),
  z.strictObject({
    ...by,
    do: z.literal('react'),
    ...message,
    name: z.string().regex(/^[a-z0-9_+'-]{1,100}(?:::skin-tone-[2-6])?$/),
    wanted: z.boolean(),
  }),
  z.strictObject({
    ...by,
    do: z.literal('use'),
    target: z.union([
      z.strictObject({ ...message, ephemeral: z.boolean().exactOptional() }),
      z.strictObject({ view: id }),
    ]),
    blockId: id,
    actionId: id,
    chosen: chosen.exactOptional(),
  }),
  z.strictObject({ ...by, do: z.literal('submit'), values: z.record(id, chosen) }),
  z.strictObject({ ...by, do: z.literal('close') }),
  z.strictObject({ ...by, do: z.literal('open-home') }),
  z.strictObject({
    ...by,
    do: z.literal('shortcut'),
    name: id,
    message: z.strictObject(message).exactOptional(),
  }),
]) satisfies z.ZodType<Action>;

export const troubleSchema = z.discriminatedUnion('do', [
  z.strictObject({ do: z.literal('switch'), name: z.enum(SWITCHES), on: z.boolean() }),
  z.strictObject({ do: z.literal('end-links') }),
  z.strictObject({ do: z.literal('kill-bot') }),
  z.strictObject({ do: z.literal('redis'), up: z.boolean() }),
  z.strictObject({ do: z.literal('pull-request'), change: z.enum(PULL_REQUEST_CHANGES) }),
  z.strictObject({ do: z.literal('move-clock'), byMs: z.int().min(1).max(MAX_MOVE_MS) }),
]) satisfies z.ZodType<Trouble>;

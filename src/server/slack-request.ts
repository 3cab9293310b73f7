import { parse } from 'node:querystring';
import { z } from 'zod';
import { parseJson } from '../runtime/json.ts';

/** A request to `/slack/events`, or an envelope of Socket Mode. */
export type SlackRequest =
  | { kind: 'listeners'; body: Record<string, unknown> }
  | { kind: 'challenge'; challenge: string }
  /** Slack holds events back since there are too many. */
  | { kind: 'rate limited' };

const text = z.string();
const id = text.min(1);
const optionalText = text.optional();
const user = z.looseObject({ id, name: optionalText, username: optionalText, team_id: text.nullish() });
const team = z.looseObject({ id }).nullish();
const channelSchema = z.looseObject({ id, name: optionalText });
const interactionFields = { user, team, trigger_id: text, response_url: optionalText };

// Only what the listeners rely on; Bolt itself rejects what it cannot read before they run.
const event = z.looseObject({ event: z.looseObject({ type: id }) });
const command = z.looseObject({
  command: id,
  text: text.default(''),
  team_id: id,
  user_id: id,
  user_name: text.default(''),
  channel_id: id,
  channel_name: text.default(''),
  trigger_id: text,
  response_url: optionalText,
});
const actions = z.looseObject({
  ...interactionFields,
  actions: z.array(z.looseObject({ action_id: text })).min(1),
  channel: channelSchema.optional(),
});
const messageShortcut = z.looseObject({
  ...interactionFields,
  callback_id: text,
  channel: channelSchema,
  message_ts: id,
  message: z.looseObject({
    text: optionalText,
    blocks: z.array(z.unknown()).optional(),
    attachments: z.array(z.unknown()).optional(),
  }),
});
const shortcut = z.looseObject({ ...interactionFields, callback_id: text });
const input = z.looseObject({
  value: text.nullish(),
  selected_option: z.looseObject({ value: text }).nullish(),
});
const modal = z.looseObject({
  user,
  team,
  trigger_id: optionalText,
  view: z.looseObject({
    id,
    callback_id: text,
    private_metadata: text,
    title: z.looseObject({ text }),
    state: z.looseObject({ values: z.record(text, z.record(text, input)) }),
    app_installed_team_id: text.nullish(),
  }),
});
const challenge = z.object({ challenge: text });

const schemaByType = new Map<unknown, z.ZodType<Record<string, unknown>>>([
  ['message_action', messageShortcut],
  ['shortcut', shortcut],
  ['view_submission', modal],
]);

/** Deeper than anything Slack sends; readers of blocks are recursive. */
const MAX_DEPTH = 64;

/** Reads a body, sent as JSON or as a form. Returns `undefined` when it is not a request of Slack's. */
export function parseBytes(contentType: string | undefined, bytes: Buffer): SlackRequest | undefined {
  const sent = bytes.toString();
  const [mediaType = ''] = (contentType ?? '').split(';', 1);
  if (mediaType.trim().toLowerCase() !== 'application/x-www-form-urlencoded')
    return parseRequest(parseJson(sent));
  const form = parse(sent);
  const { payload } = form;
  if (payload === undefined) return parseRequest(form);
  return typeof payload === 'string' ? parseRequest(parseJson(payload)) : undefined;
}

/** Reads a parsed body. Returns `undefined` when the listeners could not read it. */
export function parseRequest(body: unknown): SlackRequest | undefined {
  if (!isObject(body) || isDeeper(body, MAX_DEPTH)) return undefined;
  if (body.type === 'url_verification') {
    const verification = challenge.safeParse(body);
    if (verification.success) return { kind: 'challenge', challenge: verification.data.challenge };
  }
  if (body.type === 'app_rate_limited' && body.event === undefined) return { kind: 'rate limited' };
  const read = schemaOf(body)?.safeParse(body);
  return read?.success ? { kind: 'listeners', body: read.data } : undefined;
}

/** Returns the schema for a body, chosen by the same fields, in the same order, as in Bolt. */
function schemaOf(body: Record<string, unknown>) {
  if (body.event !== undefined) return event;
  if (body.command !== undefined) return command;
  if (body.name !== undefined) return undefined;
  if (body.actions !== undefined) return actions;
  return schemaByType.get(body.type);
}

function isDeeper(value: unknown, levels: number): boolean {
  let level = [value];
  for (let depth = 0; depth < levels; depth += 1) {
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
    if (level.length === 0) return false;
  }
  return true;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

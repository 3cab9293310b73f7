import { z } from 'zod';
import { Refused } from './refused.ts';

/** Arguments that a form carries as JSON text, as @slack/web-api sends them. */
const STRUCTURED = ['blocks', 'attachments', 'files', 'message', 'metadata', 'view'];

export interface ReadArguments {
  args: Record<string, unknown>;
  /** From the Authorization header, or from a form's `token`: Slack takes no token in a JSON body. */
  token: string | undefined;
  /** Set when the body could not be read. */
  error?: string;
}

/** Reads the arguments of a Web API call, from a form or from JSON (https://docs.slack.dev/apis/web-api#post_bodies). */
export async function readArguments(request: Request): Promise<ReadArguments> {
  const bearer = /^Bearer (.+)$/.exec(request.headers.get('authorization') ?? '')?.[1];
  const type = request.headers.get('content-type')?.split(';')[0]?.trim() ?? '';
  if (type === 'application/json') {
    try {
      const { token: _, ...args } = z.record(z.string(), z.unknown()).parse(JSON.parse(await request.text()));
      return { args: unpack(args), token: bearer };
    } catch {
      return { args: {}, token: bearer, error: 'invalid_json' };
    }
  }
  if (type !== '' && type !== 'application/x-www-form-urlencoded' && type !== 'multipart/form-data') {
    return { args: {}, token: bearer, error: 'invalid_post_type' };
  }
  const fields = type === '' ? new URLSearchParams() : await request.formData();
  const { token, ...args } = Object.fromEntries(fields) as Record<string, unknown>;
  return { args: unpack(args), token: bearer ?? (typeof token === 'string' ? token : undefined) };
}

/** Also a JSON body may carry these as text. What is no JSON stays text, and the method refuses it. */
function unpack(args: Record<string, unknown>): Record<string, unknown> {
  const unpacked = { ...args };
  for (const name of STRUCTURED) {
    const value = args[name];
    if (typeof value !== 'string') continue;
    try {
      unpacked[name] = JSON.parse(value);
    } catch {
      // Left as it is.
    }
  }
  return unpacked;
}

/** A yes or no, in any of the ways Slack takes it. */
export const flag = z
  .union([
    z.boolean(),
    z.enum(['true', 'false', '1', '0']).transform((text) => text === 'true' || text === '1'),
  ])
  .optional();

/** A message's timestamp: a string, since a number would lose digits. */
export const ts = z.string().regex(/^\d{1,10}\.\d{6}$/);

/** Checks arguments as Slack does before a method runs: `invalid_arguments`, with a pointer to each mistake. */
export function checkArguments<T>(schema: z.ZodType<T>, args: Record<string, unknown>): T {
  const checked = schema.safeParse(args);
  if (checked.success) return checked.data;
  const messages = checked.error.issues.map(({ path, message, code, input }) => {
    const field = path.at(-1);
    const missing = code === 'invalid_type' && input === undefined && args[String(path[0])] === undefined;
    const text = missing ? `missing required field: ${String(field)}` : message;
    return `[ERROR] ${text} [json-pointer:/${path.map(String).join('/')}]`;
  });
  throw new Refused('invalid_arguments', { response_metadata: { messages } });
}

import { z } from 'zod';
import { blockId } from './text.ts';

const style = z
  .strictObject({
    bold: z.boolean().optional(),
    italic: z.boolean().optional(),
    strike: z.boolean().optional(),
    underline: z.boolean().optional(),
    code: z.boolean().optional(),
    highlight: z.boolean().optional(),
    client_highlight: z.boolean().optional(),
    unlink: z.boolean().optional(),
  })
  .optional();

// https://docs.slack.dev/messaging/formatting-message-text#date-formatting
const DATE_TOKENS = [
  ...['date_num', 'date_slash', 'date', 'date_short', 'date_long', 'date_pretty', 'date_short_pretty'],
  ...['date_long_pretty', 'day_divider_pretty', 'time', 'time_secs', 'ago'],
];

function datesOnly(format: string): boolean {
  const tokens = [...format.matchAll(/\{([^}]*)\}/g)].map(([, token = '']) => token);
  return tokens.length > 0 && tokens.every((token) => DATE_TOKENS.includes(token));
}

const text = z.strictObject({ type: z.literal('text'), text: z.string().min(1), style });
const link = z.strictObject({
  type: z.literal('link'),
  url: z.string().min(1).max(3000),
  text: z.string().optional(),
  unsafe: z.boolean().optional(),
  style,
});

const element = z.discriminatedUnion('type', [
  text,
  link,
  z.strictObject({ type: z.literal('user'), user_id: z.string().regex(/^[UW]\w+$/), style }),
  z.strictObject({ type: z.literal('usergroup'), usergroup_id: z.string().regex(/^S\w+$/), style }),
  z.strictObject({ type: z.literal('channel'), channel_id: z.string().regex(/^[CGD]\w+$/), style }),
  z.strictObject({ type: z.literal('team'), team_id: z.string().regex(/^[TE]\w+$/), style }),
  z.strictObject({ type: z.literal('broadcast'), range: z.enum(['here', 'channel', 'everyone']), style }),
  z.strictObject({ type: z.literal('color'), value: z.string().min(1), style }),
  z.strictObject({
    type: z.literal('emoji'),
    name: z.string().min(1),
    unicode: z.string().optional(),
    url: z.string().optional(),
    style,
  }),
  z.strictObject({
    type: z.literal('date'),
    timestamp: z.number().int().min(0),
    format: z.string().refine(datesOnly, 'must hold date tokens that Slack knows'),
    url: z.string().optional(),
    fallback: z.string().optional(),
    style,
  }),
]);

const border = z.union([z.literal(0), z.literal(1)]).optional();
const section = z.strictObject({ type: z.literal('rich_text_section'), elements: z.array(element) });

/** Rich text, in exactly the shapes that Slack takes (https://docs.slack.dev/reference/block-kit/blocks/rich-text-block). */
export const richTextBlock = z.strictObject({
  type: z.literal('rich_text'),
  block_id: blockId,
  elements: z
    .array(
      z.discriminatedUnion('type', [
        section,
        z.strictObject({
          type: z.literal('rich_text_list'),
          style: z.enum(['bullet', 'ordered']),
          elements: z.array(section).min(1),
          indent: z.number().int().min(0).max(8).optional(),
          offset: z.number().int().min(0).optional(),
          border,
        }),
        z.strictObject({ type: z.literal('rich_text_quote'), elements: z.array(element), border }),
        z.strictObject({
          type: z.literal('rich_text_preformatted'),
          elements: z.array(z.discriminatedUnion('type', [text, link])),
          language: z.string().optional(),
          border,
        }),
      ]),
    )
    .min(1),
});

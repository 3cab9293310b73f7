import { z } from 'zod';
import { chartBlock, dataTableBlock, tableBlock } from './data-blocks.ts';
import { accessory, actionElement, inputElement } from './elements.ts';
import { richTextBlock } from './rich-text.ts';
import { blockId, imageBlock, imageElement, mrkdwn, plain, textObject } from './text.ts';

const base = { block_id: blockId };

const section = z
  .strictObject({
    type: z.literal('section'),
    ...base,
    text: textObject(3000).optional(),
    fields: z.array(textObject(2000)).min(1).max(10).optional(),
    accessory: accessory.optional(),
    expand: z.boolean().optional(),
  })
  .refine(({ text, fields }) => text !== undefined || fields !== undefined, 'must have text or fields');

const header = z.strictObject({
  type: z.literal('header'),
  ...base,
  text: plain(150),
  level: z.number().int().min(1).max(4).optional(),
});

const context = z.strictObject({
  type: z.literal('context'),
  ...base,
  elements: z
    .array(z.discriminatedUnion('type', [imageElement, plain(3000), mrkdwn(3000)]))
    .min(1)
    .max(10),
});

const actions = z.strictObject({
  type: z.literal('actions'),
  ...base,
  elements: z.array(actionElement).min(1).max(25),
});

const divider = z.strictObject({ type: z.literal('divider'), ...base });

const input = z.strictObject({
  type: z.literal('input'),
  ...base,
  label: plain(2000),
  hint: plain(2000).optional(),
  optional: z.boolean().optional(),
  dispatch_action: z.boolean().optional(),
  element: inputElement,
});

const markdown = z.strictObject({
  type: z.literal('markdown'),
  ...base,
  text: z.string().min(1).max(12_000),
});

const everywhere = [section, header, context, actions, divider, imageBlock, input, richTextBlock] as const;

/** The blocks that each surface takes, and how many. Others of Slack's are refused until Docket sends them. */
export const SURFACES = {
  message: z
    .array(z.discriminatedUnion('type', [...everywhere, markdown, tableBlock, dataTableBlock, chartBlock]))
    .max(50),
  modal: z.array(z.discriminatedUnion('type', everywhere)).max(100),
  home: z.array(z.discriminatedUnion('type', [...everywhere, tableBlock, dataTableBlock])).max(100),
};
export type Surface = keyof typeof SURFACES;

import { z } from 'zod';
import { chartBlock, dataTableBlock, tableBlock } from './data-blocks.ts';
import { accessory, actionElement, button, contextAction, inputElement } from './elements.ts';
import { richTextBlock } from './rich-text.ts';
import { blockId, imageBlock, imageElement, mrkdwn, plain, textObject, webUrl } from './text.ts';

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

const task = {
  ...base,
  task_id: z.string().min(1),
  title: z.string().min(1),
  details: richTextBlock.optional(),
  output: richTextBlock.optional(),
  sources: z
    .array(z.strictObject({ type: z.literal('url'), url: webUrl, text: z.string().min(1) }))
    .optional(),
};

const taskCard = z.strictObject({
  type: z.literal('task_card'),
  ...task,
  // `pending` is only taken inside of a plan.
  status: z.enum(['in_progress', 'complete', 'error']),
});

const plan = z.strictObject({
  type: z.literal('plan'),
  ...base,
  title: z.string().min(1),
  tasks: z
    .array(
      z.strictObject({
        type: z.literal('task_card').optional(),
        ...task,
        status: z.enum(['pending', 'in_progress', 'complete', 'error']),
      }),
    )
    .optional(),
});

const alert = z.strictObject({
  type: z.literal('alert'),
  ...base,
  text: textObject(200),
  level: z.enum(['default', 'info', 'warning', 'error', 'success']).optional(),
});

const card = z
  .strictObject({
    type: z.literal('card'),
    ...base,
    hero_image: imageElement.optional(),
    icon: imageElement.optional(),
    title: textObject(150).optional(),
    subtitle: textObject(150).optional(),
    body: textObject(200).optional(),
    subtext: textObject(200).optional(),
    actions: z.array(button).min(1).max(3).optional(),
  })
  .refine(
    ({ hero_image, title, body, actions: buttons }) => hero_image ?? title ?? body ?? buttons,
    'must have one of hero_image, title, body, actions',
  );

const carousel = z.strictObject({
  type: z.literal('carousel'),
  ...base,
  elements: z.array(card).min(1).max(10),
});

const container = z.strictObject({
  type: z.literal('container'),
  ...base,
  title: plain(150).optional(),
  rich_text_title: richTextBlock.optional(),
  subtitle: textObject(150).optional(),
  child_blocks: z
    .array(
      z.discriminatedUnion('type', [
        actions,
        context,
        divider,
        header,
        imageBlock,
        input,
        richTextBlock,
        section,
        tableBlock,
      ]),
    )
    .min(1)
    .max(10),
  width: z.enum(['narrow', 'standard', 'wide', 'full']).optional(),
  icon: imageElement.optional(),
  is_collapsible: z.boolean().optional(),
  default_collapsed: z.boolean().optional(),
  has_header_divider: z.boolean().optional(),
});

const contextActions = z.strictObject({
  type: z.literal('context_actions'),
  ...base,
  elements: z.array(contextAction).min(1).max(5),
});

const everywhere = [
  section,
  header,
  context,
  actions,
  divider,
  imageBlock,
  input,
  richTextBlock,
  card,
] as const;

/** The blocks that each surface takes, and how many of them. */
export const SURFACES = {
  message: z
    .array(
      z.discriminatedUnion('type', [
        ...everywhere,
        markdown,
        tableBlock,
        dataTableBlock,
        chartBlock,
        taskCard,
        plan,
        carousel,
        container,
        contextActions,
      ]),
    )
    .max(50),
  modal: z.array(z.discriminatedUnion('type', [...everywhere, alert])).max(100),
  home: z
    .array(z.discriminatedUnion('type', [...everywhere, tableBlock, dataTableBlock, carousel, container]))
    .max(100),
};
export type Surface = keyof typeof SURFACES;

import { z } from 'zod';

/** Text objects and the objects built from them (https://docs.slack.dev/reference/block-kit/composition-objects). */
export const plain = (max: number) =>
  z.strictObject({
    type: z.literal('plain_text'),
    text: z.string().min(1).max(max),
    emoji: z.boolean().optional(),
  });

export const mrkdwn = (max: number) =>
  z.strictObject({
    type: z.literal('mrkdwn'),
    text: z.string().min(1).max(max),
    verbatim: z.boolean().optional(),
  });

export const textObject = (max: number) => z.discriminatedUnion('type', [plain(max), mrkdwn(max)]);

export const webUrl = z
  .string()
  .max(3000)
  .refine((url) => /^https?:\/\/[^\s/]/.test(url) && URL.canParse(url), 'must be a valid URL');

export const blockId = z.string().min(1).max(255).optional();
export const actionId = z.string().min(1).max(255).optional();

export const confirm = z
  .strictObject({
    title: plain(100),
    text: textObject(300),
    confirm: plain(30),
    deny: plain(30),
    style: z.enum(['primary', 'danger']).optional(),
  })
  .optional();

// The docs say 150 for `value`, the types 75: the smaller one holds in both.
const optionFields = { value: z.string().min(1).max(75), description: plain(75).optional() };

/** An entry of a select. */
export const option = z.strictObject({ text: plain(75), ...optionFields });
/** An entry of checkboxes and radio buttons. */
export const markOption = z.strictObject({
  text: textObject(75),
  ...optionFields,
  description: textObject(75).optional(),
});
/** An entry of an overflow menu. */
export const menuOption = z.strictObject({
  text: plain(75),
  value: z.string().min(1).max(75).optional(),
  description: plain(75).optional(),
  url: webUrl.optional(),
});
export const optionGroup = z.strictObject({ label: plain(75), options: z.array(option).min(1).max(100) });

const imageSource = {
  image_url: webUrl.optional(),
  slack_file: z
    .union([z.strictObject({ id: z.string().min(1) }), z.strictObject({ url: webUrl })])
    .optional(),
};
const oneSource = ({ image_url, slack_file }: { image_url?: unknown; slack_file?: unknown }) =>
  (image_url === undefined) !== (slack_file === undefined);

/** An image inside of another block. */
export const imageElement = z
  .strictObject({ type: z.literal('image'), alt_text: z.string().min(1).max(2000), ...imageSource })
  .refine(oneSource, 'must have either image_url or slack_file');

/** An image as a block of its own. */
export const imageBlock = z
  .strictObject({
    type: z.literal('image'),
    alt_text: z.string().min(1).max(2000),
    title: plain(2000).optional(),
    block_id: blockId,
    ...imageSource,
  })
  .refine(oneSource, 'must have either image_url or slack_file');

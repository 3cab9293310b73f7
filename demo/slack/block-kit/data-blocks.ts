import { z } from 'zod';
import { richTextBlock } from './rich-text.ts';
import { blockId } from './text.ts';

const rawText = z.strictObject({ type: z.literal('raw_text'), text: z.string().min(1) });
const rawNumber = z.strictObject({
  type: z.literal('raw_number'),
  value: z.number(),
  text: z.string().min(1),
});
const cell = z.discriminatedUnion('type', [rawText, rawNumber, richTextBlock]);

export const tableBlock = z.strictObject({
  type: z.literal('table'),
  block_id: blockId,
  rows: z.array(z.array(cell).min(1).max(20)).min(1).max(100),
  column_settings: z
    .array(
      z
        .strictObject({
          align: z.enum(['left', 'center', 'right']).optional(),
          is_wrapped: z.boolean().optional(),
        })
        .nullable(),
    )
    .max(20)
    .optional(),
});

export const dataTableBlock = z
  .strictObject({
    type: z.literal('data_table'),
    block_id: blockId,
    caption: z.string().min(1),
    rows: z.array(z.array(cell).min(1).max(20)).min(2).max(201),
    page_size: z.number().int().min(1).max(100).optional(),
    row_header_column_index: z.number().int().min(0).max(19).optional(),
  })
  .refine(({ rows }) => rows.every((row) => row.length === rows[0]?.length), {
    path: ['rows'],
    message: 'all rows must have the same number of cells',
  })
  .refine(({ rows }) => rows[0]?.every(({ type }) => type !== 'rich_text'), {
    path: ['rows', 0],
    message: 'header cells must not be rich_text',
  });

const label = z.string().min(1).max(20);
const series = z
  .array(
    z.strictObject({
      name: label,
      data: z
        .array(z.strictObject({ label, value: z.number() }))
        .min(1)
        .max(20),
    }),
  )
  .min(1)
  .max(12)
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'series names must be unique');
const axisConfig = z.strictObject({
  categories: z.array(label).min(1).max(20),
  x_label: z.string().max(50).optional(),
  y_label: z.string().max(50).optional(),
});
type Series = z.output<typeof series>;

/** Each series has exactly one point for each category. */
function fits({
  series: all,
  axis_config: { categories },
}: {
  series: Series;
  axis_config: { categories: string[] };
}) {
  const wanted = new Set(categories);
  return all.every(
    ({ data }) => data.length === wanted.size && data.every((point) => wanted.has(point.label)),
  );
}
const FITS = { path: ['series'], message: 'data labels must match axis_config.categories' };
const xy = { series, axis_config: axisConfig };

/** Charts, since June 2026 (https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block). */
export const chartBlock = z.strictObject({
  type: z.literal('data_visualization'),
  block_id: blockId,
  title: z.string().min(1).max(50),
  chart: z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('pie'),
      segments: z
        .array(z.strictObject({ label, value: z.number().positive() }))
        .min(1)
        .max(12)
        .refine(
          (all) => new Set(all.map((segment) => segment.label)).size === all.length,
          'labels must be unique',
        ),
    }),
    z.strictObject({ type: z.literal('bar'), ...xy }).refine(fits, FITS),
    z.strictObject({ type: z.literal('area'), ...xy }).refine(fits, FITS),
    z.strictObject({ type: z.literal('line'), ...xy }).refine(fits, FITS),
  ]),
});

import { z } from 'zod';
import { optional, parseStatus } from './schemas.ts';
import { cut } from './text.ts';

/** At signs, also in the forms that addresses of pages contain. */
const atSigns = /[@＠﹫]|%(?:25)?40/gu;

const invisible = /\p{Default_Ignorable_Code_Point}/gu;

/** File endings, none of which is a top-level domain. */
const fileEnding = '(?:[cm]?[jt]sx?|json|css|html?|xml|ya?ml|txt|png|jpe?g|gif|svg|webp|wasm)';

/**
 * Text, an at sign, and a complete domain. Packages with a scope, a version or a file (`@acme/sdk`, `sdk@1.2`,
 * `lodash@es.mjs`) do not match.
 */
const address = new RegExp(
  String.raw`[^\s@/]@[^\s@/?&=#,;:]+[.。．｡](?!${fileEnding}\b)(?:xn--[\w-]+|\p{L}[\p{L}\p{M}]+)(?![.-]?[\p{L}\p{N}])`,
  'iu',
);

/** Returns whether text contains an e-mail address. Call it before the text is cut: half an address does not match. */
export function holdsEmailAddress(text: string): boolean {
  // Most text has no at sign, and there may be tens of thousands of rows.
  if (text.search(atSigns) < 0) return false;
  return address.test(text.replace(invisible, '').replace(atSigns, '@'));
}

/** Returns the schema of text that is cut, in characters, before it is processed. */
const textUpTo = (max: number) => z.string().transform((text) => cut(text, max).toWellFormed());
/** Text from readers, which may identify them: text with an e-mail address is dropped. */
const withoutAddress = <Text extends z.ZodType<unknown, string>>(text: Text) =>
  z
    .string()
    .refine((written) => !holdsEmailAddress(written))
    .pipe(text);
const pagePath = textUpTo(2000);
const publicPath = withoutAddress(pagePath);

/** Any number, even negative or fractional: it is rounded for display. */
const number = z
  .union([
    z.number(),
    z
      .string()
      .max(40)
      .regex(/^\s*-?\d{1,15}(?:\.\d{1,15})?\s*$/u),
  ])
  .transform(Number);
const flag = z.union([z.boolean(), z.stringbool({ truthy: ['true'], falsy: ['false'] })]);

const countsSchema = z.object({ human: number, ai: number, total: number.nullish() });
const withTotal = <T extends z.infer<typeof countsSchema>>(counts: T) => ({
  ...counts,
  total: counts.total ?? counts.human + counts.ai,
});

const pageRow = countsSchema.extend({ path: publicPath }).transform(withTotal);

/**
 * Response to a page-view query, one page of results. Everything but `total` is required; a missing `total` is
 * computed. The order of `views` is not specified.
 */
export const pageViews = z
  .object({
    /** Of the whole date range. */
    totals: countsSchema.transform(withTotal),
    views: z.array(z.unknown()),
    hasMore: flag,
  })
  .transform(({ totals, views, hasMore }) => {
    const read = views.flatMap((row) => pageRow.safeParse(row).data ?? []);
    // Unreadable, or with an e-mail address in the path. An offset counts them.
    const leftOut = views.length - read.length;
    return { totals, views: read, hasMore, ...(leftOut > 0 && { leftOut }) };
  });

/** Response to a visitor query. `total` is required: a person may count in both `human` and `ai`. */
export const visitors = z.object({
  /** Of the whole date range, approximate. */
  totals: z.object({ human: optional(number), ai: optional(number), total: number }),
});

/** A longer cursor could not be sent back: it is part of the next request's address. */
export const MAX_CURSOR_LENGTH = 2000;

/** Any other value means that there is more, which could not be requested: it makes a response unreadable. */
const nextCursor = z
  .union([z.string().max(MAX_CURSOR_LENGTH), z.int(), z.null()])
  .optional()
  .transform((value) => (value === null || value === '' ? undefined : value?.toString()));

/** Returns the schema of a list without its unreadable rows: each costs only itself. */
const readableRows = <Row extends z.ZodType>(row: Row) =>
  z.array(z.unknown()).transform((values) => values.flatMap((value) => row.safeParse(value).data ?? []));

/** Response to a query of search terms, one page of results. Without `nextCursor` there are no more terms. */
export const searches = z.object({
  searches: readableRows(
    z.object({
      searchQuery: withoutAddress(textUpTo(500)),
      hits: number,
      /** Click-through rate on an unspecified scale; missing if unknown. */
      ctr: optional(number),
      /** Missing if nobody clicked. */
      topClickedPage: pagePath.nullish().transform((page) => page || undefined),
    }),
  ),
  /** Counts all searches of the range. */
  totalSearches: optional(number),
  nextCursor,
});

/** Response to a query of feedback by page. */
export const feedbackByPage = z.object({
  feedback: readableRows(z.object({ path: publicPath, thumbsUp: number, thumbsDown: number })),
  hasMore: flag.catch(false),
});

/** Readers' text is not kept. Conversations are counted even if fields are missing. */
const conversation = z.object({
  resolutionStatus: z
    .unknown()
    .optional()
    .transform((value) =>
      parseStatus(typeof value === 'string' ? cut(value, 40) : '', ['answered', 'unanswered']),
    ),
  queryCategory: optional(
    withoutAddress(textUpTo(200).transform((category) => category.trim() || undefined)),
  ),
});

/** Response to a query of conversations with the assistant, one page of results. */
export const assistantConversations = z
  .object({ conversations: readableRows(conversation), nextCursor, hasMore: optional(flag) })
  .transform(({ hasMore, ...rest }) => ({
    ...rest,
    /** True without a `nextCursor` if the platform has more but gives no way to get it. */
    hasMore: hasMore ?? rest.nextCursor !== undefined,
  }));

import type { ReaderFigures } from './model.ts';

// The entries of a digest's lines, which [Ask the agent] offers as well.

/** Entries of a line; no more search terms are kept. */
export const MAX_LISTED = 5;

/** Pages with fewer thumbs do not count. */
const MIN_THUMBS = 3;

/** Returns the most frequent searches without a click. */
export const listedSearches = ({ searches = [] }: ReaderFigures = {}) => searches.slice(0, MAX_LISTED);

/** Returns the pages with more thumbs down than up, if they have enough of them. */
export const listedThumbs = ({ thumbs = [] }: ReaderFigures = {}) =>
  thumbs.filter(({ up, down }) => down > up && up + down >= MIN_THUMBS).slice(0, MAX_LISTED);

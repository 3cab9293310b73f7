import type { ReaderFigures } from './model.ts';

// What the lines of a digest list, and [Ask the agent] under them.

/** Entries of a line; of search terms, no more are kept. */
export const MAX_LISTED = 5;

/** Thumbs of a page count from so many on. */
const MIN_THUMBS = 3;

/** Returns the searches that most readers clicked nothing of. */
export const listedSearches = ({ searches = [] }: ReaderFigures = {}) => searches.slice(0, MAX_LISTED);

/** Returns the pages with more thumbs down than up, as far as they have enough of them. */
export const listedThumbs = ({ thumbs = [] }: ReaderFigures = {}) =>
  thumbs.filter(({ up, down }) => down > up && up + down >= MIN_THUMBS).slice(0, MAX_LISTED);

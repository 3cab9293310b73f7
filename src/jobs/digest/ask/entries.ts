import { formatCount } from '../../../slack/text.ts';
import { idOf } from '../../../store/keys.ts';
import type { AskButton } from '../buttons.ts';
import { pathText, queryText, timesText, viewsText } from '../edition/phrases.ts';
import type { EditionRun } from '../edition/record.ts';
import { listedSearches, listedThumbs } from '../listed.ts';
import { type PageChange, type ReaderFigures, totalOf } from '../model.ts';
import type { AskSubject } from './record.ts';

type Search = NonNullable<ReaderFigures['searches']>[number];
type Questions = NonNullable<ReaderFigures['questions']>;
type Thumbs = NonNullable<ReaderFigures['thumbs']>[number];

const UNANSWERED = 'questions that the assistant could not answer';

/** A possible subject for the agent, with its numbers. `named` is a page outside the digest's lists. */
export type AskEntry =
  | { kind: 'page'; page: PageChange }
  | { kind: 'named'; path: string }
  | { kind: 'search'; search: Search }
  | { kind: 'thumbs'; thumbs: Thumbs }
  | { kind: 'questions'; questions: Questions };

/** Returns the entries of one line of a digest, or of its tables, each once. */
export function entriesOf({ pages, readers }: EditionRun, about: AskButton['about']): AskEntry[] {
  switch (about) {
    case 'pages': {
      if (pages === undefined) return [];
      const { biggest, top, rising, falling, risingAi, fallingAi, fresh, quiet, aiRead } = pages;
      const lists = [
        top,
        biggest ? [biggest.page] : [],
        rising,
        falling,
        risingAi,
        fallingAi,
        fresh,
        quiet,
        aiRead,
      ];
      const all = lists.flat();
      const byPath = new Map(all.map((page) => [page.path, page]));
      return Array.from(byPath.values(), (page) => ({ kind: 'page', page }));
    }
    case 'searches': {
      const byQuery = new Map(listedSearches(readers).map((search) => [search.query, search]));
      return Array.from(byQuery.values(), (search) => ({ kind: 'search', search }));
    }
    case 'questions': {
      const questions = readers?.questions;
      return questions === undefined || questions.unanswered === 0 ? [] : [{ kind: 'questions', questions }];
    }
    case 'thumbs': {
      const byPath = new Map(listedThumbs(readers).map((thumbs) => [thumbs.path, thumbs]));
      return Array.from(byPath.values(), (thumbs) => ({ kind: 'thumbs', thumbs }));
    }
  }
}

/** Returns the id of an entry in a modal; it is short for any name. */
export const entryId = (entry: AskEntry) => idOf('ask', subjectOf(entry).name);

/** Returns the subject of an entry, and its number for the next digest's comparison. */
export function subjectOf(entry: AskEntry): AskSubject {
  switch (entry.kind) {
    case 'page':
      return { kind: 'page', name: entry.page.path, value: totalOf(entry.page) };
    case 'named':
      return { kind: 'page', name: entry.path };
    case 'search':
      return { kind: 'search', name: entry.search.query, value: entry.search.hits };
    case 'questions':
      return { kind: 'questions', name: UNANSWERED, value: entry.questions.unanswered };
    case 'thumbs':
      return { kind: 'thumbs', name: entry.thumbs.path, value: entry.thumbs.down };
  }
}

/** Returns a subject as text: a path, or a search term in quotes. */
export const subjectText = ({ kind, name }: AskSubject) =>
  kind === 'questions' ? name : kind === 'search' ? queryText(name) : pathText(name);

/** Returns the numbers of an entry in a few words; empty for a page outside the lists. */
export function entryNumbers(entry: AskEntry): string {
  switch (entry.kind) {
    case 'page':
      return viewsText(totalOf(entry.page));
    case 'named':
      return '';
    case 'search':
      return timesText(entry.search.hits);
    case 'questions':
      return `${formatCount(entry.questions.unanswered)} of ${formatCount(entry.questions.asked)}`;
    case 'thumbs':
      return `${formatCount(entry.thumbs.up)} up, ${formatCount(entry.thumbs.down)} down`;
  }
}

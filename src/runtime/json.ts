import { tryOr } from './try-or.ts';

/** Parses a text as JSON; returns undefined if it is not JSON. */
export const parseJson = (text: string | null | undefined): unknown =>
  tryOr(undefined, () => JSON.parse(text ?? ''));

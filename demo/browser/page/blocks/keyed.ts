/** Returns items, each with its place as a key, for parts of a block: they have no names of their own, and never move. */
export const keyed = <T>(items: readonly T[]): { key: string; item: T }[] =>
  items.map((item, place) => ({ key: String(place), item }));

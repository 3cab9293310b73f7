import { type Change, type Entity, keyOf } from '../../protocol.ts';

/** All that this person sees, by `keyOf`. */
export type World = ReadonlyMap<string, Entity>;

export const NOTHING: World = new Map();

/** Returns the world after a change; the one before it is left as it was. */
export function applied(world: World, { fresh, put, gone }: Change): World {
  const next = new Map(fresh ? [] : world);
  for (const key of gone) next.delete(key);
  for (const entity of put) next.set(keyOf(entity), entity);
  return next;
}

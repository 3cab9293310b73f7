import { useEffect, useState } from 'react';
import { newestTs } from '../state/scene.ts';
import type { Page } from './page-context.ts';

/** Returns the conversations in which somebody else wrote since the visitor was there. */
export function useUnread({ scene, as, me, place }: Page): Set<string> {
  const [seen, setSeen] = useState<Record<string, string>>({});
  const open = place === 'home' ? undefined : place?.conversation;
  const newest = scene.conversations.map(({ id }) => ({
    id,
    key: `${as} ${id}`,
    ts: newestTs(scene.messages.get(id) ?? [], me),
  }));
  const known = newest.some(({ key }) => key in seen);
  const here = newest.find(({ id }) => id === open);
  useEffect(() => {
    // What was there when a person came is no news.
    if (!known && newest.length > 0)
      setSeen((before) => ({ ...before, ...Object.fromEntries(newest.map(({ key, ts }) => [key, ts])) }));
    else if (here && seen[here.key] !== here.ts) setSeen((before) => ({ ...before, [here.key]: here.ts }));
  });
  if (!known) return new Set();
  const unread = newest.filter(({ id, key, ts }) => id !== open && Number(ts) > Number(seen[key] ?? 0));
  return new Set(unread.map(({ id }) => id));
}

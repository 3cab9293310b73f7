import { expect, vi } from 'vitest';
import type { Call, Phase, Wire } from '../../../demo/wire.ts';

/** Slack, the docs platform, and whatever else takes calls. */
type Outside = readonly { readonly wire: Wire }[];

/** A moment of a story: the nth call of this name, or like this, before it takes effect or after, its answer still unsent. */
export interface MomentOfCall {
  call: string | ((call: Call) => boolean);
  phase?: Phase;
  nth?: number;
}

/**
 * Strikes once: at that moment of the calls that begin from here on. The call stands still until `act` is done. `phase` is
 * `before` and `nth` 1 when left out. Returns what `act` did as `done`, whether it was called, and a function that takes the strike back.
 */
export function strikeAt<T>(
  outside: Outside,
  { call: wanted, phase = 'before', nth = 1 }: MomentOfCall,
  act: (call: Call) => T | Promise<T>,
) {
  const done = Promise.withResolvers<T>();
  let count = 0;
  const stops = outside.map(({ wire }) => {
    const begun = wire.calls.length;
    return wire.onCall(async (call, at) => {
      if (call.n <= begun || at !== phase || count === nth) return;
      if (typeof wanted === 'string' ? call.name !== wanted : !wanted(call)) return;
      count += 1;
      if (count !== nth) return;
      done.resolve(Promise.try(act, call));
      await done.promise;
    });
  });
  return {
    done: done.promise,
    isStruck: () => count === nth,
    stop() {
      for (const stop of stops) stop();
    },
  };
}

/** Calls that stand still never arrive. */
export function lose(outside: Outside, held: readonly Pick<HeldCall, 'call'>[]) {
  for (const { call } of held)
    for (const { wire } of outside)
      if (wire.calls.includes(call)) wire.order((other) => other === call, { kind: 'reset', when: 'before' });
}

/** A call that stands still until `goOn`. */
export interface HeldCall {
  call: Call;
  goOn(): void;
}

/** Has a call stand still at each of these moments, by name. */
export function holdAt<Name>(outside: Outside, moments: Iterable<readonly [Name, MomentOfCall]>) {
  const held = new Map<Name, HeldCall>();
  const names: Name[] = [];
  for (const [name, moment] of moments) {
    names.push(name);
    strikeAt(outside, moment, (call) => {
      const gate = Promise.withResolvers<void>();
      held.set(name, { call, goOn: gate.resolve });
      return gate.promise;
    });
  }
  return {
    held,
    /** Waits until calls stand still at all of these moments, or at all there are. */
    allStand: (some: readonly Name[] = names) =>
      vi.waitFor(() => expect(some.filter((name) => !held.has(name))).toEqual([]), {
        timeout: 60_000,
        interval: 10,
      }),
    goOn() {
      for (const { goOn } of held.values()) goOn();
    },
  };
}

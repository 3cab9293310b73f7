import { median, quantile } from './figures.ts';
import type { Row } from './table.ts';

/** Milliseconds of both sides, measured in turns; a list for each block. */
export interface Sides {
  docket: number[][];
  floor: number[][];
}

/**
 * Measures both sides in alternating blocks, each first in every second one, so that both see the same noise of the
 * machine. The first `warmUp` blocks are not counted: code is compiled and connections are made in them.
 */
export async function inTurns(
  blocks: number,
  warmUp: number,
  measure: { docket(): Promise<number[]>; floor(): Promise<number[]> },
): Promise<Sides> {
  const sides: Sides = { docket: [], floor: [] };
  for (let block = 0; block < warmUp + blocks; block += 1) {
    const order = block % 2 === 0 ? (['docket', 'floor'] as const) : (['floor', 'docket'] as const);
    for (const side of order) {
      const tookMs = await measure[side]();
      if (block >= warmUp) sides[side].push(tookMs);
    }
  }
  return sides;
}

/** Returns the median over the blocks of one quantile of each. */
const acrossBlocks = (blocks: readonly number[][], q: number) =>
  median(blocks.map((block) => quantile(block, q)));

/** A row that compares one quantile of both sides; without `bound` it is only told. */
export function ratioRow(sides: Sides, what: string, q: number, bound?: number): Row {
  const [docket, floor] = [acrossBlocks(sides.docket, q), acrossBlocks(sides.floor, q)];
  const figure = `${docket.toFixed(1)} / ${floor.toFixed(1)} ms = ${(docket / floor).toFixed(2)}`;
  return { what, figure, ...(bound !== undefined && { held: docket / floor <= bound }) };
}

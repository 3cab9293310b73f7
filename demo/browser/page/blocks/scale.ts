/** Returns a round number at or above the largest value, and the steps up to it. */
export function scaleOf(largest: number): { top: number; steps: number[] } {
  if (largest <= 0) return { top: 1, steps: [0, 1] };
  const rough = largest / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  const count = Math.ceil(largest / step);
  return { top: count * step, steps: Array.from({ length: count + 1 }, (_, index) => index * step) };
}

/** Returns a number as an axis has room for it: `1.2k`. */
export const shortNumber = (value: number): string =>
  new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }).format(value);

import { decode } from 'fast-png';
import { CHART_COLOURS } from '../../../src/jobs/digest/chart.ts';

export type Rgb = [number, number, number];

export function rgbOf(hex: string): Rgb {
  const [red = 0, green = 0, blue = 0] = (hex.match(/[0-9a-f]{2}/g) ?? []).map((part) =>
    Number.parseInt(part, 16),
  );
  return [red, green, blue];
}

/** What a chart's pixels show, found without knowing where the drawing put it. */
export interface Picture {
  width: number;
  height: number;
  /** Rows of the lines across the plot, from top to bottom; the last one is the axis. */
  lines: number[];
  /** Heights in pixels of the tallest column of each colour, above the axis, for each point. */
  columns: { human: number; ai: number }[];
  /** How many dark pixels there are of text: in the title, beside the axis, and below each point. */
  ink: { title: number; numbers: number; labels: number[] };
}

/** Reads a chart of so many points. */
export function readPicture(png: Uint8Array, points: number): Picture {
  const { width, height, channels, data } = decode(png);
  // One number for each pixel: there are a million, and each is looked at many times.
  const pixels = new Uint32Array(width * height);
  for (let at = 0; at < pixels.length; at += 1) {
    const start = at * channels;
    pixels[at] = packed([data[start] ?? 0, data[start + 1] ?? 0, data[start + 2] ?? 0]);
  }
  const shows = (hex: string) => {
    const wanted = packed(rgbOf(hex));
    return (x: number, y: number) => pixels[y * width + x] === wanted;
  };
  const isDark = (x: number, y: number) => {
    const pixel = pixels[y * width + x] ?? 0;
    return pixel >> 16 < 110 && ((pixel >> 8) & 255) < 110 && (pixel & 255) < 110;
  };
  const [isAxis, isGrid] = [shows(CHART_COLOURS.axis), shows(CHART_COLOURS.grid)];
  const count = (from: [number, number], to: [number, number], is: (x: number, y: number) => boolean) => {
    let found = 0;
    for (let y = from[1]; y < to[1]; y += 1)
      for (let x = from[0]; x < to[0]; x += 1) if (is(x, y)) found += 1;
    return found;
  };

  const isAxisRow = (y: number) => count([0, y], [width, y + 1], isAxis) > width / 2;
  const axis = range(height).find(isAxisRow) ?? Number.NaN;
  const across = range(width).filter((x) => isAxis(x, axis));
  const [left = 0, right = 0] = [across[0], across.at(-1)];
  const grid = range(axis).filter((y) => isGrid(left + 1, y) && !isGrid(left + 1, y - 1));
  const slot = (right + 1 - left) / points;
  const slots = range(points).map((index) => [
    Math.round(left + index * slot),
    Math.round(left + (index + 1) * slot),
  ]);
  const tallest = ([from = 0, to = 0]: number[], hex: string) => {
    const isColour = shows(hex);
    for (let y = grid[0] ?? 0; y < axis; y += 1)
      for (let x = from; x < to; x += 1) if (isColour(x, y)) return axis + 1 - y;
    return 0;
  };
  return {
    width,
    height,
    lines: [...grid, axis],
    columns: slots.map((one) => ({
      human: tallest(one, CHART_COLOURS.human),
      ai: tallest(one, CHART_COLOURS.ai),
    })),
    ink: {
      title: count([20, 20], [width - 20, 100], isDark),
      numbers: count([0, grid[0] ?? 0], [left - 2, axis + 20], isDark),
      labels: slots.map(([from = 0, to = 0]) => count([from, axis + 4], [to, height], isDark)),
    },
  };
}

const packed = ([red, green, blue]: Rgb) => (red << 16) | (green << 8) | blue;

const range = (length: number) => Array.from({ length }, (_, index) => index);

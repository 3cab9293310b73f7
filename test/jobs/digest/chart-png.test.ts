import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { CHART_COLOURS, chartSvg } from '../../../src/jobs/digest/chart.ts';
import { chartPng } from '../../../src/jobs/digest/chart-png.ts';
import { type Picture, type Rgb, readPicture, rgbOf } from '../../support/jobs/picture.ts';

const week = [
  { label: 'Mon 14', human: 1620, ai: 410 },
  { label: 'Tue 15', human: 1710, ai: 520 },
  { label: 'Wed 16', human: 1580, ai: 611 },
  { label: 'Thu 17', human: 1490, ai: 0 },
  { label: 'Fri 18', human: 0, ai: 701 },
  { label: 'Sat 19', human: 610, ai: 350 },
  { label: 'Sun 20', human: 3, ai: 340 },
];
const title = 'docs.acme.com · 14–20 Sep 2026';
const textsOf = (svg: string) =>
  [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, content]) => content);

describe('the picture of a week', () => {
  let picture: Picture;
  beforeAll(async () => {
    picture = readPicture(await chartPng({ title, points: week }), 7);
  });

  test('has both series at the heights that the numbers say', () => {
    const { width, height, lines, columns } = picture;
    expect([width, height]).toEqual([1280, 720]);
    // 0, 500, 1,000, 1,500 and 2,000, at equal distances.
    expect(lines).toHaveLength(5);
    const [top = 0, bottom = 0] = [lines[0], lines.at(-1)];
    for (const [index, line] of lines.entries())
      expect(Math.abs(line - top - (index * (bottom - top)) / 4)).toBeLessThanOrEqual(1);

    const tall = (views: number) => (views / 2000) * (bottom - top);
    for (const [index, { human, ai }] of week.entries()) {
      expect(Math.abs((columns[index]?.human ?? 0) - tall(human))).toBeLessThanOrEqual(2);
      expect(Math.abs((columns[index]?.ai ?? 0) - tall(ai))).toBeLessThanOrEqual(2);
    }
    expect(columns[6]?.human).toBeGreaterThan(0);
    expect([columns[3]?.ai, columns[4]?.human]).toEqual([0, 0]);
  });

  test('has a title, numbers beside its axis and a label below each point', async () => {
    const { ink } = picture;
    const without = readPicture(await chartPng({ title: '', points: week }), 7);
    expect(ink.title).toBeGreaterThan(2000);
    expect(without.ink.title).toBe(0);
    expect(ink.numbers).toBeGreaterThan(500);
    for (const label of ink.labels) expect(label).toBeGreaterThan(300);
  });

  test('says what it shows', () => {
    const texts = textsOf(chartSvg({ title, points: week }).svg);
    expect(texts).toEqual(expect.arrayContaining([title, 'Views', 'Date (UTC)', 'People', 'AI']));
    expect(texts).toEqual(expect.arrayContaining(['0', '500', '1,000', '1,500', '2,000']));
    expect(texts).toEqual(expect.arrayContaining(['Mon 14', 'Sun 20']));
  });
});

test.each([
  [0, ['0', '1']],
  [1, ['0', '1']],
  [3, ['0', '1', '2', '3']],
  [7, ['0', '2', '4', '6', '8']],
  [12, ['0', '5', '10', '15']],
  [11_000, ['0', '2.5K', '5K', '7.5K', '10K', '12.5K']],
  [88, ['0', '20', '40', '60', '80', '100']],
  [1100, ['0', '250', '500', '750', '1,000', '1,250']],
  [52_000, ['0', '20K', '40K', '60K']],
  [1_000_000_000, ['0', '200M', '400M', '600M', '800M', '1B']],
])('an axis up to %d has round numbers', (human, ticks) => {
  const { svg } = chartSvg({ title, points: [{ label: 'Mon 14 Sep', human, ai: 0 }] });
  const beside = [...svg.matchAll(/text-anchor="end">([^<]*)</g)].map(([, content]) => content);
  expect(beside).toEqual(ticks);
});

test('where not all labels have room, every second one is shown', () => {
  const points = Array.from({ length: 20 }, (_, index) => ({ label: `${index + 1} Nov`, human: 5, ai: 2 }));
  const labels = textsOf(chartSvg({ title, points }).svg).filter((one) => / Nov$/.test(one ?? ''));
  expect(labels).toEqual([1, 3, 5, 7, 9, 11, 13, 15, 17, 19].map((day) => `${day} Nov`));
});

test('labels that have no room in one line are broken alike, where they have most room', () => {
  const spans = [
    'Tue 18',
    '19–25 Aug',
    '26 Aug – 1 Sep',
    '2–8 Sep',
    '9–15 Sep',
    '28 Sep – 4 Oct',
    '5–11 Oct',
  ];
  const points = spans.map((label) => ({ label, human: 12_000, ai: 2 }));
  const texts = textsOf(chartSvg({ title, points }).svg);
  expect(texts).toEqual(expect.arrayContaining(['Tue', '18', '19–25', 'Aug', '26 Aug', '– 1 Sep', '2–8']));
});

// These two take longest, and the first one waits for a process.
test.concurrent('the renderer is loaded for the first picture, and 25 of them take hardly more memory than five', async () => {
  const file = new URL('../../../src/jobs/digest/chart-png.ts', import.meta.url).href;
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    const { chartPng } = await import(${JSON.stringify(file)});
    const before = loaded.some((url) => url.includes('resvg'));
    const points = ${JSON.stringify(week)};
    const draw = async (times) => {
      for (let time = 0; time < times; time += 1) await chartPng({ title: 'Week ' + time, points });
      gc();
      return process.memoryUsage().rss / 1e6;
    };
    const [five, all] = [await draw(5), await draw(20)];
    console.log(JSON.stringify({ before, after: loaded.some((url) => url.includes('resvg')), grown: all - five }));
  `;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--expose-gc', '--input-type=module', '--eval', script],
    { cwd: fileURLToPath(new URL('../../..', import.meta.url)) },
  );
  const { before, after, grown } = JSON.parse(stdout);
  expect({ before, after }).toEqual({ before: false, after: true });
  // A renderer that keeps each chart grows by some 75 MB.
  expect(grown).toBeLessThan(40);
});

test.concurrent('whatever the numbers and the words are, columns are as tall as their numbers say', async () => {
  const views = fc.oneof(fc.integer({ min: 0, max: 50 }), fc.integer({ min: 0, max: 1_000_000_000 }));
  const words = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.constantFrom(
      '</text><script>',
      '&amp;"\'<!--',
      ']]>',
      '\u0000\uFFFE\uD800',
      'مرحبا',
      '日本語 😀',
      'W'.repeat(3000),
    ),
  );
  const points = fc.array(fc.record({ label: words, human: views, ai: views }), {
    minLength: 1,
    maxLength: 20,
  });
  await fc.assert(
    fc.asyncProperty(words, points, async (hostile, all) => {
      const { svg } = chartSvg({ title: hostile, points: all });
      const elements = new Set([...svg.matchAll(/<(\w+)/g)].map(([, name]) => name));
      expect(elements.isSubsetOf(new Set(['svg', 'defs', 'pattern', 'rect', 'text', 'line']))).toBe(true);

      const { columns } = readPicture(await chartPng({ title: hostile, points: all }), all.length);
      const shown = all.flatMap(({ human, ai }, index) => [
        { value: human, height: columns[index]?.human ?? Number.NaN },
        { value: ai, height: columns[index]?.ai ?? Number.NaN },
      ]);
      const most = shown.reduce((one, other) => (other.value > one.value ? other : one));
      for (const { value, height } of shown) {
        if (value === 0) expect(height).toBe(0);
        else {
          expect(height).toBeGreaterThan(0);
          expect(Math.abs(height - (value / most.value) * most.height)).toBeLessThanOrEqual(3);
        }
      }
      const byValue = shown.toSorted((one, other) => one.value - other.value).map(({ height }) => height);
      expect(byValue).toEqual(byValue.toSorted((one, other) => one - other));
    }),
    { numRuns: 10 },
  );
});

describe('colours', () => {
  const linear = (part: number) =>
    part <= 10.31475 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4;
  const luminance = (rgb: Rgb) => {
    const [red = 0, green = 0, blue = 0] = rgb.map(linear);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  /** WCAG 2.2, relative luminance and contrast ratio. */
  const contrast = (one: string, other: string) => {
    const [dark = 0, light = 0] = [luminance(rgbOf(one)), luminance(rgbOf(other))].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const { background, human, ai, ink, quiet, axis } = CHART_COLOURS;

  test('stand out from the background, which the picture brings along', async () => {
    for (const series of [human, ai, axis]) expect(contrast(series, background)).toBeGreaterThanOrEqual(3);
    for (const words of [ink, quiet]) expect(contrast(words, background)).toBeGreaterThanOrEqual(4.5);
    const { svg } = chartSvg({ title, points: week });
    expect(svg).toContain(`width="639" height="359" rx="10" fill="${background}"`);
  });

  test.each([
    ['#ffffff', 'light'],
    ['#1a1d21', 'dark'],
  ])('of the series stand out from %s, where Slack is %s, too', (around) => {
    for (const series of [human, ai]) expect(contrast(series, around)).toBeGreaterThanOrEqual(3);
  });

  /** Machado, Oliveira and Fernandes 2009, severity 1. */
  const sights: Record<string, number[][]> = {
    'all colours': [
      [1, 0, 0],
      [0, 1, 0],
      [0, 0, 1],
    ],
    'no red': [
      [0.152286, 1.052583, -0.204868],
      [0.114503, 0.786281, 0.099216],
      [-0.003882, -0.048116, 1.051998],
    ],
    'no green': [
      [0.367322, 0.860646, -0.227968],
      [0.280085, 0.672501, 0.047413],
      [-0.01182, 0.04294, 0.968881],
    ],
    'no blue': [
      [1.255528, -0.076749, -0.178779],
      [-0.078411, 0.930809, 0.147602],
      [0.004733, 0.691367, 0.3039],
    ],
  };

  test.each(Object.entries(sights))('of the series stay apart for who sees %s', (_, matrix) => {
    const seen = (hex: string) => {
      const parts = rgbOf(hex).map(linear);
      return labOf(
        matrix.map((row) => row.reduce((sum, weight, index) => sum + weight * (parts[index] ?? 0), 0)),
      );
    };
    const [one, other] = [seen(human), seen(ai)];
    // About 2.3 is the least that people notice.
    expect(Math.hypot(...one.map((part, index) => part - (other[index] ?? 0)))).toBeGreaterThan(40);
  });

  /** CIE L*a*b* of linear sRGB. */
  function labOf([red = 0, green = 0, blue = 0]: number[]): number[] {
    const curve = (part: number) => (part > 0.008856 ? Math.cbrt(part) : 7.787 * part + 16 / 116);
    const x = curve((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505);
    const y = curve(0.2126 * red + 0.7152 * green + 0.0722 * blue);
    const z = curve((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089);
    return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
  }
});

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type ChartParts, chartSvg } from './chart.ts';

type Draw = (svg: string) => Uint8Array;

/** For high-density screens, which have two pixels per unit. */
const ZOOM = 2;

let drawing: Promise<Draw> | undefined;

/** Returns a chart as a PNG of 1280 × 720. The first call loads the renderer, 80 MB of memory. */
export async function chartPng(parts: ChartParts): Promise<Uint8Array> {
  const { svg } = chartSvg(parts);
  drawing ??= loadRenderer().catch((error: unknown) => {
    drawing = undefined;
    throw error;
  });
  const draw = await drawing;
  return draw(svg);
}

async function loadRenderer(): Promise<Draw> {
  const wasmFile = fileURLToPath(import.meta.resolve('@resvg/resvg-wasm/index_bg.wasm'));
  const [{ initWasm, Resvg }, wasm, ...fontBuffers] = await Promise.all([
    import('@resvg/resvg-wasm'),
    readFile(wasmFile),
    ...[400, 600].map((weight) => readFile(new URL(`fonts/inter-latin-${weight}.woff2`, import.meta.url))),
  ]);
  await initWasm(wasm);
  const options = {
    font: { fontBuffers, defaultFontFamily: 'Inter' },
    fitTo: { mode: 'zoom', value: ZOOM },
  } as const;
  return (svg) => {
    // The garbage collector alone frees neither.
    const renderer = new Resvg(svg, options);
    try {
      const image = renderer.render();
      try {
        return image.asPng();
      } finally {
        image.free();
      }
    } finally {
      renderer.free();
    }
  };
}

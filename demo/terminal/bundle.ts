import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { gunzipSync } from 'node:zlib';

const TAR_BLOCK_BYTES = 512;

/** Downloads a bundle as a browser does, with nothing but the link. */
export async function downloadBundle(url: string): Promise<Buffer> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`The download link answered ${response.status}.`);
  return Buffer.from(await response.arrayBuffer());
}

/** Unpacks a .tar.gz of plain files into `folder`. Returns their names. Not every machine has a `tar`. */
export function unpack(bundle: Buffer, folder: string): string[] {
  const tar = gunzipSync(bundle);
  const names: string[] = [];
  let at = 0;
  // Two empty blocks end the archive; the first byte of any other header is that of a name.
  while (at < tar.length && tar[at] !== 0) {
    const field = (from: number, to: number) =>
      tar.toString('utf8', at + from, at + to).replace(/\0.*$/s, '');
    const name = field(0, 100);
    const size = Number.parseInt(field(124, 136), 8);
    const file = join(folder, name);
    if (relative(folder, file).startsWith('..'))
      throw new Error(`The bundle reaches outside itself: ${name}`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, tar.subarray(at + TAR_BLOCK_BYTES, at + TAR_BLOCK_BYTES + size));
    names.push(name);
    at += TAR_BLOCK_BYTES + Math.ceil(size / TAR_BLOCK_BYTES) * TAR_BLOCK_BYTES;
  }
  return names;
}

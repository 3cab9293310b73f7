import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FILES, imagesIn, pinned } from '../../scripts/image-base.mjs';

const texts = FILES.map((file) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'));

test('each image of others is named by a digest, the same one everywhere, and can be pinned again', () => {
  const images = texts.flatMap(imagesIn);
  const names = new Set(images.map(({ image }) => image));
  expect([...names]).toEqual(['node:26-bookworm-slim', 'redis:7.2-bookworm']);
  expect(images).toHaveLength(FILES.length);
  for (const { digest } of images) expect(digest).toMatch(/^@sha256:[0-9a-f]{64}$/);
  expect(new Set(images.map(({ digest }) => digest)).size).toBe(names.size);

  const next = new Map([...names].map((image, index) => [image, `sha256:${String(index).repeat(64)}`]));
  const again = texts.map((text) => pinned(text, next)).flatMap(imagesIn);
  expect(again).toEqual(images.map(({ image }) => ({ image, digest: `@${next.get(image)}` })));
});

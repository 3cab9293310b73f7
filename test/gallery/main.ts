import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { draw, styles } from './draw.ts';
import { blocksOf, type GalleryState } from './state.ts';
import { states } from './states.ts';
import { spokenText } from './words.ts';

/** Draws every state as a desktop and a phone show it, light and dark, into one page. */
const LOOKS = [
  { width: 700, theme: 'light' },
  { width: 375, theme: 'light' },
  { width: 375, theme: 'dark' },
  { width: 700, theme: 'dark' },
] as const;

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');

/** Each picture is a form, since its radio buttons would else be a group with those of others. */
function drawn(state: GalleryState): string {
  const { name, shown } = state;
  const spoken = shown.kind === 'message' ? `🔊 ${spokenText(shown.message.text)}` : '';
  const notes = [spoken, ...blocksOf(shown).flatMap(confirmsIn)].map((text) => `<p>${escapeHtml(text)}</p>`);
  const looks = LOOKS.map(
    ({ width, theme }) =>
      `<form class="state ${theme}" style="width: ${width}px">${draw(state, theme)}</form>`,
  );
  return `<h2>${escapeHtml(name)}</h2>${notes.join('')}<div class="row">${looks.join('')}</div>`;
}

/** What buttons ask first, which the library does not draw. */
function confirmsIn(node: unknown): string[] {
  if (node === null || typeof node !== 'object') return [];
  if (!('confirm' in node) || !('action_id' in node)) return Object.values(node).flatMap(confirmsIn);
  const { title, text, confirm, deny } = node.confirm as Record<string, { text: string } | undefined>;
  return [`Asks first: ${title?.text} ${text?.text} [${confirm?.text}] [${deny?.text}]`];
}

const folder = new URL('../../gallery/', import.meta.url);
mkdirSync(folder, { recursive: true });
const index = new URL('index.html', folder);
writeFileSync(
  index,
  `<!doctype html><meta charset="utf-8"><title>Gallery</title><style>${styles()}
.row { display: flex; align-items: start; gap: 8px; } h2, p { font-size: 13px; margin: 4px; white-space: pre-line; }</style>
<h1>${states.length} states</h1>${states.map(drawn).join('\n')}\n`,
);
console.log(`${states.length} states: ${fileURLToPath(index)}`);
